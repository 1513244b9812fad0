import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Lock } from "../../base/lock.ts";
import type { World } from "../../base/world.ts";
import type { Task } from "../../contracts/task.ts";
import { noUsage } from "../../contracts/usage.ts";
import { type ControlSocket, createControlSocket } from "../../runtime/control-socket.ts";
import { createTaskRegistry, type TaskRegistry } from "../../tasks/registry.ts";
import { createTempWorkspace, type TempWorkspace } from "../../testing/temp-workspace.ts";
import { createTestWorld } from "../../testing/test-world.ts";
import {
  agentRecord,
  createWrittenSessions,
  runEndRecord,
  saidRecord,
  taskRecord,
  timeAt,
  toldRecord,
  type WrittenSessions,
} from "../../testing/written-session.ts";
import { parseArguments, UsageError } from "../arguments.ts";
import type { CommandIo } from "../command-io.ts";
import { tasksOptions } from "../options.ts";
import { runTasks } from "./tasks.ts";
import { durationText, localTime } from "./tasks-request.ts";

const sessionId = "11111111-1111-4111-8111-111111111111";
let workspace: TempWorkspace;
let world: World;
let written: WrittenSessions;
let tasks: TaskRegistry;
let lock: Lock | undefined;
let socket: ControlSocket | undefined;

beforeEach(async () => {
  workspace = await createTempWorkspace();
  world = createTestWorld({ homeFolder: workspace.path });
  written = createWrittenSessions({ workspace, world, cwd: "/project" });
  tasks = createTaskRegistry({ clock: world.clock });
});
afterEach(async () => {
  await socket?.close();
  await lock?.release();
  socket = undefined;
  lock = undefined;
  await workspace.remove();
});

interface Running {
  readonly ended: Promise<number>;
  readonly out: () => string;
  readonly interrupt: () => void;
  /** Resolves when this has been printed. */
  until(text: string): Promise<void>;
}

function start(argv: readonly string[], columns?: number): Running {
  let stdout = "";
  let look = () => {};
  const controller = new AbortController();
  const stream = {
    isTerminal: false,
    broken: false,
    write: async (text: string) => {
      stdout += text;
      look();
    },
    flush: async () => {},
  };
  // Only what the command uses.
  const io = {
    stdout: stream,
    interruption: { signal: controller.signal, listen() {}, exitCode: () => 130 },
  } as unknown as CommandIo;
  const parsed = parseArguments(tasksOptions, [...argv, "--cwd", "/project"]);
  return {
    ended: runTasks({ ...parsed, io, world, ...(columns && { columns }) }),
    out: () => stdout,
    interrupt: () => controller.abort(),
    until: (text) =>
      new Promise((resolve) => {
        look = () => void (stdout.includes(text) && resolve());
        look();
      }),
  };
}

async function run(argv: readonly string[], columns?: number): Promise<{ code: number; stdout: string }> {
  const running = start(argv, columns);
  return { code: await running.ended, stdout: running.out() };
}

/** A session that this process runs, and that can be reached. */
async function openSession(onAsked: (task: Task | undefined) => void = () => {}): Promise<void> {
  const get = (id: string) => {
    const task = tasks.get(id);
    onAsked(task);
    return task;
  };
  lock = await written.hold(sessionId);
  socket = createControlSocket({
    world,
    session: {
      id: sessionId,
      tasks: { ...tasks, get },
      taskOutput: async () => ({ text: "", totalBytes: 0, truncated: false }),
      deliver: async () => {},
    },
  });
  await socket.open();
}

function startShell(id: string, more: object = {}) {
  const task = tasks.register(
    { id, kind: "local_bash", description: `runs ${id}`, isBackgrounded: true, command: "make", ...more },
    { stop: () => void task.end({ status: "killed" }) },
  );
  return task;
}

const receipt = {
  calls: [
    {
      toolUseId: "t1",
      tool: "Write",
      outcome: "done",
      path: "/p/new",
      before: null,
      after: "abcdef0123456789".repeat(4),
    },
    { toolUseId: "t2", tool: "Bash", outcome: "failed", command: "npm test", exitCode: 1 },
    { toolUseId: "t3", tool: "Bash", outcome: "denied" },
  ],
  omittedCalls: 2,
};

async function writeAgent(more: object = {}, prompt = "Find the leak."): Promise<void> {
  await written.writeSession(sessionId, []);
  await written.writeAgent(sessionId, "aexplorer", [
    agentRecord("aexplorer", { name: "scout", worktree: { path: "/w", branch: "b" }, ...more }),
    toldRecord(11, prompt),
    saidRecord(12, "", 2),
    saidRecord(14, "It is in the pipe."),
    runEndRecord("completed", { durationMs: 3_900, costUsd: 0.5, receipt }),
  ]);
}

describe("cadre tasks", () => {
  it("lists tasks with their numbers, in local time", async () => {
    await writeAgent();
    await written.writeSession(sessionId, [
      taskRecord("bshell", { status: "failed", endedAt: timeAt(80), startedAt: timeAt(12) }),
    ]);
    const { code, stdout } = await run([]);
    expect(code).toBe(0);
    const [header, shell, agent] = stdout.split("\n").map((line) => line.split(/ {2,}/));
    expect(header).toEqual("ID STATUS TYPE STARTED DURATION TOOLS TOKENS DESCRIPTION".split(" "));
    expect(shell).toEqual([
      "bshell",
      "failed",
      "shell",
      localTime(timeAt(12)),
      "1 min 8 s",
      "-",
      "-",
      "what bshell does",
    ]);
    expect(agent?.slice(0, 3)).toEqual(["aexplorer", "completed", "Explore"]);
    expect(agent?.slice(4)).toEqual(["3.9 s", "5", "7", "what aexplorer does"]);
  });

  it("counts what an agent without an end has done", async () => {
    await written.writeSession(sessionId, []);
    await written.writeAgent(sessionId, "a1", [
      agentRecord("a1"),
      toldRecord(11, "x"),
      saidRecord(15, "", 3),
    ]);
    expect((await run([])).stdout).toMatch(/^a1 +interrupted +Explore .* 5\.0 s +3 +5 +what a1 does$/m);
  });

  it("says so when there is nothing", async () => {
    expect(await run([])).toEqual({ code: 0, stdout: "There are no tasks in /project.\n" });
    expect((await run(["--all", "--running"])).stdout).toBe("No tasks run.\n");
    expect((await run(["list", "--json"])).stdout).toBe("[]\n");
  });

  it("limits the list, and gives it as JSON", async () => {
    await written.writeSession(sessionId, [
      taskRecord("b1"),
      taskRecord("b2", { status: "completed", endedAt: timeAt(31), startedAt: timeAt(30), exitCode: 0 }),
    ]);
    const list = JSON.parse((await run(["--json", "--limit", "1"])).stdout) as unknown;
    expect(list).toEqual([
      {
        id: "b2",
        kind: "local_bash",
        status: "completed",
        description: "what b2 does",
        command: "make",
        outputFile: "/out/b2.txt",
        exitCode: 0,
        isBackgrounded: true,
        sessionId,
        startedAt: new Date(timeAt(30)).toISOString(),
        endedAt: new Date(timeAt(31)).toISOString(),
        durationMs: 1_000,
      },
    ]);
  });

  it("shows what a session that runs says of itself", async () => {
    await written.writeSession(sessionId, []);
    await openSession();
    tasks.register(
      {
        id: "a1",
        kind: "local_agent",
        description: "looks around",
        isBackgrounded: true,
        agent: {
          agentType: "Explore",
          prompt: "p",
          depth: 1,
          progress: {
            toolUses: 1_234,
            usage: { ...noUsage, outputTokens: 56_789 },
            lastActivities: ["Read a", "Grep b"],
            summary: "reads code",
            state: "stalled",
          },
        },
      },
      { stop() {} },
    );
    expect((await run(["--running"])).stdout).toMatch(
      /^a1 +running, stalled +Explore .* 1,234 +56,789 +looks around$/m,
    );
    const shown = (await run(["show", "a1"])).stdout;
    expect(shown).toMatch(/^last activities +Read a; Grep b$/m);
    expect(shown).toMatch(/^at work on +reads code$/m);
    expect(shown).toMatch(new RegExp(`^address +uds:${workspace.path}/\\.cadre/run/.*\\.sock$`, "m"));
    expect(shown).not.toContain("to go on");
  });

  it("lets nothing that others wrote act on a terminal, and keeps a row a line", async () => {
    const evil = "x\u001b[2J\u202e\nb2 completed";
    await writeAgent({ description: evil, name: evil }, evil);
    await written.writeSession(sessionId, [
      taskRecord("b1", { description: evil, command: evil, error: evil }),
    ]);
    for (const argv of [[], ["show", "b1"], ["show", "aex"], ["output", "aex"]]) {
      const { stdout } = await run(argv);
      expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    }
    expect((await run([])).stdout.trimEnd().split("\n")).toHaveLength(3);
    const shown = "x^[[2J<U+202E>\\nb2";
    await expect(run(["stop", "b1"])).rejects.toThrow(shown);
    await written.writeSession(sessionId, [
      taskRecord("b1", { description: evil }),
      taskRecord("b2", { description: evil }),
    ]);
    await expect(run(["show", "b"])).rejects.toThrow(`b1 ("${shown}`);
  });

  it("fits a narrow terminal", async () => {
    await writeAgent();
    const { stdout } = await run([], 70);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(70);
    expect(stdout).toContain("description: what aexplorer does");
  });
});

describe("cadre tasks show", () => {
  it("tells everything that is known of an agent", async () => {
    await writeAgent({ parentAgentId: "aparent", toolUseId: "toolu_1", modelId: "some-model" });
    const { code, stdout } = await run(["show", "aexp"]);
    expect(code).toBe(0);
    const field = (name: string) => new RegExp(`^${name} +(.*)$`, "m").exec(stdout)?.[1];
    expect(field("status")).toBe("completed");
    expect(field("name")).toBe("scout");
    expect(field("started by")).toBe("the agent aparent");
    expect(field("end")).toBe("completed, after 1 turns");
    expect(field("tokens")).toBe("7 (7 in, 0 into the cache, 0 from it, 0 out)");
    expect(field("cost")).toBe("$0.5000");
    expect(field("worktree")).toBe("/w (branch b)");
    expect(field("in the background")).toBe("no");
    expect(field("model")).toBe("some-model");
    expect(field("call")).toBe("toolu_1");
    expect(field("session")).toBe(sessionId);
    expect(field("to go on")).toBe(`cadre --resume ${sessionId}, then say: let the agent aexplorer go on`);
    expect(field("Write")).toMatch(/^done +\/p\/new no file -> abcdef012345$/);
    expect(stdout).toMatch(/^Bash +failed +npm test \(exit code 1\)$/m);
    expect(stdout).toMatch(/^Bash +denied +-$/m);
    expect(stdout).toContain("and 2 more calls\n");
    expect(stdout).toContain("Prompt:\nFind the leak.\n\nLast words:\nIt is in the pipe.\n");
  });

  it("gives it as JSON, with the whole receipt", async () => {
    await writeAgent();
    expect(JSON.parse((await run(["show", "aexplorer", "--json"])).stdout)).toMatchObject({
      id: "aexplorer",
      prompt: "Find the leak.",
      text: "It is in the pipe.",
      endReason: "completed",
      costUsd: 0.5,
      toolUses: 5,
      totalTokens: 7,
      worktree: { path: "/w", branch: "b" },
      receipt,
    });
  });

  it("tells of a shell its command and how it ended", async () => {
    await written.writeSession(sessionId, [
      taskRecord("b1", { status: "killed", endedAt: timeAt(11), exitCode: null, error: "stopped" }),
    ]);
    const { stdout } = await run(["show", "b"]);
    expect(stdout).toMatch(/^command +make$/m);
    expect(stdout).toMatch(/^exit code +none, a signal ended it$/m);
    expect(stdout).toMatch(/^error +stopped$/m);
    expect(stdout).toMatch(/^output file +\/out\/b1\.txt$/m);
    expect(stdout).not.toContain("to go on");
  });
});

describe("cadre tasks stop", () => {
  it("stops tasks of a session that runs, by the beginnings of their ids", async () => {
    await written.writeSession(sessionId, []);
    await openSession();
    startShell("bone");
    startShell("btwo");
    startShell("bthree");
    expect(await run(["stop", "bo", "btw"])).toEqual({
      code: 0,
      stdout: 'Stopped bone ("runs bone").\nStopped btwo ("runs btwo").\n',
    });
    expect(tasks.list().map(({ status }) => status)).toEqual(["killed", "killed", "running"]);
    expect(await run(["stop", "--session", sessionId])).toEqual({ code: 0, stdout: "Stopped 1 task.\n" });
    expect((await run(["stop", "--session", sessionId])).stdout).toBe("Nothing runs in the background.\n");
  });

  it("stops none when one of them is a mistake", async () => {
    await written.writeSession(sessionId, []);
    await openSession();
    startShell("bone");
    await expect(run(["stop", "bone", "bx"])).rejects.toMatchObject({ code: "task-unknown" });
    expect(tasks.get("bone")?.status).toBe("running");
  });

  it("says what a task is that does not run", async () => {
    await written.writeSession(sessionId, [
      taskRecord("b1"),
      taskRecord("c1", { status: "completed", endedAt: timeAt(11) }),
    ]);
    await expect(run(["stop", "b1"])).rejects.toMatchObject({
      code: "task-not-running",
      message: 'The task b1 ("what b1 does") is not running: it is interrupted.',
    });
    await expect(run(["stop", "c1"])).rejects.toThrow("it is completed");
    await expect(run(["stop", "--session", sessionId])).rejects.toMatchObject({
      code: "session-not-running",
    });
  });

  it("says how to stop what runs in a session that cannot be reached", async () => {
    await written.writeSession(sessionId, [taskRecord("b1", { startedAt: Date.now() + 1_000 })]);
    lock = await written.hold(sessionId);
    await expect(run(["stop", "b1"])).rejects.toThrow(`To stop it, stop process ${process.pid}.`);
  });
});

describe("cadre tasks output", () => {
  it("prints the output file as it can be shown", async () => {
    const path = join(workspace.path, "out.txt");
    const cutInHalf = "x".repeat(64 * 1024 - 1);
    await writeFile(path, `${cutInHalf}\r\n${"é".repeat(70_000)}\u001b[31mred\r`);
    await written.writeSession(sessionId, [taskRecord("b1", { outputFile: path })]);
    expect(await run(["output", "b1"])).toEqual({
      code: 0,
      stdout: `${cutInHalf}\n${"é".repeat(70_000)}^[[31mred^M`,
    });
  });

  it("makes it from the transcript for an agent that was never in the background", async () => {
    await writeAgent();
    const { stdout } = await run(["output", "aexplorer"]);
    expect(stdout).toContain("Find the leak.");
    expect(stdout.match(/> Read/g)).toHaveLength(2);
    expect(stdout).toContain("--- completed (5 calls, 7 tokens");
    expect(stdout.trimEnd().endsWith("It is in the pipe.")).toBe(true);
  });

  it("says that a file is gone", async () => {
    await written.writeSession(sessionId, [taskRecord("b1")]);
    await expect(run(["output", "b1"])).rejects.toThrow("its output file /out/b1.txt is gone");
  });

  it("follows until the task has ended and everything is printed", async () => {
    const path = join(workspace.path, "out.txt");
    await writeFile(path, "first\n");
    await written.writeSession(sessionId, [taskRecord("b1", { outputFile: path, startedAt: Date.now() })]);
    let tellEnd = () => {};
    const endIsKnown = new Promise<void>((resolve) => {
      tellEnd = resolve;
    });
    await openSession((task) => void (task?.status === "completed" && tellEnd()));
    const shell = startShell("b1", { outputFile: path });
    const following = start(["output", "-f", "b1"]);
    await following.until("first\n");
    await appendFile(path, "second\n");
    await following.until("second\n");
    shell.end({ status: "completed" });
    // Its end is known before its file is complete.
    await endIsKnown;
    await appendFile(path, "last\n");
    const ended = taskRecord("b1", { outputFile: path, status: "completed", endedAt: Date.now() });
    await appendFile(written.filesOf(sessionId).transcript, `${JSON.stringify(ended)}\n`);
    expect(await following.ended).toBe(0);
    expect(following.out()).toBe("first\nsecond\nlast\n");
  });

  it("follows an agent in the foreground by its transcript, until its session ends", async () => {
    const startedAt = new Date(Date.now() + 1_000).toISOString();
    await written.writeSession(sessionId, []);
    const begun = [agentRecord("a1", { startedAt }), toldRecord(11, "go")];
    await written.writeAgent(sessionId, "a1", begun);
    lock = await written.hold(sessionId);
    const following = start(["output", "--follow", "a1"]);
    await following.until("go");
    await written.writeAgent(sessionId, "a1", [...begun, saidRecord(12, "halfway")]);
    await following.until("halfway");
    await lock.release();
    expect(await following.ended).toBe(0);
    expect(following.out().match(/halfway/g)).toHaveLength(1);
  });

  it("stops following when it is interrupted", async () => {
    const path = join(workspace.path, "out.txt");
    await writeFile(path, "first\n");
    await written.writeSession(sessionId, []);
    await openSession();
    startShell("b1", { outputFile: path });
    const following = start(["output", "-f", "b1"]);
    await following.until("first\n");
    following.interrupt();
    expect(await following.ended).toBe(130);
  });
});

describe("wrong usage of cadre tasks", () => {
  it.each([
    [["shwo", "a1"], "did you mean show?"],
    [["a1b2c3"], "cadre tasks show a1b2c3"],
    [["list", "x"], 'takes no argument "x"'],
    [["show"], "needs the id of a task"],
    [["show", "a", "b"], 'takes no argument "b"'],
    [["stop"], "needs the id of a task"],
    [["show", "a", "--follow"], "--follow is for cadre tasks output"],
    [["stop", "a", "--running"], "--running is for the list"],
    [["output", "a", "--json"], "--json is not for cadre tasks output"],
    [["--all", "--session", sessionId], "exclude each other"],
  ])("%j is told", async (argv, message) => {
    await expect(run(argv)).rejects.toThrow(UsageError);
    await expect(run(argv)).rejects.toThrow(message);
  });
});

describe("a duration", () => {
  it.each([
    [0, "0.0 s"],
    [9_449, "9.4 s"],
    [9_500, "10 s"],
    [59_400, "59 s"],
    [59_600, "1 min 0 s"],
    [3_599_000, "59 min 59 s"],
    [7_260_000, "2 h 1 min"],
  ])("of %i ms is %s", (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});
