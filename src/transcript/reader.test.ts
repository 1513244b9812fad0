import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeWorld } from "../base/world/node-world.ts";
import type { Block, Message } from "../contracts/message.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { loadTranscript } from "./reader.ts";
import type { TranscriptRecord } from "./record.ts";
import { openTranscript } from "./writer.ts";

const world = createNodeWorld();
let workspace: TempWorkspace;
beforeEach(async () => {
  workspace = await createTempWorkspace();
});
afterEach(() => workspace.remove());

const text = (value: string): Block => ({ type: "text", text: value });
const call = (id: string): Block => ({ type: "tool_use", id, name: "Do", input: { id } });
const message = (
  uuid: string,
  role: Message["role"],
  content: Block[],
  rest: Partial<Message> = {},
): TranscriptRecord => ({
  type: "message",
  message: { uuid, parentUuid: null, timestamp: "2026-01-01T00:00:00.000Z", role, content, ...rest },
});
const head: TranscriptRecord = {
  type: "head",
  version: 1,
  sessionId: "s",
  cwd: "/somewhere",
  timestamp: "2026-01-01T00:00:00.000Z",
};
const prefix: TranscriptRecord = {
  type: "prefix",
  model: "m",
  system: "be good",
  tools: [],
  reason: "start",
};

async function written(records: TranscriptRecord[]): Promise<string> {
  const path = `${workspace.path}/session.jsonl`;
  await world.files.remove(path, { force: true });
  const transcript = await openTranscript({ world, path });
  for (const record of records) transcript.append(record);
  await transcript.close();
  return path;
}

async function load(records: TranscriptRecord[], damage: (raw: string) => string = (raw) => raw) {
  const path = await written(records);
  await workspace.write("session.jsonl", damage(await workspace.read("session.jsonl")));
  return loadTranscript({ world, path });
}

describe("a transcript", () => {
  it("gives back what was written", async () => {
    const loaded = await load([
      head,
      prefix,
      message("1", "user", [text("go")]),
      message("2", "assistant", [text("done")]),
    ]);
    expect(loaded.head).toEqual(head);
    expect(loaded.prefix).toEqual(prefix);
    expect(loaded.messages.map(({ uuid }) => uuid)).toEqual(["1", "2"]);
    expect(loaded.problems).toEqual([]);
  });

  it("drops a last line that a crash cut off, and skips a broken one in the middle, with a note for each", async () => {
    const loaded = await load(
      [
        head,
        message("1", "user", [text("go")]),
        message("2", "assistant", [text("yes")]),
        message("3", "user", [text("cut")]),
      ],
      (raw) => {
        const lines = raw.trimEnd().split("\n");
        lines[1] = `${lines[1]?.slice(0, 20)}\u0000\u0000`;
        return lines.join("\n").slice(0, -10);
      },
    );
    expect(loaded.messages.map(({ uuid }) => uuid)).toEqual(["2"]);
    expect(loaded.problems.map(({ line }) => line)).toEqual([2, 4]);
  });

  it("makes a message of calls that had started when the process died, and reports their outcome as unknown", async () => {
    const loaded = await load([
      head,
      message("1", "user", [text("go")]),
      {
        type: "calls",
        messageUuid: "2",
        from: 0,
        content: [text("I will"), call("a"), call("b")],
        started: ["b"],
      },
    ]);
    expect(loaded.messages).toHaveLength(3);
    expect(loaded.messages[1]).toMatchObject({ uuid: "2", role: "assistant", parentUuid: "1" });
    const [a, b] = loaded.messages[2]?.content ?? [];
    expect(a).toMatchObject({ tool_use_id: "a", content: expect.stringContaining("no effects") });
    expect(b).toMatchObject({ tool_use_id: "b", content: expect.stringContaining("outcome is unknown") });
  });

  it("puts together the calls of a message that were recorded one after the other", async () => {
    const loaded = await load([
      head,
      message("1", "user", [text("go")]),
      { type: "calls", messageUuid: "2", from: 0, content: [text("I will"), call("a")], started: ["a"] },
      { type: "calls", messageUuid: "2", from: 2, content: [], started: [] },
      { type: "calls", messageUuid: "2", from: 2, content: [call("b")], started: ["b"] },
    ]);
    expect(loaded.messages[1]?.content).toEqual([text("I will"), call("a"), call("b")]);
    expect(loaded.messages[2]?.content).toHaveLength(2);
  });

  it("uses a result that was kept before its message was", async () => {
    const loaded = await load([
      head,
      message("1", "user", [text("go")]),
      { type: "calls", messageUuid: "2", from: 0, content: [call("a")], started: ["a"] },
      { type: "result", result: { type: "tool_result", tool_use_id: "a", content: "it went well" } },
      message("2", "assistant", [call("a")]),
    ]);
    expect(loaded.messages).toHaveLength(3);
    expect(loaded.messages[2]?.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "it went well" },
    ]);
  });

  it("has in its queue what was added and stands in no message", async () => {
    const item = (uuid: string): TranscriptRecord => ({
      type: "queue",
      item: { uuid, mode: "prompt", priority: "next", content: [text(uuid)] },
    });
    const loaded = await load([
      head,
      item("a"),
      item("b"),
      message("1", "user", [text("a")], { queueItems: ["a"] }),
    ]);
    expect(loaded.waiting.map(({ uuid }) => uuid)).toEqual(["b"]);
  });

  it("begins anew where it was compacted", async () => {
    const kept = message("s", "user", [text("summary")]);
    const loaded = await load([
      head,
      message("1", "user", [text("go")]),
      { type: "compaction", messages: kept.type === "message" ? [kept.message] : [] },
      message("2", "assistant", [text("on we go")]),
    ]);
    expect(loaded.messages.map(({ uuid }) => uuid)).toEqual(["s", "2"]);
  });

  it("reports records that it does not know instead of guessing", async () => {
    const loaded = await load(
      [head, message("1", "user", [text("go")])],
      (raw) => `${raw}{"type":"novelty"}\n[1]\n`,
    );
    expect(loaded.problems.map(({ line }) => line)).toEqual([3, 4]);
    expect(loaded.messages).toHaveLength(1);
    const newer = await load([{ ...head, version: 99 } as TranscriptRecord]);
    expect(newer.problems[0]?.problem).toContain("newer");
  });

  it("loads from any prefix of its bytes", async () => {
    const records = [
      head,
      prefix,
      message("1", "user", [text("go é 漢")]),
      { type: "calls", messageUuid: "2", from: 0, content: [call("a")], started: ["a"] } as TranscriptRecord,
      message("2", "assistant", [call("a")]),
      message("3", "user", [{ type: "tool_result", tool_use_id: "a", content: "ok" }]),
    ];
    const path = await written(records);
    const whole = await world.files.readFile(path);
    let seen = 0;
    for (let length = 0; length <= whole.length; length += 7) {
      await world.files.writeFile(path, whole.subarray(0, length));
      const { messages } = await loadTranscript({ world, path });
      // Nothing that had been there with fewer bytes is gone with more.
      expect(messages.length).toBeGreaterThanOrEqual(Math.min(seen, 2));
      seen = messages.length;
    }
    expect(seen).toBe(3);
  });
});

describe("calls that started after their message was recorded", () => {
  const started: TranscriptRecord = {
    type: "calls",
    messageUuid: "a",
    from: 0,
    content: [call("1"), call("2")],
    started: ["1", "2"],
  };

  it("do not bring the message a second time", async () => {
    const { messages } = await load([
      head,
      message("u", "user", [text("go")]),
      message("a", "assistant", [call("1"), call("2")]),
      started,
    ]);
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(JSON.stringify(messages.at(-1))).toContain("outcome is unknown");
  });

  it("are forgotten when the message was thrown away and another took its place", async () => {
    const { messages } = await load([
      head,
      message("u", "user", [text("go")]),
      started,
      message("b", "assistant", [text("done")]),
    ]);
    expect(messages.map(({ uuid }) => uuid)).toEqual(["u", "b"]);
  });
});
