import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CancelledError } from "../base/errors.ts";
import { createNodeWorld } from "../base/world/node-world.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { childEnvironment } from "./child-environment.ts";
import { reaperOf } from "./reaper.ts";
import { runShell, type ShellOptions, type ShellResult, startShell } from "./shell.ts";

const world = createNodeWorld();
let folder: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "cadre-shell-")));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

function run(command: string, options: Partial<ShellOptions> = {}): Promise<ShellResult> {
  return runShell({
    world,
    command,
    cwd: folder,
    env: childEnvironment(world.env),
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ...options,
  });
}

const textOf = (result: ShellResult) => result.output.head + result.output.tail;

describe.each(["bash", "sh"] as const)("with %s", (shell) => {
  // A world that has no bash, so that the fallback is tried with the same cases.
  const chosen =
    shell === "bash"
      ? world
      : {
          ...world,
          files: {
            ...world.files,
            stat: (path: string) =>
              path.endsWith("/bash") ? Promise.reject(new Error("none")) : world.files.stat(path),
          },
        };
  const runIt = (command: string, options: Partial<ShellOptions> = {}) =>
    run(command, { world: chosen, ...options });

  test.each([
    ["echo hello", 0, "hello\n"],
    ["exit 3", 3, ""],
    ["(exit 4)", 4, ""],
    ["false", 1, ""],
    ["set -e; false; echo not reached", 1, ""],
    ["echo 'a\"b'; echo \"c'd\"", 0, "a\"b\nc'd\n"],
    ['echo $# "$*"', 0, "0 \n"],
    ["cat", 0, ""],
    ["echo a; echo b >&2; echo c", 0, "a\nb\nc\n"],
    ["trap 'echo bye' EXIT; echo hi", 0, "hi\nbye\n"],
    ["trap 'echo bye' EXIT; exit 5", 5, "bye\n"],
    ["printf 'no newline'", 0, "no newline"],
    ["cat <<'EOF'\n$x `y`\nEOF", 0, "$x `y`\n"],
    ["exec echo replaced", 0, "replaced\n"],
    ["kill -TERM $$", 143, ""],
    ["# nothing", 0, ""],
    ["pwd() { echo fooled; }; printf() { echo fooled; }; :", 0, ""],
  ])("%s ends as it should", async (command, exitCode, text) => {
    const result = await runIt(command);
    expect({ exitCode: result.exitCode, text: textOf(result) }).toEqual({ exitCode, text });
    expect(result.timedOut).toBe(false);
  });

  test.each([
    "'; echo broken out; '",
    'echo "unterminated',
    "echo $(",
    "if true",
    ")",
    "}; echo broken out; {",
  ])("%s is a syntax error of the shell and nothing else", async (command) => {
    const result = await runIt(command);
    expect(result.exitCode).not.toBe(0);
    expect(textOf(result)).toMatch(/syntax|unexpected|Unterminated|EOF|not found/i);
    expect(textOf(result)).not.toMatch(/^broken out/m);
  });

  test.each([
    ["cd inner", "inner"],
    ["cd inner; exit 3", "inner"],
    ["set -e; cd inner; false", "inner"],
    ["(cd inner)", ""],
    ["cd inner; trap 'echo bye' EXIT", "inner"],
    ["cd 'with\nnewline'", "with\nnewline"],
    ["cd inner && nosuchcommand", "inner"],
    ["cd ./inner/../inner && echo done >&2", "inner"],
  ])("the folder after %j is told", async (command, name) => {
    await mkdir(join(folder, "inner"));
    await mkdir(join(folder, "with\nnewline"));
    const result = await runIt(command);
    expect(result.cwdAfter).toBe(join(folder, name));
  });

  test("a command that removes its folder can not tell where it stands", async () => {
    await mkdir(join(folder, "inner"));
    const result = await runIt("cd inner && rmdir ../inner");
    expect(result.exitCode).toBe(0);
    expect(result.cwdAfter).toBeUndefined();
  });

  test("what is left in the background is stopped and does not hold up the end", async () => {
    const result = await runIt("sleep 1000 & echo $!");
    await untilDead(Number(textOf(result)));
    expect(result.exitCode).toBe(0);
  });

  test("what ignores the request to end is stopped, too", async () => {
    const result = await runIt("sh -c 'trap \"\" TERM; echo $$; sleep 1000; sleep 1000' & sleep 0.2");
    await untilDead(Number(textOf(result)));
  });

  test("a timeout ends the whole group and keeps what was written", async () => {
    const result = await runIt("sleep 1000 & echo $!; echo before; sleep 1000; echo after", {
      timeoutMs: 300,
    });
    const [pid, ...rest] = textOf(result).split("\n");
    expect(result.timedOut).toBe(true);
    expect(rest[0]).toBe("before");
    expect(rest).not.toContain("after");
    await untilDead(Number(pid));
  });

  test("a command that is asked to end may clean up", async () => {
    const result = await runIt(
      "sh -c 'trap \"sleep 0.3; echo cleaned; exit\" TERM; echo ready; sleep 1000 & wait'",
      {
        timeoutMs: 300,
      },
    );
    expect(textOf(result)).toContain("cleaned");
  });
});

test("errors carry the line of the command", async () => {
  expect(textOf(await run("true\nnosuchcommand"))).toMatch(/line 2: nosuchcommand: command not found/);
});

test("tracing shows the command and not what is around it", async () => {
  expect(textOf(await run("set -x\necho a"))).toBe("++ echo a\na\n");
});

test("a file that the command locks on a low descriptor is left alone", async () => {
  await run("exec 9>lock; cd /");
  expect(await readFile(join(folder, "lock"), "utf8")).toBe("");
});

test("a command that starts with a dash is a command", async () => {
  expect(textOf(await run("-x"))).toMatch(/-x: command not found/);
});

test("start-up files are not read", async () => {
  await writeFile(join(folder, "start.sh"), "echo started");
  const file = join(folder, "start.sh");
  const result = await run("echo hi", {
    env: { PATH: world.env.PATH, BASH_ENV: file, ENV: file, HOME: folder },
  });
  expect(textOf(result)).toBe("hi\n");
});

test("cancelling ends the group, then throws", async () => {
  const controller = new AbortController();
  let pid = 0;
  const running = run("sleep 1000 & echo $!; sleep 1000", {
    signal: controller.signal,
    onOutput(chunk) {
      // What the shell says about its end may follow.
      pid ||= Number.parseInt(Buffer.from(chunk).toString(), 10);
      controller.abort(new CancelledError("interrupted"));
    },
  });
  await expect(running).rejects.toThrow(CancelledError);
  await untilDead(pid);
});

test("a shell that was let go ends neither with its signal nor at its timeout", async () => {
  const clock = createManualClock();
  const controller = new AbortController();
  const shell = await startShell({
    world: { ...world, clock },
    command: "sleep 1000",
    cwd: folder,
    env: childEnvironment(world.env),
    timeoutMs: 5_000,
    signal: controller.signal,
  });
  shell.letGo();
  shell.liftTimeout();
  controller.abort(new CancelledError("interrupted"));
  await clock.advance(60_000);
  let ended = false;
  void shell.ended.then(() => {
    ended = true;
  });
  expect(ended).toBe(false);
  shell.stop();
  await clock.advance(2_000);
  expect(await shell.ended).toMatchObject({ timedOut: false });
});

test("who outlives a shell that is stopped has time to end by himself", async () => {
  const mark = join(folder, "cleaned");
  const shell = await startShell({
    world,
    command: `(trap 'sleep 0.4; touch ${mark}; exit' TERM; echo ready; sleep 1000 & wait) & wait`,
    cwd: folder,
    env: childEnvironment(world.env),
    onOutput: () => shell.stop(),
  });
  await shell.ended;
  expect(existsSync(mark)).toBe(true);
});

test("what runs carries the mark by which it is found, whatever it was given", async () => {
  const { CADRE_OWNER: owner = "" } = reaperOf(world).mark;
  const result = await run("echo $CADRE_OWNER", { env: { ...world.env, CADRE_OWNER: "another" } });
  expect(textOf(result)).toBe(`${owner}\n`);
  expect(owner.startsWith(`${process.pid}-`)).toBe(true);
});

test("the reaper is started for what takes long, and for nothing else", async () => {
  const clock = createManualClock();
  const started: string[] = [];
  const spawn: typeof world.processes.spawn = (command, args, options) => {
    started.push(options.outlives ? "reaper" : "shell");
    return world.processes.spawn(command, args, options);
  };
  const watched = () => ({ ...world, clock, processes: { ...world.processes, spawn } });
  await run("echo short", { world: watched() });
  expect(started).toEqual(["shell"]);
  expect(clock.pendingMs()).toEqual([]);

  const long = await startShell({ world: watched(), command: "sleep 1000", cwd: folder, env: world.env });
  await clock.advance(1_000);
  expect(started).toEqual(["shell", "shell", "reaper"]);
  const lasting = { world: watched(), command: "sleep 1000", cwd: folder, env: world.env, isLasting: true };
  const other = await startShell(lasting);
  expect(started).toEqual(["shell", "shell", "reaper", "reaper", "shell"]);
  for (const shell of [long, other]) shell.stop();
  await clock.advance(2_000);
  await Promise.all([long.ended, other.ended]);
});

test("what is cancelled beforehand never starts", async () => {
  const signal = AbortSignal.abort(new CancelledError("before"));
  await expect(run("touch started", { signal })).rejects.toThrow("before");
  expect(existsSync(join(folder, "started"))).toBe(false);
});

test("a flood is bounded in memory and whole in the sink", async () => {
  let sunk = 0;
  const result = await run("head -c 30000000 /dev/zero | tr '\\0' a; echo end", {
    sink: {
      async write(chunk) {
        sunk += chunk.length;
      },
    },
  });
  expect(sunk).toBe(30_000_004);
  expect(result.output.totalBytes).toBe(30_000_004);
  expect(result.output.head.length + result.output.tail.length).toBe(200_000);
  expect(result.output.omittedBytes).toBe(30_000_004 - 200_000);
  expect(result.output.tail.endsWith("aend\n")).toBe(true);
});

test.each([
  ["echo a\0b", /could not be started/],
  [`: ${"x".repeat(3_000_000)}`, /too long.*file/],
])("a command that the system can not take is told", async (command, problem) => {
  await expect(run(command)).rejects.toThrow(problem);
});

/** A killed process may wait a while for its new parent to bury it. */
async function untilDead(pid: number): Promise<void> {
  expect(pid).toBeGreaterThan(1);
  const isBuried = async () => {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
    return stat === undefined ? !world.processes.isAlive(pid) : stat.includes(") Z ");
  };
  await expect.poll(isBuried, { timeout: 10_000 }).toBe(true);
}
