/** Whatever ends the process, and however its commands hide: a few seconds later none of them is alive. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { moduleOptions } from "../../scripts/bundle.mjs";
import { makePlace, processesIn, type Running, root, startCommand } from "./built-command.ts";

let folder: string;
beforeAll(async () => {
  folder = join(root, "node_modules", ".cache", `cadre-test-${process.pid}-orphans`);
  const options = moduleOptions({ root, version: "1.2.3" });
  await build({ ...options, entryPoints: { owner: "test/crash/shell-owner.ts" }, outdir: folder });
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const background = [
  "sleep 1001",
  "sleep 1002 & wait",
  "trap '' TERM; sleep 1003; sleep 1003",
  "setsid sleep 1004",
  "(setsid nohup sleep 1005 >/dev/null 2>&1 </dev/null &); sleep 0.2",
  "env -i sleep 1006",
  "while :; do sleep 0.05; done",
];
const foreground = ["sleep 1007"];

const sleepers = (place: string) =>
  processesIn(place)
    .map(({ command }) => /^sleep (\d+)$/.exec(command)?.[1])
    .filter((number) => Number(number) > 1000)
    .sort();

/** Its last argument begins with the id of its owner. */
function reapersOf(owner: number | undefined): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      const args = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      return args.includes("cadre-reaper") && args.some((arg) => arg.startsWith(`${owner}-`));
    } catch {
      return false;
    }
  });
}

interface Wanted {
  readonly background?: readonly string[];
  readonly foreground?: readonly string[];
}

async function withOwner(wanted: Wanted, use: (owner: Running, cwd: string) => Promise<void>): Promise<void> {
  const place = makePlace();
  const owner = startCommand({
    program: join(folder, "owner.js"),
    args: [JSON.stringify({ cwd: place.project, background: [], foreground: [], ...wanted })],
    cwd: place.project,
    env: { HOME: place.home },
    input: "pipe",
  });
  try {
    await use(owner, place.project);
  } finally {
    owner.child.kill("SIGKILL");
    await owner.ended;
    await expect.poll(() => reapersOf(owner.child.pid), { timeout: 10_000 }).toEqual([]);
    place.remove();
  }
}

describe.skipIf(process.platform !== "linux")("commands of a process", () => {
  it.each<[string, (owner: Running) => void]>([
    ["is killed", ({ child }) => child.kill("SIGKILL")],
    ["exits", ({ child }) => child.stdin?.write("exit\n")],
    ["is asked to end", ({ child }) => child.kill("SIGTERM")],
  ])("that %s are gone soon, and the reaper too", async (_, end) => {
    await withOwner({ background, foreground }, async (owner, cwd) => {
      const all = ["1001", "1002", "1003", "1004", "1005", "1006", "1007"];
      await expect.poll(() => sleepers(cwd), { timeout: 10_000 }).toEqual(all);
      expect(reapersOf(owner.child.pid)).toHaveLength(1);
      end(owner);
      await owner.ended;
      await expect
        .poll(() => [processesIn(cwd), reapersOf(owner.child.pid)], { timeout: 10_000 })
        .toEqual([[], []]);
    });
  });

  it("are gone when it is killed while somebody waits for one that takes long", async () => {
    await withOwner({ foreground: ["setsid sleep 1008 & sleep 1009"] }, async (owner, cwd) => {
      await expect.poll(() => reapersOf(owner.child.pid), { timeout: 10_000 }).toHaveLength(1);
      await expect.poll(() => sleepers(cwd), { timeout: 10_000 }).toEqual(["1008", "1009"]);
      owner.child.kill("SIGKILL");
      await expect.poll(() => processesIn(cwd), { timeout: 10_000 }).toEqual([]);
    });
  });
});
