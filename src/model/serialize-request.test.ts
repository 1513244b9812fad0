import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createScope } from "../base/cancellation.ts";
import type { Block, Message } from "../contracts/message.ts";
import type { ModelRequest, ToolDescription } from "./model.ts";
import { placeCacheMarks } from "./prompt-cache.ts";
import { createRequestSerializer } from "./serialize-request.ts";

const mark = { type: "ephemeral" };
const tools: ToolDescription[] = [
  { name: "Read", description: "Reads", inputSchema: { type: "object", properties: { path: {} } } },
  { name: "Bash", description: "Runs", inputSchema: { type: "object" } },
];

let nextId = 0;
function message(role: Message["role"], content: Block[]): Message {
  nextId += 1;
  return { uuid: `u${nextId}`, parentUuid: null, timestamp: "2026-01-01T00:00:00Z", role, content };
}

function text(value: string): Block {
  return { type: "text", text: value };
}

function request(messages: Message[], more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: "You are an agent.",
    tools,
    messages,
    cacheMarks: placeCacheMarks({ messageCount: messages.length }),
    maxOutputTokens: 4096,
    scope: createScope(),
    ...more,
  };
}

function serialize(messages: Message[], more: Partial<ModelRequest> = {}, modelId = "claude-haiku-4-5") {
  return JSON.parse(createRequestSerializer({ modelId }).serialize(request(messages, more)));
}

describe("the time to live", () => {
  const messages = [
    message("user", [text("one")]),
    message("assistant", [text("two")]),
    message("user", [text("three")]),
  ];
  const cacheMarks = [0, 2];
  const serializer = createRequestSerializer({ modelId: "claude-haiku-4-5" });
  const send = (cacheTtl?: "5m" | "1h") => serializer.serialize(request(messages, { cacheMarks, cacheTtl }));
  const withoutMarks = (body: string) => body.replaceAll(/,"cache_control":\{[^}]*\}/g, "");

  test("is that of the request for all its marks, so that none follows a shorter one", () => {
    expect(send("1h").match(/"cache_control":\{[^}]*\}/g)).toEqual(
      Array(4).fill('"cache_control":{"type":"ephemeral","ttl":"1h"}'),
    );
    expect(send().match(/"cache_control":\{[^}]*\}/g)).toEqual(
      Array(4).fill('"cache_control":{"type":"ephemeral"}'),
    );
    expect(send("5m")).toBe(send());
  });

  test("changes nothing else, in whatever order they are sent", () => {
    expect(withoutMarks(send("1h"))).toBe(withoutMarks(send("5m")));
    expect(send("1h")).toBe(send("1h"));
  });

  test("of the provider is used where the request has none", () => {
    const hourly = createRequestSerializer({ modelId: "claude-haiku-4-5", ttl: "1h" });
    expect(hourly.serialize(request(messages, { cacheMarks }))).toBe(send("1h"));
  });
});

describe("what is sent", () => {
  test("is a Messages API request with marks on the last tool, the system prompt and the last message", () => {
    expect(serialize([message("user", [text("hello")])])).toEqual({
      model: "claude-haiku-4-5",
      max_tokens: 4096,
      stream: true,
      tools: [
        { name: "Read", description: "Reads", input_schema: { type: "object", properties: { path: {} } } },
        { name: "Bash", description: "Runs", input_schema: { type: "object" }, cache_control: mark },
      ],
      system: [{ type: "text", text: "You are an agent.", cache_control: mark }],
      messages: [{ role: "user", content: [{ type: "text", text: "hello", cache_control: mark }] }],
    });
  });

  test("leaves out what is empty: tools, system prompt, thinking", () => {
    const body = serialize([message("user", [text("hello")])], { tools: [], system: " \n" });
    expect(Object.keys(body)).toEqual(["model", "max_tokens", "stream", "messages"]);
  });

  test("spells every kind of block as the provider does, and nothing beyond", () => {
    const stored: Block[] = [
      { type: "thinking", thinking: "hm", signature: "sig" },
      { type: "redacted_thinking", data: "opaque" },
      { type: "tool_use", id: "t1", name: "Read", input: { path: "/a", deep: [{ b: null }] } },
    ];
    const results: Block[] = [
      { type: "tool_result", tool_use_id: "t1", content: "no", is_error: true },
      { type: "tool_result", tool_use_id: "t2", content: "yes", is_error: false },
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } },
      {
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data: "AA==" },
        title: "T",
      },
    ];
    const body = serialize([message("assistant", stored), message("user", results)], { cacheMarks: [] });
    expect(body.messages[0].content).toEqual(stored);
    expect(body.messages[1].content).toEqual([
      { type: "tool_result", tool_use_id: "t1", content: "no", is_error: true },
      { type: "tool_result", tool_use_id: "t2", content: "yes" },
      ...results.slice(2),
    ]);
    expect(Object.keys(body.messages[0])).toEqual(["role", "content"]);
  });

  test("never holds an empty text block, not even within a result, nor a message without blocks", () => {
    const body = serialize([
      message("user", [text("a"), text(""), text(" \n\t")]),
      message("assistant", [text("")]),
      message("user", [
        { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "" }] },
        { type: "tool_result", tool_use_id: "t2", content: "" },
      ]),
    ]);
    expect(body.messages).toEqual([
      { role: "user", content: [{ type: "text", text: "a" }] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "t1" },
          { type: "tool_result", tool_use_id: "t2", cache_control: mark },
        ],
      },
    ]);
  });

  test("leaves out thinking that lost its signature", () => {
    const cut = message("assistant", [{ type: "thinking", thinking: "half", signature: "" }, text("so")]);
    expect(serialize([cut]).messages[0].content).toEqual([{ type: "text", text: "so", cache_control: mark }]);
  });

  test("replaces halves of characters, and only those", () => {
    const broken = "cut \ud83d, whole \u{1f600}, spelled \\ud83d, \\\\ud83d, late \udc00";
    const raw = createRequestSerializer({ modelId: "m" }).serialize(
      request([message("user", [text(broken)])]),
    );
    expect(JSON.parse(raw).messages[0].content[0].text).toBe(
      "cut \ufffd, whole \u{1f600}, spelled \\ud83d, \\\\ud83d, late \ufffd",
    );
  });

  test("asks old models to think with a budget that fits the limit, and new ones to decide", () => {
    const hello = [message("user", [text("hello")])];
    const thinking = { budgetTokens: 8000 };
    expect(serialize(hello, { thinking, maxOutputTokens: 16_000 }).thinking).toEqual({
      type: "enabled",
      budget_tokens: 8000,
    });
    expect(serialize(hello, { thinking, maxOutputTokens: 4096 }).thinking.budget_tokens).toBe(4095);
    expect(serialize(hello, { thinking }, "claude-opus-5-5").thinking).toEqual({ type: "adaptive" });
  });
});

describe("marks", () => {
  test("stand on the last block that may carry one", () => {
    const thinking: Block = { type: "thinking", thinking: "hm", signature: "s" };
    const body = serialize([message("assistant", [text("a"), text("b"), thinking])]);
    expect(body.messages[0].content).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "b", cache_control: mark },
      thinking,
    ]);
  });

  test("are left out of a message that has no such block", () => {
    const only: Block = { type: "redacted_thinking", data: "x" };
    expect(serialize([message("assistant", [only])]).messages[0].content).toEqual([only]);
  });

  test("are never more than four, and never outside the history", () => {
    const messages = Array.from({ length: 6 }, (_, index) => message("user", [text(`m${index}`)]));
    const body = serialize(messages, { cacheMarks: [0, 2, 2, 3, 5] });
    const marked = body.messages.flatMap((sent: { content: object[] }, index: number) =>
      sent.content.some((block) => "cache_control" in block) ? [index] : [],
    );
    expect(marked).toEqual([3, 5]);
    expect(() => serialize(messages, { cacheMarks: [-1, 99] })).not.toThrow();
  });

  test("live for an hour when that is asked for", () => {
    const serializer = createRequestSerializer({ modelId: "m", ttl: "1h" });
    const body = JSON.parse(serializer.serialize(request([message("user", [text("hello")])])));
    expect(body.system[0].cache_control).toEqual({ type: "ephemeral", ttl: "1h" });
  });
});

describe("byte stability", () => {
  const block: fc.Arbitrary<Block> = fc.oneof(
    fc.record({ type: fc.constant("text" as const), text: fc.string({ unit: "binary" }) }),
    fc.record({
      type: fc.constant("thinking" as const),
      thinking: fc.string(),
      signature: fc.string({ maxLength: 3 }),
    }),
    fc.record({
      type: fc.constant("tool_use" as const),
      id: fc.string(),
      name: fc.string(),
      input: fc.dictionary(fc.string(), fc.jsonValue()),
    }),
    fc.record({ type: fc.constant("tool_result" as const), tool_use_id: fc.string(), content: fc.string() }),
  );

  test("without its marks, each request begins with the whole previous one", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(block, { maxLength: 4 }), { minLength: 2, maxLength: 12 }),
        (contents) => {
          const serializer = createRequestSerializer({ modelId: "m" });
          const messages = contents.map((content) => message("user", content));
          let previous: { bytes: string; count: number } | undefined;
          for (let count = 1; count <= messages.length; count += 1) {
            const cacheMarks = placeCacheMarks({
              messageCount: count,
              previousMessageCount: previous?.count,
            });
            const sent = serializer.serialize(request(messages.slice(0, count), { cacheMarks }));
            // The end of the array and of the body.
            const bytes = withoutMarks(sent).slice(0, -2);
            if (previous !== undefined) expect(bytes.startsWith(previous.bytes)).toBe(true);
            expect(() => JSON.parse(sent)).not.toThrow();
            previous = { bytes, count };
          }
        },
      ),
    );
  });

  test("a history that was read from disk again gives the same bytes", () => {
    const messages = [
      message("user", [text("héllo \u{1f600}")]),
      message("assistant", [
        { type: "tool_use", id: "t", name: "Read", input: { z: 1, a: { 10: 1, 2: 2 } } },
      ]),
    ];
    const again = JSON.parse(JSON.stringify(messages)) as Message[];
    const bytes = (history: Message[]) =>
      createRequestSerializer({ modelId: "m" }).serialize(request(history));
    expect(bytes(again)).toBe(bytes(messages));
  });

  test("a message and a tool are serialised once, however often they are sent", () => {
    let reads = 0;
    const counted = message("user", [text("hello")]);
    const content = counted.content;
    Object.defineProperty(counted, "content", {
      get() {
        reads += 1;
        return content;
      },
    });
    const serializer = createRequestSerializer({ modelId: "m" });
    for (let turn = 0; turn < 5; turn += 1) serializer.serialize(request([counted]));
    expect(reads).toBe(1);
  });

  test("a tool list that grew is sent as it is now", () => {
    let growing = [...tools];
    const serializer = createRequestSerializer({ modelId: "m" });
    const sent = () =>
      JSON.parse(serializer.serialize(request([message("user", [text("x")])], { tools: growing })));
    expect(sent().tools).toHaveLength(2);
    growing = [...growing, { name: "New", description: "", inputSchema: {} }];
    expect(sent().tools.map((tool: object) => "cache_control" in tool)).toEqual([false, false, true]);
  });
});

function withoutMarks(body: string): string {
  return body.replaceAll(',"cache_control":{"type":"ephemeral"}', "");
}
