import { join, resolve } from "node:path";
import { buildSync } from "esbuild";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createScope } from "./cancellation.ts";
import { acquireLock, type Lock, lockHolder } from "./lock.ts";

const world = createTestWorld();
let workspace: TempWorkspace;
let path: string;

beforeEach(async () => {
  workspace = await createTempWorkspace();
  path = join(workspace.path, "session.lock");
});
afterEach(() => workspace.remove());

const names = async () => (await world.files.readFolder(workspace.path)).map((entry) => entry.name).sort();

/** A lock as another process would have left it. */
async function leaveLock(owner: Record<string, unknown>): Promise<void> {
  const mine = await acquireLock({ world, path, purpose: "template" });
  const record = JSON.parse(await workspace.read("session.lock")) as Record<string, unknown>;
  await mine.release();
  await workspace.write("session.lock", JSON.stringify({ ...record, token: "0123456789abcdef", ...owner }));
}

describe("a lock", () => {
  it("is held by one at a time, and its epoch grows", async () => {
    const first = await acquireLock({ world, path, purpose: "writing" });
    await expect(acquireLock({ world, path, purpose: "too" })).rejects.toMatchObject({
      code: "lock-held",
      message: expect.stringContaining(`process ${process.pid}`) as string,
      data: { purpose: "writing" },
    });
    const waiting = acquireLock({ world, path, purpose: "too", waitMs: 60_000 });
    await first.assertHeld();
    await first.release();
    const second = await waiting;
    expect(second.epoch).toBe(first.epoch + 1);
    await expect(first.assertHeld()).rejects.toMatchObject({ code: "lock-lost" });
    await second.assertHeld();
    await first.release();
    await second.assertHeld();
    await second.release();
    expect(await names()).toEqual(["session.lock.epoch"]);
  });

  it("tells who holds it, to whoever only looks", async () => {
    expect(await lockHolder({ world, path })).toBeUndefined();
    const lock = await acquireLock({ world, path, purpose: "writing" });
    expect(await lockHolder({ world, path })).toMatchObject({ pid: process.pid });
    await lock.assertHeld();
    await lock.release();
    await leaveLock({ identity: "a process that is gone" });
    expect(await lockHolder({ world, path })).toBeUndefined();
    expect(await names()).toEqual(["session.lock", "session.lock.epoch"]);
  });

  it("stops waiting when cancelled, and leaves nothing behind", async () => {
    const first = await acquireLock({ world, path, purpose: "writing" });
    const scope = createScope();
    const waiting = acquireLock({ world, path, purpose: "too", waitMs: 60_000, signal: scope.signal });
    scope.cancel("leaving");
    await expect(waiting).rejects.toMatchObject({ name: "CancelledError" });
    await first.release();
    expect(await names()).toEqual(["session.lock.epoch"]);
  });

  it("is taken from a process that no longer exists", async () => {
    await leaveLock({ pid: 2 ** 22 + 12345 });
    const lock = await acquireLock({ world, path, purpose: "next" });
    await lock.assertHeld();
    expect(await names()).toEqual(["session.lock", "session.lock.epoch"]);
  });

  it("is taken from a dead owner of whom only the id is known", async () => {
    await leaveLock({ pid: 2 ** 22 + 12345, identity: undefined });
    expect((await acquireLock({ world, path, purpose: "next" })).epoch).toBe(2);
  });

  it("is left alone by who comes too late to take it from its dead owner", async () => {
    await leaveLock({ pid: 2 ** 22 + 12345 });
    let winner: Lock | undefined;
    const link = async (from: string, to: string) => {
      // Between seeing the dead owner and claiming its lock, another process has done both and holds it.
      if (to === `${path}.0123456789abcdef`) winner ??= await acquireLock({ world, path, purpose: "faster" });
      return world.files.link(from, to);
    };
    const late = acquireLock({ world: { ...world, files: { ...world.files, link } }, path, purpose: "late" });
    await expect(late).rejects.toMatchObject({ code: "lock-held", data: { purpose: "faster" } });
    await winner?.assertHeld();
    expect(winner?.epoch).toBe(2);
  });

  it("is taken when the owner's id now belongs to another process", async () => {
    await leaveLock({ identity: "another-boot:1" });
    expect((await acquireLock({ world, path, purpose: "next" })).epoch).toBe(2);
  });

  it("is not taken from a live process, nor from one on another machine", async () => {
    await leaveLock({});
    await expect(acquireLock({ world, path, purpose: "next" })).rejects.toMatchObject({ code: "lock-held" });
    await world.files.remove(path);
    await leaveLock({ host: "elsewhere", pid: 2 ** 22 + 12345 });
    await expect(acquireLock({ world, path, purpose: "next" })).rejects.toThrow("on elsewhere");
  });

  it("is not taken when it cannot be known whether the owner lives", async () => {
    await leaveLock({});
    let looks = 0;
    const identityOf = (pid: number) => {
      if (++looks === 1) return world.processes.identityOf(pid);
      return Promise.reject(Object.assign(new Error("no descriptors"), { code: "EMFILE" }));
    };
    const blind = { ...world.processes, identityOf };
    await expect(
      acquireLock({ world: { ...world, processes: blind }, path, purpose: "next" }),
    ).rejects.toThrow("no descriptors");
  });

  it.each(["", "\0\0\0\0", "{", '{"pid":1,"token":"../../x","host":"","purpose":""}'])(
    "that a power failure has made unreadable (%j) is replaced",
    async (content) => {
      await workspace.write("session.lock", content);
      const lock = await acquireLock({ world, path, purpose: "next" });
      await lock.assertHeld();
      expect(await names()).toEqual(["session.lock", "session.lock.epoch"]);
    },
  );

  it("of a dead owner is removed once, although many try and one died while it tried", async () => {
    await leaveLock({ pid: 2 ** 22 + 12345 });
    const dead = await workspace.read("session.lock");
    await workspace.write(
      "session.lock.0123456789abcdef",
      dead.replace("0123456789abcdef", "fedcba9876543210"),
    );
    await workspace.write("session.lock.aaaaaaaaaaaaaaaa.new", dead);
    let held = 0;
    const epochs = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const lock = await acquireLock({ world, path, purpose: "next", waitMs: 60_000 });
        expect(++held).toBe(1);
        await lock.assertHeld();
        held--;
        await lock.release();
        return lock.epoch;
      }),
    );
    expect(epochs.sort((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(await names()).toEqual(["session.lock.epoch"]);
  });

  it("that was removed by hand is lost for its holder", async () => {
    const old = await acquireLock({ world, path, purpose: "writing" });
    await world.files.remove(path);
    await expect(old.assertHeld()).rejects.toMatchObject({ code: "lock-lost" });
    const next = await acquireLock({ world, path, purpose: "next" });
    await expect(old.assertHeld()).rejects.toMatchObject({ code: "lock-lost" });
    await old.release();
    await next.assertHeld();
  });

  it("is given back when its epoch cannot be kept", async () => {
    await workspace.write("session.lock.epoch", "rubbish");
    await expect(acquireLock({ world, path, purpose: "x" })).rejects.toMatchObject({
      code: "epoch-unreadable",
    });
    expect(await names()).toEqual(["session.lock.epoch"]);
  });

  it("guards a counter between real processes, some of which are killed while they hold it", async () => {
    const script = buildCounter(workspace.path);
    const counter = await workspace.write("counter", "0");
    const epochs = await workspace.write("epochs", "");
    const run = (mode: "live" | "die") =>
      world.processes.spawn(process.execPath, [script, path, counter, epochs, mode], {
        cwd: workspace.path,
        env: world.env,
      });
    const children = [
      ...Array.from({ length: 5 }, () => run("live")),
      ...Array.from({ length: 3 }, () => run("die")),
    ];
    const ends = await Promise.all(
      children.map(async (child) => {
        let complaints = "";
        for await (const chunk of child.stderr) complaints += Buffer.from(chunk).toString();
        return { complaints, ...(await child.exited) };
      }),
    );
    expect(ends.filter((end) => end.code === 0)).toHaveLength(5);
    expect(ends.filter((end) => end.signal === "SIGKILL")).toHaveLength(3);
    expect(await workspace.read("counter")).toBe(String(5 * 50 + 3 * 20));
    const seen = (await workspace.read("epochs")).trim().split("\n").map(Number);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(new Set(seen).size).toBe(310);
  }, 60_000);
});

/** A program that takes the lock fifty times and counts; or dies with the lock in its hands at the twentieth. */
function buildCounter(folder: string): string {
  const outfile = join(folder, "counter.mjs");
  buildSync({
    stdin: {
      contents: `
        import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
        import { acquireLock } from "./lock.ts";
        import { createNodeWorld } from "./world/node-world.ts";
        const [path, counter, epochs, mode] = process.argv.slice(2);
        const world = createNodeWorld();
        for (let n = 1; n <= 50; n++) {
          const lock = await acquireLock({ world, path, purpose: "counting", waitMs: 50000 });
          await lock.assertHeld();
          writeFileSync(counter, String(Number(readFileSync(counter, "utf8")) + 1));
          appendFileSync(epochs, lock.epoch + "\\n");
          if (mode === "die" && n === 20) process.kill(process.pid, "SIGKILL");
          await lock.release();
        }
      `,
      resolveDir: resolve(import.meta.dirname),
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile,
    logLevel: "error",
  });
  return outfile;
}
