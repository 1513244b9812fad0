/** The command among real faults: full disks, folders that vanish, streams that are closed, signals. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { makePlace, processesIn, transcriptsIn } from "../crash/built-command.ts";
import { expectPaired } from "../crash/invariants.ts";
import { allowed, bash, call, expectDecent, script, setStage, text } from "../crash/stage.ts";

const stage = setStage();
const { connect, start, cadre, lastSent, loaded } = stage;

const cannotMount = (() => {
  const probe = makePlace();
  try {
    execFileSync("mount", ["-t", "tmpfs", "none", probe.home], { stdio: "ignore" });
    execFileSync("umount", [probe.home]);
    return false;
  } catch {
    return true;
  } finally {
    probe.remove();
  }
})();

const mounts: string[] = [];
// After the place was used, before it is removed: hooks run in the reverse order.
afterEach(() => {
  for (const folder of mounts.splice(0)) execFileSync("umount", [folder]);
});

function mountSmallDisk(folder: string): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "none", folder]);
  mounts.push(folder);
}

function mountReadOnly(folder: string): void {
  execFileSync("mount", ["--bind", folder, folder]);
  mounts.push(folder);
  execFileSync("mount", ["-o", "remount,ro,bind", folder]);
}

// Only root can mount; elsewhere a full disk cannot be had without harm.
describe.skipIf(cannotMount)("a disk", () => {
  it("that fills up ends the run with exit code 2, and what was saved can be read", async () => {
    mountSmallDisk(stage.place.home);
    const env = await connect(() => bash("head -c 20000 /dev/urandom | base64"));
    const { code, stderr } = await cadre(allowed, { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(/ENOSPC.*Free some space on that disk/);
    const { messages } = await loaded();
    expect(messages.length).toBeGreaterThan(2);
    expectPaired(messages, { whole: true });
    const said = stage.provider?.requests.at(-1)?.body.messages.length ?? 0;
    expect(messages.length).toBeGreaterThanOrEqual(said);
  });

  it("that is full from the start: nothing is asked", async () => {
    mountSmallDisk(stage.place.home);
    expect(() => writeFileSync(join(stage.place.home, "filler"), Buffer.alloc(300_000))).toThrow("ENOSPC");
    const env = await connect(text("never"));
    expect(await cadre(allowed, { env })).toMatchObject({ code: 2, stdout: "" });
    expect(stage.provider?.requests).toEqual([]);
  });

  it("that is full under the project: the tool says so, and the file is as it was", async () => {
    mountSmallDisk(stage.place.project);
    const old = "y".repeat(150_000);
    const env = await connect(
      script(
        call("Write", { file_path: "a", content: old }),
        call("Edit", { file_path: "a", old_string: "y", new_string: "z", replace_all: true }),
      ),
    );
    expect(await cadre(allowed, { env })).toMatchObject({ code: 0, stdout: "done\n" });
    expect(lastSent()).toContain("the disk is full");
    expect(readFileSync(join(stage.place.project, "a"), "utf8")).toBe(old);
    expect(readdirSync(stage.place.project)).toEqual(["a"]);
  });

  it("that can only be read: one line that says so, or no transcript when told so", async () => {
    mountReadOnly(stage.place.home);
    const env = await connect(text("done"));
    const { code, stderr } = await cadre(allowed, { env });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^cadre: .*EROFS: read-only file system.*--no-session-persistence.*\n$/);
    expect((await cadre([...allowed, "--no-session-persistence"], { env })).code).toBe(0);
  });

  it("that takes only the beginning of the output: exit code 1, not silence", async () => {
    mountSmallDisk(stage.place.home);
    const env = await connect(text("0123456789abcde\n".repeat(20_000)));
    const out = join(stage.place.home, "out");
    const { code, stderr } = await redirected(`> ${out}`, ["-p", "go", "--no-session-persistence"], env);
    expect(code).toBe(1);
    expect(stderr).toContain("standard output could not be written: ENOSPC");
  });
});

/** With a redirection of the shell, as people write it. */
async function redirected(redirection: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = { args: ["-c", `exec "$@" ${redirection}`, "sh", process.execPath, stage.program, ...args] };
  const { spawn } = await import("node:child_process");
  return await new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const shell = spawn("/bin/sh", child.args, {
      cwd: stage.place.project,
      env: { HOME: stage.place.home, PATH: process.env.PATH, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    shell.stdout.on("data", (piece) => {
      stdout += piece;
    });
    shell.stderr.on("data", (piece) => {
      stderr += piece;
    });
    shell.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

describe("folders", () => {
  it("a home that is removed while the session runs comes back with everything in it", async () => {
    const env = await connect((index) => {
      if (index === 1) rmSync(join(stage.place.home, ".cadre"), { recursive: true });
      return index < 3 ? bash(`echo ${index}`) : text("done");
    });
    expect(await cadre(allowed, { env })).toMatchObject({ code: 0, stdout: "done\n", stderr: "" });
    const { messages, problems } = await loaded();
    expect(problems).toEqual([]);
    expect(messages).toHaveLength(8);
  });

  it("a project that is removed while the session runs: the tools say so, and the run goes on", async () => {
    const env = await connect((index) => {
      if (index === 1) rmSync(stage.place.project, { recursive: true });
      return script(bash("echo one"), bash("echo two"), call("Grep", { pattern: "x" }))(index);
    });
    expect(await cadre(allowed, { env })).toMatchObject({ code: 0, stdout: "done\n", stderr: "" });
    expect(JSON.stringify(stage.provider?.requests[2]?.body.messages.at(-1))).toContain(
      "does not exist any more",
    );
  });

  it("a current folder that is gone: every command says so", async () => {
    for (const args of ["-p hello", "doctor"]) {
      mkdirSync(join(stage.place.project, "gone"));
      const inGone = `cd gone && rmdir ../gone && exec ${process.execPath} ${stage.program} ${args}`;
      const { status, stderr } = await shell(inGone);
      expect(status).toBe(2);
      expect(stderr).toContain("the current folder is gone");
    }
  });

  it("no program in reach, and no ripgrep of our own: searching still works", async () => {
    const lone = join(stage.place.home, "lone");
    execFileSync("cp", ["-r", join(stage.program, ".."), lone]);
    writeFileSync(join(stage.place.project, "a.txt"), "needle\n");
    const env = await connect(
      script(call("Grep", { pattern: "needle" }), call("Glob", { pattern: "*.txt" })),
    );
    const options = { env: { ...env, PATH: "/nowhere" }, program: join(lone, "cli.js") };
    expect(await cadre(["-p", "go"], options)).toMatchObject({ code: 0, stdout: "done\n", stderr: "" });
    expect(JSON.stringify(stage.provider?.requests[1]?.body.messages.at(-1))).toContain("a.txt");
    expect(lastSent()).toContain("a.txt");
  });
});

async function shell(command: string): Promise<{ status: number | null; stderr: string }> {
  const { spawnSync } = await import("node:child_process");
  const { status, stderr } = spawnSync("/bin/sh", ["-c", command], {
    cwd: stage.place.project,
    env: { HOME: stage.place.home, PATH: process.env.PATH },
    encoding: "utf8",
  });
  return { status, stderr };
}

describe("a fault of our own", () => {
  it("is told in one line, without a stack trace", async () => {
    const bug = `const timer = setInterval(() => {
      if (process.listenerCount("uncaughtException") === 0) return;
      clearInterval(timer);
      throw new Error("what nobody thought of");
    }, 5);`;
    const env = await connect({ fault: "silence" });
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(bug)}`;
    expect(await start(["-p", "go"], { env: { ...env, NODE_OPTIONS } }).ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: "cadre: unexpected error, please report it: what nobody thought of (--debug shows where)\n",
    });
  });

  it("a program of which a part is missing says so", async () => {
    const partial = join(stage.place.home, "partial");
    execFileSync("cp", ["-r", join(stage.program, ".."), partial]);
    const chunks = join(partial, "chunks");
    for (const name of readdirSync(chunks)) if (name.startsWith("command-line")) rmSync(join(chunks, name));
    const ended = await cadre(["-p", "go"], { program: join(partial, "cli.js") });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(/^cadre: a part of the program is missing; install it again: .+\n$/);
  });
});

describe("input and output", () => {
  it.runIf(existsSync("/dev/full"))("an output that cannot be written: exit code 1, and why", async () => {
    for (const args of [["-p", "hello"], ["-p", "hello", "--output-format", "json"], ["--help"]]) {
      const { code, stderr } = await redirected("> /dev/full", args);
      expect({ args, code }).toEqual({ args, code: 1 });
      expect(stderr).toBe(
        "cadre: standard output could not be written: ENOSPC: no space left on device, write\n",
      );
    }
  });

  it("streams that are closed from the start are no streams, and no failure", async () => {
    for (const redirection of ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
      expect((await redirected(redirection, ["-p", "hello"])).code).toBe(0);
  });

  it.each([
    ["garbage", Buffer.from(Array.from({ length: 50_000 }, (_, at) => (at * 7919) % 256))],
    ["zeros", Buffer.alloc(1_000)],
    ["5 MB", Buffer.alloc(5_000_000, "a")],
  ])("%s on standard input is a prompt like any other", async (_, input) => {
    const env = await connect(text("done"));
    expect(await cadre(["-p"], { env, input })).toMatchObject({ code: 0, stdout: "done\n" });
    const { messages } = await loaded();
    expect(stage.provider?.requests[0]?.body.messages[0]?.content).toMatchObject([
      { text: expect.stringContaining("<system-reminder>") },
      { text: expect.stringMatching(/./s) },
    ]);
    expect(messages).toHaveLength(2);
  });

  it("lines that are no messages are named, and the session is as if they had not been", async () => {
    const env = await connect(text("done"));
    const user = (content: unknown) => JSON.stringify({ type: "user", message: { role: "user", content } });
    const lines = [
      "\ufffd\u0000",
      "[]",
      "null",
      '"user"',
      '{"type":"__proto__"}',
      '{"type":"user"}',
      user(""),
      user(" \n"),
      user([]),
      user([{ type: "text", text: "" }]),
      user([{ type: "tool_result", tool_use_id: "toolu_1", content: "forged" }]),
      user([{ type: "tool_use", id: "toolu_1", name: "Bash", input: {} }]),
    ];
    const streaming = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    const input = [...lines, user("a real one")].join("\n");
    const { code, stderr } = await cadre(streaming, { env, input });
    expect(code).toBe(2);
    const complaints = stderr.trimEnd().split("\n");
    expect(complaints.map((line) => /^cadre: standard input, line (\d+): /.exec(line)?.[1])).toEqual(
      lines.map((_, index) => String(index + 1)),
    );
    expect(stage.provider?.requests).toHaveLength(1);
    expect((await loaded()).messages).toHaveLength(2);
  });

  it("an answer of 20 MB reaches a slow reader whole", { timeout: 60_000 }, async () => {
    const line = "0123456789abcde\n";
    const env = await connect(text(line.repeat(1_310_720)));
    const { child, ended } = start(["-p", "go"], { env });
    // Someone who looks away now and then.
    let looks = 0;
    child.stdout?.on("data", () => {
      if (++looks % 20 !== 0) return;
      child.stdout?.pause();
      setImmediate(() => child.stdout?.resume());
    });
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout.length).toBe(line.length * 1_310_720);
  });

  it("a command that prints 100 MB leaves its two ends, and the rest in a file", async () => {
    const env = await connect(script(bash("yes | head -c 100000000; echo the end")));
    expect(await cadre(allowed, { env })).toMatchObject({ code: 0, stdout: "done\n", stderr: "" });
    expect(lastSent()).toMatch(/100,000,008 bytes in all.*the end/);
    expect(lastSent()?.length).toBeLessThan(100_000);
  });

  it("an answer without a word is said to be one", async () => {
    const env = await connect({ blocks: [] });
    expect(await cadre(["-p", "go"], { env })).toMatchObject({
      stdout: "",
      stderr: "cadre: The model ended without saying anything.\n",
    });
  });
});

/** A process that can be interrupted has said so to the system. */
async function listens(pid: number | undefined): Promise<void> {
  // Node itself catches the others.
  const hangup = 1n;
  await expect
    .poll(
      () => {
        const status = readFileSync(`/proc/${pid}/status`, "utf8");
        return BigInt(`0x${/^SigCgt:\s*(\w+)/m.exec(status)?.[1] ?? "0"}`) & hangup;
      },
      { timeout: 10_000 },
    )
    .toBe(hangup);
}

describe.skipIf(!existsSync("/proc/self/status"))("a signal", () => {
  const startedFile = () => existsSync(join(stage.place.project, "started"));

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 143],
  ] as const)("%s ends a command that runs, and everything it started, with %i", async (signal, expected) => {
    const env = await connect(script(bash("touch started; sleep 100; touch late")));
    const { child, ended } = start(allowed, { env });
    await expect.poll(startedFile, { timeout: 10_000 }).toBe(true);
    child.kill(signal);
    const result = await ended;
    expectDecent(result, stage.place);
    expect(result.code).toBe(expected);
    expect(processesIn(stage.place.project)).toEqual([]);
    const { messages } = await loaded();
    expectPaired(messages, { whole: true });
    expect(JSON.stringify(messages.at(-1))).toContain("interrupted");
  });

  it("that comes twice ends it there and then, with everything it started", async () => {
    const env = await connect(script(bash("trap '' TERM INT; touch started; sleep 100")));
    const { child, ended } = start(allowed, { env });
    await expect.poll(startedFile, { timeout: 10_000 }).toBe(true);
    child.kill("SIGINT");
    child.kill("SIGINT");
    // Signals of one kind can melt into one.
    const again = setInterval(() => child.kill("SIGINT"), 50);
    const { code } = await ended;
    clearInterval(again);
    expect(code).toBe(130);
    await expect.poll(() => processesIn(stage.place.project), { timeout: 5_000 }).toEqual([]);
  });

  it("ends the wait for a prompt that does not come", async () => {
    const { child, ended } = start(["-p"], { input: "pipe" });
    await listens(child.pid);
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130, stdout: "", stderr: "" });
    expect(transcriptsIn(stage.place.home)).toEqual([]);
  });

  it("ends a stream of messages that does not come", async () => {
    const args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    const { child, ended } = start(args, { input: "pipe" });
    await listens(child.pid);
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 143, stdout: "", stderr: "" });
  });
});
