import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { World } from "../base/world.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTestWorld } from "../testing/test-world.ts";
import {
  agentRecord,
  createWrittenSessions,
  isoAt,
  runEndRecord,
  saidRecord,
  taskRecord,
  timeAt,
  toldRecord,
  type WrittenSessions,
} from "../testing/written-session.ts";
import { type RestoredSession, restoreSession } from "./restore-session.ts";
import { createSessionTranscript } from "./session-transcript.ts";

const sessionId = "00000000-0000-4000-8000-000000000001";
let workspace: TempWorkspace;
let world: World;
let cwd: string;
let written: WrittenSessions;
beforeEach(async () => {
  workspace = await createTempWorkspace();
  world = createTestWorld({ homeFolder: workspace.path });
  cwd = join(workspace.path, "project");
  written = createWrittenSessions({ workspace, world, cwd });
});
afterEach(() => workspace.remove());

const writeMain = (...records: object[]) =>
  written.writeSession(sessionId, [toldRecord(1, "go"), ...records]);
const writeAgent = (agentId: string, ...records: object[]) => written.writeAgent(sessionId, agentId, records);

/** The main agent calls `Agent` for each of these ids, or what else is given. */
const calls = (...ids: (string | { id: string; name: string; input: object })[]) => ({
  type: "message",
  message: {
    uuid: "calls",
    parentUuid: null,
    timestamp: isoAt(2),
    role: "assistant",
    content: ids.map((call) =>
      typeof call === "string"
        ? { type: "tool_use", id: call, name: "Agent", input: { prompt: "p" } }
        : { type: "tool_use", ...call },
    ),
  },
});
const result = (id: string, content: string) => ({
  type: "result",
  result: { type: "tool_result", tool_use_id: id, content },
});
const answers = (...ids: string[]) => ({
  type: "message",
  message: {
    uuid: "answers",
    parentUuid: null,
    timestamp: isoAt(3),
    role: "user",
    content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "It runs" })),
  },
});
const queued = (item: Partial<QueueItem> & { uuid: string }) => ({
  type: "queue",
  item: {
    mode: "task-notification",
    priority: "later",
    content: [{ type: "text", text: item.uuid }],
    ...item,
  },
});
const heard = (second: number, ...queueItems: string[]) => ({
  type: "message",
  message: {
    uuid: `h${second}`,
    parentUuid: null,
    timestamp: isoAt(second),
    role: "user",
    content: [{ type: "text", text: "heard" }],
    queueItems,
  },
});
const told = (uuid: string, toolUseId: string) => ({ type: "told", uuid, toolUseId });
/** Of an agent that was in the background from its start. */
const ofAgent = (id: string, more: object = {}) =>
  taskRecord(id, { kind: "local_agent", command: undefined, ...more });
const inBackground = { background: true };

async function restore(): Promise<RestoredSession> {
  const restored = await restoreSession({ world, cwd, which: { id: sessionId } });
  return restored;
}

/** Of each that is reported: its id and its status. */
function reported({ reports }: RestoredSession): string[][] {
  return reports.map(({ uuid, content }) => [uuid, /<status>(\w+)</.exec(textOf(content))?.[1] ?? ""]);
}

function textOf(content: RestoredSession["reports"][number]["content"]): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

/** What the process that goes on writes first; then it dies, too. */
async function goOn(restored: RestoredSession, { reports = true } = {}): Promise<void> {
  const writer = createSessionTranscript({ world, files: restored.files, lock: restored.lock });
  for (const message of restored.added) writer.append({ type: "message", message });
  if (reports) for (const item of restored.reports) writer.append({ type: "queue", item });
  await writer.durable();
  await writer.close();
  await restored.transcripts.close();
}

async function leave({ lock, transcripts }: RestoredSession): Promise<void> {
  await transcripts.close();
  await lock.release();
}

describe("an agent that ended in the background", () => {
  const ended = [
    agentRecord("a1", { toolUseId: "c1" }),
    toldRecord(11, "p"),
    saidRecord(12, "found it"),
    runEndRecord("completed", { ...inBackground, durationMs: 3 }),
  ];

  it("just before the process died is told of with its words, once", async () => {
    await writeMain(calls("c1"), ofAgent("a1"), answers("c1"));
    await writeAgent("a1", ...ended);
    const restored = await restore();
    expect(reported(restored)).toEqual([["ended:a1:m12", "completed"]]);
    const text = textOf(restored.reports[0]?.content ?? []);
    expect(text).toContain("<result>found it</result>");
    expect(text).toContain("<output-file>/out/a1.txt</output-file>");
    expect(restored.notes).toEqual([]);
    await goOn(restored);
    const again = await restore();
    expect(again.reports).toEqual([]);
    expect(again.waiting.map(({ uuid }) => uuid)).toEqual(["ended:a1:m12"]);
    await leave(again);
  });

  it("and was told of is not told of again: in the queue, in a message, or by a call", async () => {
    await writeMain(
      calls("c1", "c2", "c3", { id: "c4", name: "TaskOutput", input: { task_id: "a3" } }),
      ofAgent("a1"),
      ofAgent("a2"),
      ofAgent("a3"),
      queued({ uuid: "ended:a1:m12" }),
      queued({ uuid: "ended:a2:m12" }),
      told("ended:a3:m12", "c4"),
      answers("c1", "c2", "c3", "c4"),
      heard(4, "ended:a2:m12"),
    );
    for (const id of ["a1", "a2", "a3"]) await writeAgent(id, agentRecord(id), ...ended.slice(1));
    const restored = await restore();
    expect(restored.reports).toEqual([]);
    expect(restored.waiting.map(({ uuid }) => uuid)).toEqual(["ended:a1:m12"]);
    await leave(restored);
  });

  it("is told of after all when the answer of the call that told of it was lost, at every later reading", async () => {
    const look = { id: "c4", name: "TaskOutput", input: { task_id: "a1" } };
    await writeMain(
      calls(look),
      ofAgent("a1"),
      ofAgent("a2"),
      queued({ uuid: "ended:a2:m12" }),
      told("ended:a1:m12", "c4"),
      told("ended:a2:m12", "c4"),
    );
    await writeAgent("a1", ...ended);
    await writeAgent("a2", agentRecord("a2"), ...ended.slice(1));
    const expectTold = ({ reports, waiting }: RestoredSession) => {
      expect(reports.map(({ uuid }) => uuid)).toEqual(["ended:a1:m12"]);
      expect(waiting.map(({ uuid }) => uuid)).toEqual(["ended:a2:m12"]);
    };
    const restored = await restore();
    expectTold(restored);
    // The answer that was made up for the call is on disk; what tells of the end is not.
    await goOn(restored, { reports: false });
    const again = await restore();
    expect(again.added).toEqual([]);
    expectTold(again);
    await goOn(again);
    const last = await restore();
    expect(last.waiting.map(({ uuid }) => uuid)).toEqual(["ended:a2:m12", "ended:a1:m12"]);
    await leave(last);
  });

  it("is told of by the call that started it, if that had no answer at all", async () => {
    await writeMain(calls("c1"), ofAgent("a1"));
    await writeAgent("a1", ...ended);
    const restored = await restore();
    expect(restored.reports).toEqual([]);
    expect(restored.added.at(-1)).toMatchObject({ queueItems: ["ended:a1:m12"] });
    expect(JSON.stringify(restored.added)).toContain("found it");
    await goOn(restored);
    const again = await restore();
    expect(again).toMatchObject({ reports: [], waiting: [], added: [] });
    await leave(again);
  });

  it("is not told of again because somebody had begun to go on with it", async () => {
    const mended = { uuid: "x", parentUuid: null, timestamp: isoAt(12), synthetic: true, role: "user" };
    const content = [{ type: "tool_result", tool_use_id: "t120", content: "interrupted" }];
    const stopped = [
      agentRecord("a1", { toolUseId: "c1" }),
      toldRecord(11, "p"),
      saidRecord(12, "half", 1),
      runEndRecord("aborted", inBackground),
    ];
    await writeMain(calls("c1"), ofAgent("a1"), answers("c1"), heard(13, "ended:a1:m12"));
    await writeAgent("a1", ...stopped, { type: "message", message: { ...mended, content } });
    const restored = await restore();
    expect(restored).toMatchObject({ reports: [], notes: [] });
    await leave(restored);
  });

  it("right after its history was made shorter is told of once", async () => {
    const short = { uuid: "short", parentUuid: null, timestamp: isoAt(13), role: "user", content: [] };
    await writeMain(ofAgent("a1"), queued({ uuid: "ended:a1:short" }));
    await writeAgent(
      "a1",
      ...ended.slice(0, -1),
      { type: "compaction", messages: [short] },
      runEndRecord("model_error", inBackground),
    );
    const restored = await restore();
    expect(restored.reports).toEqual([]);
    await leave(restored);
  });

  it("and could not keep its end, but told of it, is not told of as cut off", async () => {
    await writeMain(ofAgent("a1"), queued({ uuid: "ended:a1:m12" }));
    await writeAgent("a1", ...ended.slice(0, -1));
    const restored = await restore();
    expect(restored).toMatchObject({ reports: [], notes: [] });
    await leave(restored);
  });
});

describe("an agent that was cut off in the background", () => {
  it("is told of although its call had been answered by then, if only with its start", async () => {
    await writeMain(calls("c1", "c2"), ofAgent("a1"), result("c1", "It runs in the background."));
    await writeAgent("a1", agentRecord("a1", { toolUseId: "c1" }), toldRecord(11, "p"));
    await writeAgent("a2", agentRecord("a2", { toolUseId: "c2" }), toldRecord(11, "p"));
    const restored = await restore();
    // Of the other, the answer of its call tells.
    expect(reported(restored)).toEqual([["interrupted:a1:m11", "failed"]]);
    const [first, second] = restored.added.at(-1)?.content ?? [];
    expect(first).toMatchObject({ content: "It runs in the background." });
    expect(second).toMatchObject({ content: expect.stringContaining("was interrupted") });
    expect(restored.added.at(-1)?.queueItems).toEqual(["interrupted:a2:m11"]);
    await goOn(restored);
    const again = await restore();
    expect(again.reports).toEqual([]);
    await leave(again);
  });

  it("before it had a transcript is told of by its task", async () => {
    await writeMain(calls("c1"), ofAgent("a1", { toolUseId: "c1" }), answers("c1"));
    const restored = await restore();
    expect(reported(restored)).toEqual([["ended:a1", "failed"]]);
    await goOn(restored);
    const again = await restore();
    expect(again.reports).toEqual([]);
    await leave(again);
  });

  it("again, before the first word of its new run was kept, is told of again", async () => {
    const resume = { id: "c2", name: "Agent", input: { resume: "a1" } };
    for (const [status, records, before] of [
      ["interrupted", [toldRecord(11, "p")], "interrupted:a1:m11"],
      ["completed", [toldRecord(11, "p"), saidRecord(12, "yes"), runEndRecord()], "ended:a1:m12"],
    ] as const) {
      await writeMain(
        ofAgent("a1"),
        queued({ uuid: before }),
        heard(13, before),
        calls(resume),
        ofAgent("a1", { startedAt: timeAt(20), toolUseId: "c2" }),
        answers("c2"),
      );
      await writeAgent("a1", agentRecord("a1"), ...records);
      const restored = await restore();
      const last = before.slice(before.lastIndexOf(":") + 1);
      expect(reported(restored), status).toEqual([[`interrupted:a1:${last}:${timeAt(20)}`, "failed"]]);
      expect(textOf(restored.reports[0]?.content ?? [])).toMatch(/<tool-use-id>c2<[\s\S]*say it again/);
      await goOn(restored);
      const again = await restore();
      expect(again.reports).toEqual([]);
      await leave(again);
    }
  });

  it("while a message woke it is not told of: the message wakes it again", async () => {
    await writeMain(
      ofAgent("a1"),
      queued({ uuid: "ended:a1:m12" }),
      heard(13, "ended:a1:m12"),
      queued({ uuid: "w", mode: "prompt", priority: "next", target: "a1" }),
      ofAgent("a1", { startedAt: timeAt(20) }),
    );
    await writeAgent(
      "a1",
      agentRecord("a1"),
      toldRecord(11, "p"),
      saidRecord(12, "yes"),
      runEndRecord("completed", inBackground),
    );
    const restored = await restore();
    expect(restored.reports).toEqual([]);
    expect(restored.waiting).toMatchObject([{ uuid: "w", target: "a1" }]);
    await leave(restored);
  });

  it("is not taken for another whose call has the same id", async () => {
    await writeMain(calls("c1"));
    await writeAgent("a1", agentRecord("a1", { toolUseId: "c1" }), toldRecord(11, "p"));
    await writeAgent(
      "a2",
      agentRecord("a2", { toolUseId: "c1", parentAgentId: "a1", depth: 2, startedAt: isoAt(15) }),
      toldRecord(16, "p"),
      saidRecord(17, "of the other"),
      runEndRecord("completed", inBackground),
    );
    const restored = await restore();
    expect(reported(restored)).toEqual([["ended:a2:m17", "completed"]]);
    expect(JSON.stringify(restored.added)).not.toContain("of the other");
    expect(restored.added.at(-1)?.queueItems).toEqual(["interrupted:a1:m11"]);
    await leave(restored);
  });
});

describe("a command in the background", () => {
  const bash = { id: "c1", name: "Bash", input: { command: "make", run_in_background: true } };

  it("that was cut off, or ended untold, is told of once, whatever its call was answered with", async () => {
    for (const answered of [[answers("c1", "c2")], [result("c1", "It runs"), result("c2", "It runs")], []]) {
      await writeMain(
        calls(bash, { ...bash, id: "c2" }),
        taskRecord("b1", { toolUseId: "c1" }),
        taskRecord("b2", { toolUseId: "c2" }),
        ...answered,
        taskRecord("b2", { toolUseId: "c2", status: "failed", exitCode: 3, endedAt: timeAt(12) }),
      );
      const restored = await restore();
      expect(reported(restored)).toEqual([
        ["ended:b1", "failed"],
        ["ended:b2", "failed"],
      ]);
      expect(textOf(restored.reports[0]?.content ?? [])).toContain("was interrupted");
      expect(textOf(restored.reports[1]?.content ?? [])).toContain("(exit code 3)");
      await goOn(restored);
      const again = await restore();
      expect(again.reports).toEqual([]);
      await leave(again);
    }
  });
});

describe("what was told to another agent", () => {
  const lower = [
    agentRecord("a2", { parentAgentId: "a1", depth: 2 }),
    toldRecord(11, "p"),
    saidRecord(12, "deep news"),
    runEndRecord("completed", inBackground),
  ];

  it("is told to the main one only if that agent has not heard it", async () => {
    const item = queued({ uuid: "ended:a2:m12", target: "a1" });
    await writeMain(ofAgent("a2", { parentAgentId: "a1" }), item);
    await writeAgent("a1", agentRecord("a1"), toldRecord(11, "p"), heard(13, "ended:a2:m12"));
    await writeAgent("a2", ...lower);
    const informed = await restore();
    expect(informed.waiting).toEqual([]);
    expect(reported(informed)).toEqual([["interrupted:a1:h13", "failed"]]);
    await leave(informed);

    await writeAgent("a1", agentRecord("a1"), toldRecord(11, "p"));
    const restored = await restore();
    expect(restored.waiting).toMatchObject([{ uuid: "ended:a2:m12" }]);
    expect(restored.waiting[0]).not.toHaveProperty("target");
    await leave(restored);
  });

  it("is not told to the main one because it was to go there at the moment when it was heard", async () => {
    const item = { uuid: "ended:a2:m12" };
    await writeMain(
      ofAgent("a2", { parentAgentId: "a1" }),
      queued({ ...item, target: "a1" }),
      queued(item),
      queued({ uuid: "other" }),
    );
    await writeAgent("a1", agentRecord("a1"), toldRecord(11, "p"), heard(13, "ended:a2:m12"));
    await writeAgent("a2", ...lower);
    const restored = await restore();
    expect(restored.waiting.map(({ uuid }) => uuid)).toEqual(["other"]);
    await leave(restored);
  });
});
