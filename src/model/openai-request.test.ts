import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createScope } from "../base/cancellation.ts";
import type { Block, Message, ResultContentBlock } from "../contracts/message.ts";
import type { ModelRequest } from "./model.ts";
import { createChatSerializer } from "./openai-request.ts";
import { toWireName } from "./openai-tool-name.ts";

let nextId = 0;
function message(role: Message["role"], content: Block[]): Message {
  nextId += 1;
  return { uuid: `u${nextId}`, parentUuid: null, timestamp: "2026-01-01T00:00:00Z", role, content };
}

const text = (words: string): Block => ({ type: "text", text: words });
const image: Extract<Block, { type: "image" }> = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: "aGk=" },
};
const pdf: Block = {
  type: "document",
  title: "plan",
  source: { type: "base64", media_type: "application/pdf", data: "cGRm" },
};
const tools = [{ name: "Read", description: "Reads", inputSchema: { type: "object" } }];

function request(messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: "Be brief.",
    tools,
    messages,
    cacheMarks: [],
    maxOutputTokens: 4096,
    scope: createScope(),
    ...more,
  };
}

interface Options {
  readonly modelId?: string;
  readonly acceptsDocuments?: boolean;
}

function serialize(
  messages: readonly Message[],
  more: Partial<ModelRequest> = {},
  { modelId = "qwen", acceptsDocuments = false }: Options = {},
) {
  const serializer = createChatSerializer({ modelId, acceptsDocuments });
  return JSON.parse(serializer.serialize(request(messages, more)));
}

/** The messages after the system prompt. */
const sent = (messages: readonly Message[], options?: Options) =>
  serialize(messages, {}, options).messages.slice(1);

describe("a request", () => {
  test("has the system prompt first, tools as functions, and asks for the usage", () => {
    expect(serialize([message("user", [text("hello")])])).toEqual({
      model: "qwen",
      max_tokens: 4096,
      stream: true,
      stream_options: { include_usage: true },
      tools: [
        {
          type: "function",
          function: { name: "Read", description: "Reads", parameters: { type: "object" } },
        },
      ],
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello" },
      ],
    });
  });

  test("leaves out what is empty", () => {
    const body = serialize([message("user", [text("hello")])], { system: " ", tools: [] });
    expect(body).not.toHaveProperty("tools");
    expect(body.messages).toHaveLength(1);
  });

  test.each([
    ["gpt-4o", "max_tokens"],
    ["gpt-5-mini", "max_completion_tokens"],
    ["o3", "max_completion_tokens"],
    ["gpt-oss:20b", "max_tokens"],
    ["llama3", "max_tokens"],
  ])("to %s names the limit %s", (modelId, field) => {
    expect(serialize([message("user", [text("x")])], {}, { modelId })).toHaveProperty(field, 4096);
  });

  test.each<[string, boolean, number | undefined, string | undefined]>([
    ["o3", true, 8192, "medium"],
    ["gpt-5", true, 1024, "low"],
    ["gpt-5.4", true, 32_000, undefined],
    ["gpt-5.4", false, 32_000, "high"],
    ["gpt-6.1-sol", true, 8192, "none"],
    ["gpt-6.1-sol", true, undefined, "none"],
    ["gpt-6.1-sol", false, undefined, undefined],
    ["openai/gpt-6.1-sol", true, 8192, undefined],
    ["qwen", true, 8192, undefined],
  ])(
    "to %s with tools (%s) and a budget of %s has the effort %s",
    (modelId, withTools, budgetTokens, effort) => {
      const body = serialize(
        [message("user", [text("x")])],
        {
          ...(budgetTokens !== undefined && { thinking: { budgetTokens } }),
          ...(withTools ? {} : { tools: [] }),
        },
        { modelId },
      );
      expect(body.reasoning_effort).toBe(effort);
    },
  );
});

describe("messages", () => {
  test("of a person are one text where a text is enough", () => {
    expect(sent([message("user", [text("a"), text(" "), text("b")])])).toEqual([
      { role: "user", content: "a\n\nb" },
    ]);
  });

  test("with images carry them as data", () => {
    expect(sent([message("user", [text("look"), image])])).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
        ],
      },
    ]);
  });

  test("with documents carry them where that is possible, and say so where it is not", () => {
    expect(sent([message("user", [pdf])], { acceptsDocuments: true })[0].content).toEqual([
      { type: "file", file: { filename: "plan", file_data: "data:application/pdf;base64,cGRm" } },
    ]);
    expect(sent([message("user", [pdf])])[0].content).toMatch(/"plan".*cannot be shown/);
  });

  test("of the model have no thinking in them", () => {
    const thinking: Block = { type: "thinking", thinking: "hm", signature: "sig" };
    const hidden: Block = { type: "redacted_thinking", data: "x" };
    expect(sent([message("assistant", [thinking, hidden, text("so")])])).toEqual([
      { role: "assistant", content: "so" },
    ]);
    expect(sent([message("assistant", [thinking]), message("user", [text("go on")])])).toEqual([
      { role: "user", content: "go on" },
    ]);
  });

  test("with calls have the input as text", () => {
    const call: Block = { type: "tool_use", id: "a", name: "Read", input: { path: "é", half: "\ud83d" } };
    const [sentCall] = sent([message("assistant", [call])]);
    expect(sentCall).toMatchObject({
      role: "assistant",
      content: null,
      tool_calls: [{ id: "a", type: "function", function: { name: "Read" } }],
    });
    expect(JSON.parse(sentCall.tool_calls[0].function.arguments)).toEqual({ path: "é", half: "\ufffd" });
  });

  test("with results have one message for each, and what was said comes after them", () => {
    const results: Block[] = [
      text("by the way"),
      { type: "tool_result", tool_use_id: "a", content: "fine" },
      { type: "tool_result", tool_use_id: "b", content: "not found", is_error: true },
      { type: "tool_result", tool_use_id: "c", content: "Error: known", is_error: true },
      { type: "tool_result", tool_use_id: "d", content: [] },
    ];
    expect(sent([message("user", results)])).toEqual([
      { role: "tool", tool_call_id: "a", content: "fine" },
      { role: "tool", tool_call_id: "b", content: "Error: not found" },
      { role: "tool", tool_call_id: "c", content: "Error: known" },
      { role: "tool", tool_call_id: "d", content: "" },
      { role: "user", content: "by the way" },
    ]);
  });

  test("move the images of results behind all results", () => {
    const results: Block[] = [
      { type: "tool_result", tool_use_id: "a", content: [{ type: "text", text: "here" }, image, pdf] },
      { type: "tool_result", tool_use_id: "b", content: "fine" },
    ];
    expect(sent([message("user", results)])).toEqual([
      {
        role: "tool",
        tool_call_id: "a",
        content: expect.stringMatching(
          /^here\n\[The image follows in the next message\.\]\n\[A document "plan"/,
        ),
      },
      { role: "tool", tool_call_id: "b", content: "fine" },
      {
        role: "user",
        content: [
          { type: "text", text: "From the result of the call a:" },
          { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
        ],
      },
    ]);
  });
});

describe("names of tools", () => {
  test("that the API cannot spell are replaced, in the list and in calls alike", () => {
    const name = "mcp__files.local__read/file";
    const body = serialize([message("assistant", [{ type: "tool_use", id: "a", name, input: {} }])], {
      tools: [{ name, description: "", inputSchema: {} }],
    });
    const wire = body.tools[0].function.name;
    expect(wire).toMatch(/^[\w-]{1,64}$/);
    expect(body.messages[1].tool_calls[0].function.name).toBe(wire);
  });

  test("stay apart and keep within the limit", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ maxLength: 120 }), { minLength: 2, maxLength: 5 }), (names) => {
        const wire = names.map(toWireName);
        expect(new Set(wire).size).toBe(names.length);
        for (const name of wire) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      }),
    );
    expect(toWireName("Read")).toBe("Read");
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
    fc.record({
      type: fc.constant("tool_result" as const),
      tool_use_id: fc.string(),
      content: fc.oneof(fc.string(), fc.constant<ResultContentBlock[]>([image])),
    }),
  );
  const role = fc.constantFrom("user" as const, "assistant" as const);

  test("each request begins with the whole previous one", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(role, fc.array(block, { maxLength: 4 })), { minLength: 2, maxLength: 12 }),
        (contents) => {
          const serializer = createChatSerializer({ modelId: "m", acceptsDocuments: false });
          const messages = contents.map(([who, content]) => message(who, content));
          let previous = "";
          for (let count = 1; count <= messages.length; count += 1) {
            const body = serializer.serialize(request(messages.slice(0, count)));
            expect(() => JSON.parse(body)).not.toThrow();
            // The end of the array and of the body.
            const bytes = body.slice(0, -2);
            expect(bytes.startsWith(previous)).toBe(true);
            previous = bytes;
          }
        },
      ),
    );
  });

  test("a history that was read from disk again, or with another serializer, gives the same bytes", () => {
    const messages = [
      message("user", [text("héllo \u{1f600}"), image]),
      message("assistant", [{ type: "tool_use", id: "t", name: "a.b", input: { z: 1, a: { 10: 1 } } }]),
    ];
    const again = JSON.parse(JSON.stringify(messages)) as Message[];
    const bytes = (history: Message[]) =>
      createChatSerializer({ modelId: "m", acceptsDocuments: false }).serialize(request(history));
    expect(bytes(again)).toBe(bytes(messages));
  });

  test("conversations that begin alike do not get into each other", () => {
    const serializer = createChatSerializer({ modelId: "m", acceptsDocuments: false });
    const first = message("user", [text("first")]);
    const bodies = ["one", "other"].map((words) => {
      const messages = [first, message("user", [text(words)]), message("user", [text("end")])];
      return JSON.parse(serializer.serialize(request(messages, { system: "" }))).messages;
    });
    expect(bodies.map((messages) => messages[1].content)).toEqual(["one", "other"]);
  });

  test("a message is serialised once, however often it is sent", () => {
    let reads = 0;
    const content = [text("hello")];
    const counted = Object.defineProperty(message("user", []), "content", {
      get() {
        reads += 1;
        return content;
      },
    });
    const serializer = createChatSerializer({ modelId: "m", acceptsDocuments: false });
    serializer.serialize(request([counted]));
    const afterOne = reads;
    for (let turn = 0; turn < 5; turn += 1) {
      serializer.serialize(request([counted]));
      serializer.promptTokensOf(request([counted]));
    }
    expect(reads).toBe(afterOne);
  });
});

test("the prompt is estimated by its characters, and an image by itself", () => {
  const serializer = createChatSerializer({ modelId: "m", acceptsDocuments: false });
  const tokens = (content: Block[]) =>
    serializer.promptTokensOf(request([message("user", content)], { system: "", tools: [] }));
  expect(tokens([text("x".repeat(4000))])).toBeGreaterThanOrEqual(1000);
  expect(tokens([text("x".repeat(4000))])).toBeLessThan(1020);
  const big: Block = {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "A".repeat(1e6) },
  };
  expect(tokens([big])).toBeLessThan(1100);
  expect(tokens([{ type: "tool_result", tool_use_id: "a", content: [big as never] }])).toBeLessThan(1100);
});
