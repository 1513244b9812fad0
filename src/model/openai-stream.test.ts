import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ModelEvent } from "../contracts/event.ts";
import type { Block } from "../contracts/message.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createAssembler } from "./assemble-message.ts";
import type { ToolDescription } from "./model.ts";
import { ModelError } from "./model-error.ts";
import { createChatReader } from "./openai-stream.ts";
import { toWireName } from "./openai-tool-name.ts";

const tools: ToolDescription[] = ["Read", "Todo", "TodoWrite", "Now"].map((name) => ({
  name,
  description: "",
  inputSchema:
    name === "Now"
      ? { type: "object", properties: {} }
      : { type: "object", properties: { path: { type: "string" }, n: {} }, required: ["path"] },
}));

interface Read {
  readonly events: ModelEvent[];
  readonly blocks: Block[];
  readonly stop: Extract<ModelEvent, { type: "message-stop" }>;
}

function open(recoverWrittenCalls = false, offered = tools) {
  let ids = 0;
  return createChatReader({
    tools: offered,
    promptTokens: 100,
    recoverWrittenCalls,
    newId: () => `new${ids++}`,
    context: {
      clock: createManualClock(),
      address: "http://there",
      modelId: "asked-for",
      credentialName: undefined,
      addressName: "the setting",
      secrets: [],
    },
  });
}

/** The answer that these chunks make. What is not an object is sent as it is. */
function read(chunks: readonly (object | string)[], reader = open()): Read {
  const events: ModelEvent[] = [];
  const blocks: Block[] = [];
  const assembler = createAssembler();
  const take = (produced: ModelEvent[]) => {
    for (const event of produced) {
      events.push(event);
      const completed = assembler.accept(event);
      if (completed) blocks.push(completed.block);
    }
  };
  for (const chunk of chunks) {
    take(reader.read({ event: null, data: typeof chunk === "string" ? chunk : JSON.stringify(chunk) }));
  }
  expect(reader.complete).toBe(true);
  take(reader.end());
  const stop = events.at(-1);
  if (stop?.type !== "message-stop") throw new Error("the message did not stop");
  return { events, blocks, stop };
}

const delta = (change: object, finish: string | null = null) => ({
  id: "c1",
  model: "m",
  choices: [{ index: 0, delta: change, finish_reason: finish }],
});
const callDelta = (...calls: object[]) => delta({ tool_calls: calls });
const finish = (reason = "stop") => delta({}, reason);
const call = (more: object, name?: string, args?: unknown) => ({
  ...more,
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
});
const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });

describe("an answer", () => {
  test("is thinking, text and calls, in that order, each block ended before the next", () => {
    const { events, blocks, stop } = read([
      delta({ role: "assistant", content: "" }),
      delta({ reasoning_content: "Let me" }),
      delta({ reasoning_content: " see" }),
      delta({ content: "I " }),
      delta({ content: "read." }),
      callDelta(call({ index: 0, id: "a" }, "Read", '{"path":')),
      callDelta(call({ index: 0 }, undefined, '"x"}')),
      finish("tool_calls"),
      "[DONE]",
    ]);
    expect(blocks).toEqual([
      { type: "thinking", thinking: "Let me see", signature: "" },
      { type: "text", text: "I read." },
      use("a", "Read", { path: "x" }),
    ]);
    expect(events[0]).toMatchObject({ type: "message-start", id: "c1", model: "m" });
    const kinds = events.map(({ type }) => type);
    expect(kinds.filter((kind) => kind === "block-start")).toHaveLength(3);
    expect(kinds.lastIndexOf("block-start")).toBeGreaterThan(kinds.indexOf("block-stop"));
    expect(stop.stopReason).toBe("tool_use");
  });

  test.each([
    ["reasoning", { reasoning: "hm" }, { type: "thinking", thinking: "hm", signature: "" }],
    ["both names at once", { reasoning_content: "hm", reasoning: "hm" }, { thinking: "hm" }],
    ["text in parts", { content: [{ type: "text", text: "hi" }, { type: "other" }] }, { text: "hi" }],
  ])("may be spelled with %s", (_, change, block) => {
    expect(read([delta(change), finish()]).blocks).toMatchObject([block]);
  });

  test("may come as one whole message in a chunk", () => {
    const message = { content: "hi", tool_calls: [call({ id: "a" }, "Now", "{}")] };
    const { blocks } = read([{ choices: [{ message, finish_reason: "tool_calls" }] }]);
    expect(blocks).toEqual([{ type: "text", text: "hi" }, use("a", "Now", {})]);
  });

  test("without id and model gets those we know", () => {
    const { events } = read([{ choices: [{ delta: { content: "hi" }, finish_reason: "stop" }] }]);
    expect(events[0]).toMatchObject({ id: expect.stringMatching(/./), model: "asked-for" });
  });

  test.each([
    ["stop", "end_turn"],
    ["length", "max_tokens"],
    ["content_filter", "refusal"],
    ["tool_calls", "end_turn"],
    ["eos", "end_turn"],
  ])("that finishes with %s has the stop reason %s", (reason, expected) => {
    expect(read([delta({ content: "hi" }), finish(reason)]).stop.stopReason).toBe(expected);
  });

  test("that is a refusal says so, in words too", () => {
    const { blocks, stop } = read([delta({ refusal: "No." }), finish()]);
    expect(blocks).toEqual([{ type: "text", text: "No." }]);
    expect(stop.stopReason).toBe("refusal");
  });

  test("is complete with its finish or with [DONE], and not before", () => {
    const started = open();
    started.read({ event: null, data: JSON.stringify(delta({ content: "hi" })) });
    expect([started.complete, started.finished]).toEqual([false, false]);
    started.read({ event: null, data: JSON.stringify(finish()) });
    expect([started.complete, started.finished]).toEqual([true, false]);
    started.read({ event: null, data: "[DONE]" });
    expect(started.finished).toBe(true);
    expect(read([delta({ content: "hi" }), "", "[DONE]"]).stop.stopReason).toBe("end_turn");
    expect(() => read(["[DONE]"])).toThrow("before it began");
  });

  test("takes only what belongs to its first choice", () => {
    const other = { choices: [{ index: 1, delta: { content: "other" } }] };
    expect(read([delta({ content: "hi" }), other, finish()]).blocks).toEqual([{ type: "text", text: "hi" }]);
  });
});

describe("calls", () => {
  const path = '{"path":"x"}';
  test.each<[string, object[], object[]]>([
    [
      "in one chunk each",
      [callDelta(call({ index: 0, id: "a" }, "Read", path))],
      [use("a", "Read", { path: "x" })],
    ],
    [
      "several in one chunk",
      [callDelta(call({ index: 0, id: "a" }, "Read", path), call({ index: 1, id: "b" }, "Now", "{}"))],
      [use("a", "Read", { path: "x" }), use("b", "Now", {})],
    ],
    [
      "with deltas that alternate",
      [
        callDelta(
          call({ index: 0, id: "a" }, "Read", '{"pa'),
          call({ index: 1, id: "b" }, "Read", '{"path"'),
        ),
        callDelta(call({ index: 1 }, undefined, ':"y"}'), call({ index: 0 }, undefined, 'th":"x"}')),
      ],
      [use("a", "Read", { path: "x" }), use("b", "Read", { path: "y" })],
    ],
    [
      "with a name in pieces",
      [
        callDelta(call({ index: 0, id: "a" }, "Todo")),
        callDelta(call({ index: 0 }, "Write", "")),
        callDelta(call({ index: 0 }, undefined, path)),
      ],
      [use("a", "TodoWrite", { path: "x" })],
    ],
    [
      "with the whole name in every delta",
      [
        callDelta(call({ index: 0, id: "a" }, "Read", "")),
        callDelta(call({ index: 0, id: "a" }, "Read", '{"path":')),
        callDelta(call({ index: 0, id: "a" }, "Read", '"x"}')),
      ],
      [use("a", "Read", { path: "x" })],
    ],
    [
      "that all have the number 0",
      [
        callDelta(call({ index: 0, id: "a" }, "Read", path)),
        callDelta(call({ index: 0, id: "b" }, "Read", path)),
      ],
      [use("a", "Read", { path: "x" }), use("b", "Read", { path: "x" })],
    ],
    [
      "that all have the number 0 and no id",
      [
        callDelta(call({ index: 0 }, "Now", "{}")),
        callDelta(call({ index: 0 }, "Read", path)),
        callDelta(call({ index: 0 }, "Read", '{"path":"y"}')),
      ],
      [
        use("call_new0", "Now", {}),
        use("call_new1", "Read", { path: "x" }),
        use("call_new2", "Read", { path: "y" }),
      ],
    ],
    [
      "without a number",
      [
        callDelta(call({ id: "a" }, "Read", '{"path":')),
        callDelta(call({}, undefined, '"x"}')),
        callDelta(call({ id: "b" }, "Now", "")),
      ],
      [use("a", "Read", { path: "x" }), use("b", "Now", {})],
    ],
    [
      "whose id is made anew for every delta",
      [
        callDelta(call({ index: 0, id: "a" }, "Read", '{"path":')),
        callDelta(call({ index: 0, id: "z" }, "", '"x"}')),
      ],
      [use("a", "Read", { path: "x" })],
    ],
    [
      "with an empty id",
      [callDelta(call({ index: 0, id: "" }, "Read", path))],
      [use("call_new0", "Read", { path: "x" })],
    ],
    [
      "with arguments that are an object",
      [callDelta(call({ index: 0, id: "a" }, "Read", { path: "x" }))],
      [use("a", "Read", { path: "x" })],
    ],
    ["with no arguments at all", [callDelta(call({ index: 0, id: "a" }, "Now"))], [use("a", "Now", {})]],
    [
      "with an empty object before the arguments",
      [callDelta(call({ index: 0, id: "a" }, "Read", "{}")), callDelta(call({ index: 0 }, undefined, path))],
      [use("a", "Read", { path: "x" })],
    ],
    [
      "with an empty object before the arguments, and the name again",
      [
        callDelta(call({ index: 0 }, "Read", "{}")),
        callDelta(call({ index: 0 }, "Read", path)),
        callDelta(call({ index: 1 }, "Now", "{}")),
      ],
      [use("call_new0", "Read", { path: "x" }), use("call_new1", "Now", {})],
    ],
    [
      "whose id comes late",
      [callDelta(call({ index: 0 }, "Read")), callDelta(call({ index: 0, id: "a" }, undefined, path))],
      [use("a", "Read", { path: "x" })],
    ],
    [
      "that are said again at the end",
      [
        callDelta(call({ index: 0, id: "a" }, "Read", path)),
        callDelta(call({ index: 0, id: "a" }, "Read", path)),
        callDelta(call({ index: 0 }, undefined, " ")),
      ],
      [use("a", "Read", { path: "x" })],
    ],
    [
      "of a tool that was not offered",
      [callDelta(call({ index: 0, id: "a" }, "Frob", path))],
      [use("a", "Frob", { path: "x" })],
    ],
    [
      "without the word function around them",
      [callDelta({ index: 0, id: "a", name: "Read", arguments: path })],
      [use("a", "Read", { path: "x" })],
    ],
  ])("%s", (_, chunks, blocks) => {
    for (const reason of ["tool_calls", "stop"]) {
      const answer = read([delta({ content: null, tool_calls: [] }), ...chunks, finish(reason)]);
      expect(answer.blocks).toEqual(blocks);
      expect(answer.stop.stopReason).toBe("tool_use");
    }
  });

  test("are handed on as soon as they are whole, not when the message is", () => {
    const reader = open();
    const take = (chunk: object) => reader.read({ event: null, data: JSON.stringify(chunk) });
    take(callDelta(call({ index: 0, id: "a" }, "Read", '{"path":"}{')));
    expect(take(callDelta(call({ index: 0 }, undefined, '\\"x"}'))).at(-1)).toEqual({
      type: "block-stop",
      index: 0,
    });
    expect(reader.complete).toBe(false);
  });

  test("that were cut off are told as they are", () => {
    const { events, stop } = read([callDelta(call({ index: 0, id: "a" }, "Read", '{"pa')), finish("length")]);
    expect(events.at(-2)).toEqual({ type: "block-stop", index: 0 });
    expect(stop.stopReason).toBe("max_tokens");
  });

  test("that nobody could understand are an error", () => {
    expect(() => read([callDelta(call({ index: 0, id: "a" }, undefined, path)), finish()])).toThrow("a name");
    expect(() => read([callDelta("Read" as never), finish()])).toThrow("not an object");
    const goesOn = [
      callDelta(call({ index: 0, id: "a" }, "Read", path)),
      callDelta(call({ index: 0 }, "", "more")),
    ];
    expect(() => read([...goesOn, finish()])).toThrow("go on after their end");
  });

  test("have the names of their tools, also those that the API cannot spell", () => {
    const name = `mcp__server.with.dots__${"long".repeat(20)}`;
    const wire = "mcp__server_with_dots__longlonglonglonglonglonglonglong";
    const offered = [{ name, description: "", inputSchema: {} }];
    const sent = callDelta(call({ index: 0, id: "a" }, toWireName(name), "{}"));
    expect(toWireName(name)).toMatch(new RegExp(`^${wire}_[0-9a-f]{8}$`));
    expect(read([sent, finish()], open(false, offered)).blocks).toEqual([use("a", name, {})]);
  });

  test("come out the same however the arguments are cut", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.array(fc.nat(), { maxLength: 8 }),
        fc.boolean(),
        (input, cuts, numbered) => {
          const json = JSON.stringify(input);
          const places = [...new Set(cuts.map((cut) => cut % json.length))].sort((a, b) => a - b);
          const pieces = [...places, json.length].map((end, at) => json.slice(places[at - 1] ?? 0, end));
          const key = numbered ? { index: 3 } : {};
          const chunks = pieces.map((piece, at) =>
            callDelta(at === 0 ? call({ ...key, id: "a" }, "Read", piece) : call(key, undefined, piece)),
          );
          expect(read([...chunks, finish()]).blocks).toEqual([use("a", "Read", JSON.parse(json))]);
        },
      ),
    );
  });
});

describe("usage", () => {
  test("tells cached and fresh tokens apart", () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 20,
      prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 100 },
    };
    expect(read([delta({ content: "hi" }), finish(), { choices: [], usage }, "[DONE]"]).stop.usage).toEqual({
      inputTokens: 300,
      outputTokens: 20,
      cacheReadTokens: 600,
      cacheWriteTokens: 100,
    });
  });

  test("may stand in any chunk, the last one counts", () => {
    const first = { ...delta({ content: "hi" }), usage: { prompt_tokens: 10, completion_tokens: 1 } };
    const last = { ...finish(), usage: { prompt_tokens: 10, completion_tokens: 7 } };
    expect(read([first, last]).stop.usage).toMatchObject({ inputTokens: 10, outputTokens: 7 });
  });

  test.each([[undefined], [null], [{}], [{ prompt_tokens: 0, completion_tokens: 0 }]])(
    "that is missing (%j) is estimated",
    (usage) => {
      const { events, stop } = read([delta({ content: "x".repeat(40) }), { ...finish(), usage }]);
      expect(stop.usage).toMatchObject({ inputTokens: 100, outputTokens: 10 });
      expect(events[0]).toMatchObject({ usage: { inputTokens: 100 } });
    },
  );
});

describe("a call that was written as text", () => {
  const json = '{"name": "Read", "arguments": {"path": "x"}}';
  const inPieces = (text: string) => [...text].map((content) => delta({ content }));

  test.each([
    ["bare", json],
    ["in a fence", `\`\`\`json\n${json}\n\`\`\``],
    ["in a fence without a language", `\`\`\`\n${json}\n\`\`\`\n`],
    ["in tags", `\n<tool_call>\n${json}\n</tool_call>`],
    ["in tags of which the last is lost", `<tool_call>${json}`],
    ["with parameters", '{"name":"Read","parameters":{"path":"x"}}'],
    [
      "as it should have been sent",
      `{"type":"function","function":{"name":"Read","arguments":"{\\"path\\":\\"x\\"}"}}`,
    ],
  ])("%s is made, and the text is not shown", (_, text) => {
    const { blocks, stop, events } = read([...inPieces(text), finish()], open(true));
    expect(blocks).toEqual([use("call_new0", "Read", { path: "x" })]);
    expect(stop.stopReason).toBe("tool_use");
    expect(JSON.stringify(events)).not.toContain('"type":"text"');
  });

  test.each([
    ["words before it", `I will read it: ${json}`],
    ["words after it", `${json}\nThat would do it.`],
    ["two of them", `${json}\n${json}`],
    ["a tool that was not offered", '{"name":"Frob","arguments":{"path":"x"}}'],
    ["an argument that is missing", '{"name":"Read","arguments":{}}'],
    ["an argument that is unknown", '{"name":"Read","arguments":{"path":"x","force":true}}'],
    ["arguments that are a list", '{"name":"Read","arguments":["x"]}'],
    ["a key too many", '{"name":"Read","arguments":{"path":"x"},"comment":"as you asked"}'],
    ["a list", `[${json}]`],
    ["half of one", '{"name": "Read", "arguments": {"path"'],
    ["JSON about something else", '{"name":"left-pad","version":"1.0.0"}'],
    ["code", "```json\n{}\n```"],
    ["a fence in another language", `\`\`\`js\n${json}\n\`\`\``],
    ["a tag", "<tool"],
    ["white space", " \n"],
  ])("with %s stays a text", (_, text) => {
    const { blocks, stop } = read([...inPieces(text), finish()], open(true));
    expect(blocks).toEqual([{ type: "text", text }]);
    expect(stop.stopReason).toBe("end_turn");
  });

  test("stays a text where calls are not recovered, without tools, beside a real call, and when cut off", () => {
    const text = [{ type: "text", text: json }];
    expect(read([...inPieces(json), finish()], open(false)).blocks).toEqual(text);
    expect(read([...inPieces(json), finish()], open(true, [])).blocks).toEqual(text);
    expect(read([...inPieces(json), finish("length")], open(true)).blocks).toEqual(text);
    const real = callDelta(call({ index: 0, id: "a" }, "Read", '{"path":"y"}'));
    const beside = read([...inPieces(json), real, finish()], open(true));
    expect(beside.blocks).toEqual([...text, use("a", "Read", { path: "y" })]);
  });

  test("holds nothing back that cannot become a call", () => {
    const reader = open(true);
    const seen = ["He", "llo"].map((content) =>
      reader.read({ event: null, data: JSON.stringify(delta({ content })) }).map(({ type }) => type),
    );
    expect(seen).toEqual([["message-start", "block-start", "block-delta"], ["block-delta"]]);
    const about = open(true);
    const chunks = inPieces('{"name":"left-pad","version"');
    const events = chunks.flatMap((chunk) => about.read({ event: null, data: JSON.stringify(chunk) }));
    expect(events.filter(({ type }) => type === "block-delta").length).toBeGreaterThan(5);
  });
});

describe("an error in the stream", () => {
  test.each<[object | string, Partial<ModelError>]>([
    [{ error: { message: "Slow down", type: "x", code: "rate_limit_exceeded" } }, { kind: "overloaded" }],
    [{ error: { message: "Oops", type: "server_error" } }, { kind: "unavailable" }],
    [{ error: { message: "Late", code: 502 } }, { kind: "unavailable", status: 502 }],
    [{ error: { message: "Too fast", code: "429" } }, { kind: "overloaded", status: 429 }],
    [{ error: { message: "long", code: "context_length_exceeded" } }, { kind: "prompt-too-long" }],
    [{ error: "out of memory" }, { kind: "unavailable" }],
    [{ object: "error", message: "bad", type: "invalid_request_error" }, { kind: "rejected" }],
    [{ error: { message: "no money", code: "insufficient_quota" } }, { kind: "rejected" }],
  ])("%j has its kind", (chunk, expected) => {
    const attempt = () => read([delta({ content: "so far" }), chunk]);
    expect(attempt).toThrow(ModelError);
    expect(attempt).toThrow(expect.objectContaining(expected));
  });

  test("may be null without meaning one", () => {
    expect(read([{ ...delta({ content: "hi" }), error: null }, finish()]).blocks).toHaveLength(1);
  });

  test.each(["{oops", "42", "null", "[]"])("that is no chunk at all (%s) is malformed", (data) => {
    expect(() => read([data])).toThrow(expect.objectContaining({ name: "MalformedStream" }));
  });
});
