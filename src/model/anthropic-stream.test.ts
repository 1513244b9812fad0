import { describe, expect, test } from "vitest";
import { createStreamReader } from "./anthropic-stream.ts";
import { MalformedStream } from "./wire-fields.ts";

type Event = Record<string, unknown>;

const start: Event = { type: "message_start", message: { id: "m", model: "c", usage: { input_tokens: 3 } } };
const stop: Event = { type: "message_stop" };

function blockStart(index: unknown, content_block: unknown): Event {
  return { type: "content_block_start", index, content_block };
}

function blockDelta(index: unknown, delta: unknown): Event {
  return { type: "content_block_delta", index, delta };
}

function blockStop(index: unknown): Event {
  return { type: "content_block_stop", index };
}

function read(...events: Event[]) {
  const reader = createStreamReader();
  return events.flatMap((event) => reader.read(event));
}

describe("leniency", () => {
  test("blocks, deltas and events of unknown kinds are skipped, and the others keep their numbers", () => {
    const events = read(
      { type: "new_kind", index: 0 },
      start,
      blockStart(0, { type: "server_tool_use", id: "s", name: "web_search", input: {} }),
      blockDelta(0, { type: "input_json_delta", partial_json: "{}" }),
      blockStop(0),
      blockStart(1, { type: "text", text: "" }),
      blockDelta(1, { type: "citations_delta", citation: {} }),
      blockDelta(1, { type: "text_delta", text: "hi" }),
      { type: "another_new_kind" },
      blockStop(1),
      stop,
    );
    expect(events.map((event) => event.type)).toEqual([
      "message-start",
      "block-start",
      "block-delta",
      "block-stop",
      "message-stop",
    ]);
    expect(events[1]).toMatchObject({ index: 0 });
  });

  test("a call whose input came whole, with its start, is handed on as if it had streamed", () => {
    const call = { type: "tool_use", id: "t", name: "Read", input: { path: "/a" } };
    expect(read(start, blockStart(0, call), blockStop(0))).toContainEqual({
      type: "block-delta",
      index: 0,
      delta: { type: "input-json", json: '{"path":"/a"}' },
    });
    const streamed = read(
      start,
      blockStart(0, call),
      blockDelta(0, { type: "input_json_delta", partial_json: "{}" }),
      blockStop(0),
    );
    expect(streamed.filter((event) => event.type === "block-delta")).toHaveLength(1);
  });

  test("an index can be used again after its block ended", () => {
    const text = { type: "text", text: "a" };
    const events = read(start, blockStart(0, text), blockStop(0), blockStart(0, text), blockStop(0), stop);
    expect(events.flatMap((event) => (event.type === "block-start" ? [event.index] : []))).toEqual([0, 1]);
  });

  test("usage may be missing, null or nonsense", () => {
    const events = read(
      { type: "message_start", message: { usage: { input_tokens: 5, cache_read_input_tokens: null } } },
      { type: "message_delta", delta: {}, usage: { output_tokens: "many", input_tokens: -1 } },
      stop,
    );
    expect(events.at(-1)).toMatchObject({
      usage: { inputTokens: 5, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    });
  });

  test("the totals of the end replace those of the start", () => {
    const events = read(
      start,
      { type: "message_delta", usage: { output_tokens: 7, cache_read_input_tokens: 9 } },
      stop,
    );
    expect(events.at(-1)).toMatchObject({ usage: { inputTokens: 3, outputTokens: 7, cacheReadTokens: 9 } });
  });

  test.each([
    ["end_turn", "end_turn"],
    ["refusal", "refusal"],
    ["pause_turn", "pause_turn"],
    ["model_context_window_exceeded", "max_tokens"],
    ["something_new", "end_turn"],
    [null, "end_turn"],
  ])("the stop reason %s is read as %s", (given, expected) => {
    const events = read(start, { type: "message_delta", delta: { stop_reason: given } }, stop);
    expect(events.at(-1)).toMatchObject({ stopReason: expected });
  });

  test("an unknown stop reason after a call means the call", () => {
    const events = read(
      start,
      blockStart(0, { type: "tool_use", id: "t", name: "Read" }),
      blockStop(0),
      stop,
    );
    expect(events.at(-1)).toMatchObject({ stopReason: "tool_use" });
  });

  test("what comes after the end is ignored", () => {
    expect(read(start, stop, start, blockDelta(9, {}), stop)).toHaveLength(2);
  });
});

describe("contradictions", () => {
  const text = { type: "text", text: "" };
  const textDelta = { type: "text_delta", text: "x" };
  test.each<[string, Event[]]>([
    ["a delta before the message", [blockDelta(0, textDelta)]],
    ["an end before the message", [stop]],
    ["two starts", [start, start]],
    ["a start without a message", [{ type: "message_start" }]],
    ["a delta for an unknown block", [start, blockDelta(4, textDelta)]],
    ["a delta after its block", [start, blockStart(0, text), blockStop(0), blockDelta(0, textDelta)]],
    ["a block that starts twice", [start, blockStart(0, text), blockStart(0, text)]],
    ["a block without content", [start, blockStart(0, null)]],
    ["the end of an unknown block", [start, blockStop(0)]],
    ["a block that never ends", [start, blockStart(0, text), stop]],
    [
      "a delta of the wrong kind",
      [start, blockStart(0, text), blockDelta(0, { type: "input_json_delta", partial_json: "" })],
    ],
    ["a delta without text", [start, blockStart(0, text), blockDelta(0, { type: "text_delta" })]],
    ["a block whose delta is no object", [start, blockStart(0, text), blockDelta(0, "x")]],
    ["a call without an id", [start, blockStart(0, { type: "tool_use", name: "Read" })]],
    ["a call without a name", [start, blockStart(0, { type: "tool_use", id: "t", name: 7 })]],
  ])("%s is refused", (_, events) => {
    expect(() => read(...events)).toThrow(MalformedStream);
  });
});

test("what is written to the cache for an hour is told apart, if there is any", () => {
  const usageOf = (written: object) =>
    read(
      {
        type: "message_start",
        message: { id: "m", model: "c", usage: { cache_creation_input_tokens: 9, cache_creation: written } },
      },
      stop,
    ).at(-1);
  expect(usageOf({ ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 7 })).toMatchObject({
    usage: { cacheWriteTokens: 9, longCacheWriteTokens: 7 },
  });
  expect(usageOf({ ephemeral_1h_input_tokens: 0 })).not.toHaveProperty("usage.longCacheWriteTokens");
});
