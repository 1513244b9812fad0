import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runs } from "../../test/prove.ts";
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

describe("what mending adds at the end of a history", () => {
  const cut: TranscriptRecord[] = [
    head,
    message("1", "user", [text("go")]),
    { type: "calls", messageUuid: "2", from: 0, content: [call("a"), call("b")], started: ["a"] },
  ];

  it("is handed out, is the same each time, and once recorded leaves nothing to mend", async () => {
    const loaded = await load(cut);
    expect(loaded.added.map(({ role }) => role)).toEqual(["assistant", "user"]);
    expect(loaded.messages.slice(1)).toEqual(loaded.added);
    expect((await load(cut)).messages).toEqual(loaded.messages);
    const recorded = loaded.added.map((each): TranscriptRecord => ({ type: "message", message: each }));
    const again = await load([...cut, ...recorded]);
    expect(again.messages).toEqual(loaded.messages);
    expect(again.added).toEqual([]);
  });

  it("does no harm when it is recorded twice", async () => {
    const once = [head, message("1", "user", [text("go")]), message("2", "assistant", [text("well")])];
    const { messages } = await load([...once, ...once.slice(2)]);
    expect(messages.map(({ uuid }) => uuid)).toEqual(["1", "2"]);
  });

  it("stays what it was when somebody went on without recording it", async () => {
    const loaded = await load([
      ...cut,
      message("2", "assistant", [call("a"), call("b")]),
      message("3", "user", [text("and now?")]),
      message("4", "assistant", [call("c")]),
      message("5", "user", [{ type: "tool_result", tool_use_id: "c", content: "ok" }]),
    ]);
    const [a, b] = loaded.messages[2]?.content ?? [];
    expect(a).toMatchObject({ tool_use_id: "a", content: expect.stringContaining("outcome is unknown") });
    expect(b).toMatchObject({ tool_use_id: "b", content: expect.stringContaining("no effects") });
    expect(loaded.added).toEqual([]);
  });

  it("asks what became of agents only if a call that starts them has no result", async () => {
    const agent = (id: string): Block => ({ type: "tool_use", id, name: "Agent", input: {} });
    let asked = 0;
    const interruptedAgents = async () => {
      asked++;
      return ({ id }: { id: string }) => (id === "a" ? "it was interrupted" : undefined);
    };
    const records = [
      head,
      message("1", "user", [text("go")]),
      message("2", "assistant", [agent("x")]),
      message("3", "user", [{ type: "tool_result", tool_use_id: "x", content: "ok" }]),
      message("4", "assistant", [call("y")]),
    ];
    await loadTranscript({ world, path: await written(records), interruptedAgents });
    expect(asked).toBe(0);
    const path = await written([...records.slice(0, 4), message("4", "assistant", [agent("a"), agent("b")])]);
    const { messages } = await loadTranscript({ world, path, interruptedAgents });
    expect(asked).toBe(1);
    expect(messages.at(-1)?.content).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "it was interrupted", is_error: true },
      expect.objectContaining({ tool_use_id: "b", content: expect.stringContaining("no effects") }),
    ]);
  });
});

it("drops messages without a word or a call", async () => {
  const thinking: Block = { type: "thinking", thinking: "hm", signature: "s" };
  const { messages } = await load([
    head,
    message("1", "user", [text("go")]),
    message("2", "assistant", [thinking]),
    message("3", "user", []),
    message("4", "assistant", [text(" ")]),
    message("5", "user", [text("well?")]),
    message("6", "assistant", [thinking, text("yes")]),
  ]);
  expect(messages.map(({ uuid }) => uuid)).toEqual(["1", "5", "6"]);
});

describe("a transcript that is too large to be kept in memory", () => {
  const filler = "x".repeat(200);
  const result = (id: string): Block => ({ type: "tool_result", tool_use_id: id, content: filler });

  async function keep(records: TranscriptRecord[], keepBytes: number) {
    const loaded = await loadTranscript({ world, path: await written(records), keepBytes });
    for (const [index, { content }] of loaded.messages.entries()) {
      const calls = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
      const results = loaded.messages[index + 1]?.content ?? [];
      expect(results.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []))).toEqual(
        calls,
      );
    }
    expect(loaded.messages[0]?.role).toBe("user");
    return loaded;
  }

  it("begins at a prompt near the place where it was cut", async () => {
    const records = Array.from({ length: 100 }, (_, index) => [
      message(`u${index}`, "user", [text(filler)]),
      message(`a${index}`, "assistant", [text(filler)]),
    ]).flat();
    const { messages, droppedMessages, head: first } = await keep([head, prefix, ...records], 10_000);
    expect(first).toEqual(head);
    expect(messages.length).toBeGreaterThan(20);
    expect(messages.length + droppedMessages).toBe(200);
    expect(messages[0]?.uuid).toMatch(/^u/);
    expect(messages.at(-1)?.uuid).toBe("a99");
  });

  const longWork = Array.from({ length: 100 }, (_, index) => [
    message(`a${index}`, "assistant", [call(`c${index}`)]),
    message(`r${index}`, "user", [result(`c${index}`)]),
  ]).flat();

  it("begins with the prompt of a long work, and goes on with the end of that work", async () => {
    const records = [head, message("old", "user", [text("before")]), message("u", "user", [text("go")])];
    const { messages, droppedMessages } = await keep([...records, ...longWork], 10_000);
    expect(messages.length).toBeGreaterThan(20);
    expect(messages[0]?.uuid).toBe("u");
    expect(messages[1]?.uuid).toMatch(/^a/);
    expect(messages.length + droppedMessages).toBe(202);
  });

  it("does so too when a prompt stands near the end: the work before it is worth more", async () => {
    const records = [head, message("u", "user", [text("go")]), ...longWork];
    const { messages } = await keep([...records, message("thanks", "user", [text("thanks")])], 10_000);
    expect(messages[0]?.uuid).toBe("u");
    expect(messages.length).toBeGreaterThan(20);
    expect(messages.at(-1)?.uuid).toBe("thanks");
  });

  it("begins with what it was compacted to, if nothing after that is left out", async () => {
    const summary = message("s", "user", [text("summary")]);
    const compaction: TranscriptRecord = {
      type: "compaction",
      messages: summary.type === "message" ? [summary.message] : [],
    };
    const all = await keep([head, ...longWork, compaction, ...longWork.slice(0, 20)], 20_000);
    expect(all.messages.map(({ uuid }) => uuid).slice(0, 2)).toEqual(["s", "a0"]);
    expect(all.droppedMessages).toBe(0);
    const some = await keep([head, ...longWork.slice(0, 20), compaction, ...longWork], 20_000);
    expect(some.messages[0]?.uuid).toBe("s");
    expect(some.messages[1]?.uuid).toMatch(/^a\d\d$/);
  });

  it("still knows what waits in the queue, and what has arrived", async () => {
    const item = (uuid: string): TranscriptRecord => ({
      type: "queue",
      item: { uuid, mode: "prompt", priority: "next", content: [text(uuid)] },
    });
    const taken = message("q", "user", [text("a")], { queueItems: ["a"] });
    const records = [head, message("u", "user", [text("go")]), item("a"), item("b"), taken, ...longWork];
    const loaded = await keep(records, 10_000);
    expect(loaded.waiting.map(({ uuid }) => uuid)).toEqual(["b"]);
    expect([...loaded.queueItems].sort()).toEqual(["a", "b"]);
    expect(loaded.messages[0]?.uuid).toBe("q");
  });

  const count = runs({ sample: 10_000, full: 100_000 });
  it(`opens in bounded memory (${count} messages)`, { timeout: 120_000 }, async () => {
    const path = `${workspace.path}/session.jsonl`;
    const transcript = await openTranscript({ world, path });
    for (const record of [head, prefix, message("u", "user", [text("go")])]) transcript.append(record);
    for (let index = 0; index < count / 2; index++) {
      transcript.append(message(`a${index}`, "assistant", [text("y".repeat(700)), call(`c${index}`)]));
      transcript.append(message(`r${index}`, "user", [result(`c${index}`), text("z".repeat(500))]));
      if (index % 500 === 0) await transcript.durable();
    }
    await transcript.close();
    const peak = await peakHeapWhile(() => loadTranscript({ world, path, keepBytes: 1024 * 1024 }));
    expect(peak.result.messages.length + peak.result.droppedMessages).toBe(count + 1);
    expect(peak.grownBytes).toBeLessThan(60 * 1024 * 1024);
  });
});

/** Beyond what was there before, garbage included: the bound is far below the size of the file when run in full. */
async function peakHeapWhile<T>(work: () => Promise<T>): Promise<{ result: T; grownBytes: number }> {
  const { heapUsed } = process.memoryUsage();
  let most = heapUsed;
  const look = setInterval(() => {
    most = Math.max(most, process.memoryUsage().heapUsed);
  }, 5);
  try {
    const result = await work();
    return { result, grownBytes: Math.max(most, process.memoryUsage().heapUsed) - heapUsed };
  } finally {
    clearInterval(look);
  }
}
