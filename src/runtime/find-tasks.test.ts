import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Lock } from "../base/lock.ts";
import type { World } from "../base/world.ts";
import { noUsage } from "../contracts/usage.ts";
import { createTaskRegistry } from "../tasks/registry.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTestWorld } from "../testing/test-world.ts";
import {
  agentRecord as agent,
  timeAt as at,
  createWrittenSessions,
  isoAt as iso,
  linesFor as lines,
  runEndRecord as runEnd,
  saidRecord as said,
  taskRecord as task,
  toldRecord as told,
  type WrittenSessions,
} from "../testing/written-session.ts";
import { journalLine } from "../transcript/settle-journals.ts";
import { type ControlSocket, createControlSocket } from "./control-socket.ts";
import { findTask, findTasks } from "./find-tasks.ts";
import type { FoundTask } from "./recorded-tasks.ts";
import { readTaskDetails, textsOfTranscript } from "./task-details.ts";

const first = "11111111-1111-4111-8111-111111111111";
const second = "22222222-2222-4222-8222-222222222222";
const cwd = "/project";
let workspace: TempWorkspace;
let world: World;
let locks: Lock[];
let sockets: ControlSocket[];
let written: WrittenSessions;

beforeEach(async () => {
  workspace = await createTempWorkspace();
  world = createTestWorld({ homeFolder: workspace.path });
  locks = [];
  sockets = [];
  written = createWrittenSessions({ workspace, world, cwd });
});
afterEach(async () => {
  for (const socket of sockets) await socket.close();
  for (const lock of locks) await lock.release();
  await workspace.remove();
});

const all = (more: Partial<Parameters<typeof findTasks>[0]> = {}) =>
  findTasks({ world, cwd, limit: 20, ...more });
const statuses = (tasks: readonly FoundTask[]) =>
  Object.fromEntries(tasks.map(({ id, status }) => [id, status]));

describe("the tasks of a session that is over", () => {
  it("are those of its records and its agents, each once, the latest first", async () => {
    await written.writeSession(first, [
      task("b1"),
      task("b1", { status: "failed", endedAt: at(14), exitCode: 2, error: "exit code 2" }),
      task("a1", { kind: "local_agent", startedAt: at(20), agentType: "Explore" }),
      task("a1", { kind: "local_agent", startedAt: at(20), status: "completed", endedAt: at(29) }),
    ]);
    const calls = [{ toolUseId: "t", tool: "Read", outcome: "done" }];
    await written.writeAgent(first, "a1", [
      agent("a1", { startedAt: iso(20), parentAgentId: "a0" }),
      told(21, "look"),
      said(28, "found"),
      runEnd("completed", { background: true, durationMs: 8_500, receipt: { calls, omittedCalls: 2 } }),
    ]);
    await written.writeAgent(first, "a2", [agent("a2"), told(11, "look"), said(12, "found"), runEnd()]);
    const tasks = await all();
    expect(tasks).toMatchObject([
      {
        id: "a1",
        status: "completed",
        kind: "local_agent",
        isBackgrounded: true,
        startedAt: at(20),
        endedAt: at(29),
        durationMs: 8_500,
        toolUses: 3,
        usage: { inputTokens: 7 },
        parentAgentId: "a0",
        outputFile: "/out/a1.txt",
      },
      { id: "b1", status: "failed", exitCode: 2, error: "exit code 2", durationMs: 4_000 },
      { id: "a2", status: "completed", isBackgrounded: false, agentType: "Explore" },
    ]);
    expect(tasks.map(({ session }) => session.id)).toEqual([first, first, first]);
  });

  it("are interrupted where they have no end", async () => {
    await written.writeSession(first, [task("b1"), task("a1", { kind: "local_agent" }), task("a4")]);
    await written.writeAgent(first, "a1", [agent("a1"), told(11, "look"), said(12, "", 1)]);
    await written.writeAgent(first, "a2", [agent("a2"), told(11, "look")]);
    await written.writeAgent(first, "a3", [agent("a3")]);
    const tasks = await all();
    expect(statuses(tasks)).toEqual({
      b1: "interrupted",
      a1: "interrupted",
      a2: "interrupted",
      a3: "interrupted",
      a4: "interrupted",
    });
    expect(tasks.find(({ id }) => id === "a1")).toMatchObject({ endedAt: at(12) });
    expect(await all({ runningOnly: true })).toEqual([]);
  });

  it.each([
    ["completed", "yes", "completed"],
    ["completed", "", "failed"],
    ["aborted", "half", "killed"],
    ["max_turns", "half", "failed"],
  ])(
    "are %s as their transcript says, when their record was not written (%j)",
    async (reason, text, status) => {
      await written.writeSession(first, [task("a1", { kind: "local_agent" })]);
      await written.writeAgent(first, "a1", [agent("a1"), told(11, "x"), said(12, text), runEnd(reason)]);
      expect(statuses(await all())).toEqual({ a1: status });
    },
  );

  it("count with their latest run: one that began again, in the background or not", async () => {
    const ended = [agent("a1"), told(11, "x"), said(12, "y"), runEnd()];
    // Again in the background, and nothing said yet.
    await written.writeSession(first, [
      task("a1", { status: "completed", endedAt: at(13) }),
      task("a1", { startedAt: at(30) }),
    ]);
    await written.writeAgent(first, "a1", ended);
    expect(await all()).toMatchObject([{ status: "interrupted", startedAt: at(30), isBackgrounded: true }]);
    // Again while somebody waits for it: there is no record of that.
    await written.writeSession(first, [task("a1", { status: "completed", endedAt: at(13) })]);
    await written.writeAgent(first, "a1", [...ended, told(40, "more"), said(41, "no", 2)]);
    const [found] = await all();
    expect(found).toMatchObject({ status: "interrupted", isBackgrounded: false });
    const details = found && (await readTaskDetails(world.files, found));
    expect(details).toMatchObject({
      prompt: "more",
      text: "no",
      runs: 2,
      toolUses: 2,
      startedAt: at(40),
      usage: { outputTokens: 5 },
      end: undefined,
    });
  });

  it("are read with what only the journal has, and nothing is changed", async () => {
    await written.writeSession(first, []);
    const begun = [agent("a1"), told(11, "look")];
    // The file has the next line already; the journal is not gone yet.
    await written.writeAgent(first, "a1", [...begun, said(12, "found")]);
    const folder = written.filesOf(first).subagents;
    const size = Buffer.byteLength(lines(begun));
    const journal = [
      journalLine("a1", size, JSON.stringify(said(12, "found"))),
      journalLine("a2", 0, JSON.stringify(agent("a2"))),
      journalLine("../evil", 0, JSON.stringify(agent("x"))),
      "not json",
      journalLine("a2", 400, JSON.stringify(told(13, "only here"))),
      journalLine("a1", size + 300, JSON.stringify(runEnd())),
    ];
    await workspace.write(written.relative(join(folder, "journal-3.jsonl")), `${journal.join("\n")}\n`);
    const before = await workspace.read(written.relative(join(folder, "agent-a1.jsonl")));
    const tasks = await all();
    expect(statuses(tasks)).toEqual({ a1: "completed", a2: "interrupted" });
    const texts: string[] = [];
    for (const found of tasks)
      for await (const text of textsOfTranscript(world.files, found)) texts.push(text);
    expect(texts.join("").match(/found/g)).toHaveLength(1);
    expect(texts.join("")).toContain("only here");
    expect(await workspace.read(written.relative(join(folder, "agent-a1.jsonl")))).toBe(before);
    expect((await world.files.readFolder(folder)).map(({ name }) => name).sort()).toEqual([
      "agent-a1.jsonl",
      "journal-3.jsonl",
    ]);
  });

  it("are read although lines are broken or of another kind", async () => {
    await written.writeSession(first, [task("b1"), { type: "task", task: { id: 7 } }, { type: "unheard" }]);
    await written.writeAgent(first, "a1", [{ type: "unheard" }, told(1, "x")]);
    const path = written.relative(written.filesOf(first).transcript);
    await workspace.write(path, `${await workspace.read(path)}{"type":"task","task":{"id":"b2"`);
    expect(statuses(await all())).toEqual({ b1: "interrupted" });
  });
});

describe("the tasks of a session that runs", () => {
  it("run if its process has begun them and they have no end, when it cannot be asked", async () => {
    const now = Date.now() + 1_000;
    await written.writeSession(first, [task("b1"), task("b2", { startedAt: now })]);
    await written.writeAgent(first, "a1", [agent("a1"), told(11, "x")]);
    await written.writeAgent(first, "a2", [agent("a2", { startedAt: new Date(now).toISOString() })]);
    locks.push(await written.hold(first));
    expect(statuses(await all())).toEqual({
      b1: "interrupted",
      b2: "running",
      a1: "interrupted",
      a2: "running",
    });
    expect(statuses(await all({ runningOnly: true }))).toEqual({ b2: "running", a2: "running" });
  });

  it("are as it says itself", async () => {
    await written.writeSession(first, [task("b1", { startedAt: Date.now() + 1_000 }), task("b2")]);
    await written.writeAgent(first, "a1", [agent("a1"), told(11, "x")]);
    locks.push(await written.hold(first));
    const tasks = createTaskRegistry({ clock: world.clock });
    tasks.register(
      {
        id: "a1",
        kind: "local_agent",
        description: "alive",
        isBackgrounded: true,
        agent: {
          agentType: "Explore",
          prompt: "p",
          depth: 1,
          progress: { toolUses: 4, usage: noUsage, lastActivities: ["Grep x"], state: "stalled" },
        },
      },
      { stop() {} },
    );
    const session = {
      id: first,
      tasks,
      taskOutput: async () => ({ text: "", totalBytes: 0, truncated: false }),
      deliver: async () => {},
    };
    const socket = createControlSocket({ world, session });
    sockets.push(socket);
    await socket.open();
    const found = await all();
    expect(statuses(found)).toEqual({ a1: "running", b1: "interrupted", b2: "interrupted" });
    expect(found.find(({ id }) => id === "a1")).toMatchObject({
      description: "alive",
      toolUses: 4,
      progress: { state: "stalled", lastActivities: ["Grep x"] },
      meta: { agentId: "a1" },
    });
  });

  it("are over with a process that is no more", async () => {
    await written.writeSession(first, [task("b1", { startedAt: Date.now() + 1_000 })]);
    locks.push(await written.hold(first));
    const path = written.relative(written.filesOf(first).lock);
    const owner = JSON.parse(await workspace.read(path)) as object;
    await workspace.write(path, JSON.stringify({ ...owner, identity: "another start" }));
    expect(statuses(await all())).toEqual({ b1: "interrupted" });
  });
});

describe("looking for tasks", () => {
  it("goes on until all that are left are older", async () => {
    const many = Array.from({ length: 30 }, (_, index) => task(`b${index}`, { startedAt: at(index) }));
    await written.writeSession(first, many);
    await written.writeSession(second, [task("c1", { startedAt: at(15) })]);
    const three = await all({ limit: 3 });
    expect(three.map(({ id }) => id)).toEqual(["b29", "b28", "b27"]);
    expect(await all({ limit: 100 })).toHaveLength(31);
  });

  it("is in this folder, in all, or in one session", async () => {
    await written.writeSession(first, [task("b1")]);
    await written.writeSession(second, [task("c1")], "/elsewhere");
    expect(statuses(await all())).toEqual({ b1: "interrupted" });
    expect(Object.keys(statuses(await all({ all: true }))).sort()).toEqual(["b1", "c1"]);
    expect(statuses(await all({ sessionId: second }))).toEqual({ c1: "interrupted" });
    await expect(all({ sessionId: "nonsense" })).rejects.toMatchObject({ code: "session-unknown" });
    expect(await all({ cwd: "/nowhere" })).toEqual([]);
  });

  it("takes the beginning of an id, if only one task begins so", async () => {
    await written.writeSession(first, [task("babc"), task("babd"), task("bab")]);
    await written.writeSession(second, [task("cxyz")], "/elsewhere");
    const find = (id: string, more: object = {}) => findTask({ world, cwd, id, ...more });
    expect(await find("babc")).toMatchObject({ id: "babc" });
    expect(await find("bab")).toMatchObject({ id: "bab" });
    await expect(find("ba")).rejects.toMatchObject({
      code: "task-ambiguous",
      message: expect.stringMatching(/babc \("what babc does"\), babd .*, bab /) as string,
    });
    expect(await find("cx")).toMatchObject({ id: "cxyz", session: { id: second } });
    await expect(find("cx", { sessionId: first })).rejects.toMatchObject({ code: "task-unknown" });
    await expect(find("zzz")).rejects.toMatchObject({ code: "task-unknown" });
    await expect(find("../b")).rejects.toMatchObject({ code: "task-unknown" });
  });

  it("means the one that runs, of a session and its copy", async () => {
    await written.writeSession(first, [task("b1", { startedAt: Date.now() + 1_000 })]);
    locks.push(await written.hold(first));
    await written.writeSession(second, [task("b1")]);
    expect(await findTask({ world, cwd, id: "b1" })).toMatchObject({
      status: "running",
      session: { id: first },
    });
  });
});
