import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import type { Processes } from "../base/world.ts";
import { createReaper, reaperOf, reaperScript } from "./reaper.ts";

const world = createNodeWorld();
let folder: string;
let children: ChildProcess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cadre-reaper-"));
  children = [];
});
afterEach(async () => {
  for (const child of children) {
    if (!(await isAlive(child.pid))) continue;
    process.kill(-(child.pid ?? 0), "SIGKILL");
  }
  rmSync(folder, { recursive: true });
});

const isAlive = async (pid = 0) => (await world.processes.identityOf(pid)) !== undefined;
const untilDead = (pid: number | undefined) =>
  expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);

/** A group of its own; the words it says first are its answer. */
async function startGroup(script: string, env: Record<string, string> = {}): Promise<number[]> {
  const child = spawn("bash", ["-c", script], {
    detached: true,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "ignore"],
  });
  children.push(child);
  const said = await new Promise<string>((resolve) => {
    child.stdout.once("data", (data: Buffer) => resolve(data.toString()));
  });
  return [child.pid ?? 0, ...said.split(/\s+/).filter(Boolean).map(Number)];
}

/** The reaper by itself: `close` is what the end of its owner is to it. */
function startReaper(proc = "/proc") {
  const child = spawn("/bin/sh", ["-c", reaperScript, "reaper", "the-mark", proc], {
    detached: true,
    env: { PATH: process.env.PATH },
    stdio: ["pipe", "ignore", "ignore"],
  });
  children.push(child);
  const exited = new Promise<number | null>((resolve) => {
    child.once("exit", (code) => resolve(code));
  });
  return {
    say: (line: string) => child.stdin.write(`${line}\n`),
    close() {
      child.stdin.end();
      return exited;
    },
    pid: child.pid ?? 0,
  };
}

/** A copy of what the system says of a process, in which it began at another time. */
function fakeProc(pid: number, startTicks: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [name, rest] = [stat.slice(0, stat.lastIndexOf(")") + 2), stat.slice(stat.lastIndexOf(")") + 2)];
  const fields = rest.trim().split(" ");
  fields[19] = String(startTicks);
  mkdirSync(join(folder, String(pid)), { recursive: true });
  writeFileSync(join(folder, String(pid), "stat"), `${name}${fields.join(" ")}\n`);
  return folder;
}

/** The reaper has done all that it was told before: it opens this one's pipe only then. */
async function untilRead(reaper: { say(line: string): void }): Promise<void> {
  const pid = "999999999";
  mkdirSync(join(folder, pid));
  execFileSync("mkfifo", [join(folder, pid, "stat")]);
  reaper.say(`add ${pid}`);
  await writeFile(join(folder, pid, "stat"), "");
}

const marked = { CADRE_OWNER: "the-mark" };

describe.skipIf(process.platform !== "linux")("when its pipe closes, the reaper", () => {
  test("ends the groups that it was told of, also those who ignore the request, and itself", async () => {
    const groups = await Promise.all([
      startGroup("sleep 1000 & echo $!; wait"),
      startGroup("trap '' TERM; echo; sleep 1000; sleep 1000"),
    ]);
    const reaper = startReaper();
    for (const [groupId] of groups) reaper.say(`add ${groupId}`);
    expect(await reaper.close()).toBe(0);
    for (const pid of groups.flat()) await untilDead(pid);
  });

  test("ends what carries our mark, wherever it has gone", async () => {
    const [leader, daemon] = await startGroup("setsid sleep 1000 >/dev/null & echo $!", marked);
    await untilDead(leader);
    await startReaper().close();
    await untilDead(daemon);
  });

  test("leaves alone what it was not told of, or is over", async () => {
    const [stranger = 0] = await startGroup("echo; sleep 1000", { CADRE_OWNER: "another-mark" });
    const [former = 0] = await startGroup("echo; sleep 1000");
    const reaper = startReaper();
    reaper.say(`add ${former}`);
    reaper.say(`del ${former}`);
    await reaper.close();
    expect([await isAlive(stranger), await isAlive(former)]).toEqual([true, true]);
  });

  test("leaves alone a stranger who has got the id of a group that is gone", async () => {
    const [pid = 0] = await startGroup("echo; sleep 1000");
    const [other = 0] = await startGroup("echo; sleep 1000");
    fakeProc(pid, 100);
    const reaper = startReaper(fakeProc(other, 100));
    reaper.say(`add ${pid}`);
    reaper.say(`add ${other}`);
    await untilRead(reaper);
    fakeProc(pid, 200);
    await reaper.close();
    await untilDead(other);
    expect(await isAlive(pid)).toBe(true);
  });

  test("ends a group without a leader whose members carry our mark, the others in it as well", async () => {
    const go = join(folder, "go");
    execFileSync("mkfifo", [go]);
    const [leader = 0, ...members] = await startGroup(
      `sleep 1000 >/dev/null & env -i /bin/sleep 1000 >/dev/null & echo $(jobs -p); read -r _ < ${go}`,
      marked,
    );
    expect(members).toHaveLength(2);
    for (const pid of [leader, ...members]) symlinkSync(`/proc/${pid}`, join(folder, String(pid)));
    const reaper = startReaper(folder);
    reaper.say(`add ${leader}`);
    await untilRead(reaper);
    await writeFile(go, "\n");
    await untilDead(leader);
    for (const member of members) expect(await isAlive(member)).toBe(true);
    await reaper.close();
    for (const member of members) await untilDead(member);
  });

  test("finds groups where there is no /proc", async () => {
    const [pid = 0] = await startGroup("echo; sleep 1000");
    const reaper = startReaper("/nonexistent");
    reaper.say(`add ${pid}`);
    await reaper.close();
    await untilDead(pid);
  });
});

describe("while its pipe is open, the reaper", () => {
  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("ignores %s", async (signal) => {
    const reaper = startReaper(folder);
    await untilRead(reaper);
    process.kill(reaper.pid, signal);
    expect(await reaper.close()).toBe(0);
  });

  test("is one for all who share a world, and none before there is a group", () => {
    const spawned: string[] = [];
    const processes: Processes = {
      ...world.processes,
      spawn(command, args, options) {
        spawned.push(command);
        return world.processes.spawn(command, args, options);
      },
    };
    const reaper = reaperOf({ ...world, processes });
    expect([reaperOf({ ...world, processes }) === reaper, spawned]).toEqual([true, []]);
    reaper.add(process.pid);
    reaper.remove(process.pid);
    reaper.add(process.pid);
    reaper.remove(process.pid);
    expect(spawned).toEqual(["/bin/sh"]);
  });

  test("is told again of everything when somebody has killed it", async () => {
    const pids: (number | undefined)[] = [];
    const said: string[] = [];
    const processes: Processes = {
      ...world.processes,
      spawn(command, args, options) {
        const child = world.processes.spawn(command, args, options);
        pids.push(child.pid);
        const write = (line: string | Uint8Array) => {
          said.push(String(line).trim());
          return child.write(line);
        };
        return { ...child, write };
      },
    };
    const reaper = createReaper({ ...world, processes });
    const [one = 0] = await startGroup("echo; sleep 1000");
    const [two = 0] = await startGroup("echo; sleep 1000");
    reaper.add(one);
    process.kill(pids[0] ?? 0, "SIGKILL");
    await untilDead(pids[0]);
    await expect
      .poll(() => {
        reaper.start();
        return pids.length;
      })
      .toBe(2);
    reaper.add(two);
    reaper.remove(one);
    reaper.remove(two);
    expect(said).toEqual([`add ${one}`, `add ${one}`, `add ${two}`, `del ${one}`, `del ${two}`]);
  });

  test("that can not be started is told once, and not tried again", async () => {
    const problems: string[] = [];
    let tries = 0;
    const processes: Processes = {
      ...world.processes,
      spawn(_, args, options) {
        tries++;
        return world.processes.spawn("/no/such/shell", args, options);
      },
    };
    const reaper = createReaper({ ...world, processes });
    reaper.add(process.pid, (problem) => problems.push(problem));
    await expect.poll(() => problems.length).toBe(1);
    reaper.add(1, (problem) => problems.push(problem));
    expect([tries, problems]).toEqual([1, [expect.stringContaining("/no/such/shell")]]);
  });
});
