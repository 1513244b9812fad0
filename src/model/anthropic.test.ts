import { afterEach, describe, expect, test } from "vitest";
import { createScope } from "../base/cancellation.ts";
import { createNodeWorld } from "../base/world/node-world.ts";
import type { World } from "../base/world.ts";
import type { Block } from "../contracts/message.ts";
import { collectAnswer, failureOfModel, messageOf, requestOf } from "../testing/ask-model.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import type { MockRequest } from "../testing/mock-dialect.ts";
import { type MockAnswer, type MockProvider, startMockProvider } from "../testing/mock-provider.ts";
import { createWatchedScope } from "../testing/watched-scope.ts";
import { type AnthropicOptions, createAnthropicModel } from "./anthropic.ts";
import type { Model, ModelRequest } from "./model.ts";
import type { ModelError } from "./model-error.ts";
import { placeCacheMarks } from "./prompt-cache.ts";

const apiKey = "sk-ant-very-secret";
const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function provide(
  answer: MockAnswer | ((request: MockRequest, index: number) => MockAnswer | Promise<MockAnswer>),
): Promise<MockProvider> {
  const provider = await startMockProvider({
    answer: typeof answer === "function" ? answer : () => answer,
  });
  cleanUps.push(() => provider.close());
  return provider;
}

function connect(baseUrl: string, more: Partial<AnthropicOptions> & { clock?: World["clock"] } = {}): Model {
  const world = createNodeWorld({ env: {} });
  cleanUps.push(() => world.network.close());
  const { clock = world.clock, ...options } = more;
  return createAnthropicModel({
    world: { clock, network: world.network },
    id: "claude-haiku-4-5",
    baseUrl,
    ...(options.authToken === undefined ? { apiKey } : {}),
    ...options,
  });
}

const failureOf = (model: Model, request?: Partial<ModelRequest>) =>
  failureOfModel(model, { secret: apiKey, ...(request && { request }) });

function sse(...events: (string | object)[]): string {
  return events
    .map((event) => {
      const data = typeof event === "string" ? event : JSON.stringify(event);
      const type = typeof event === "string" ? "message_start" : (event as { type?: string }).type;
      return `event: ${type}\ndata: ${data}\n\n`;
    })
    .join("");
}

const start = { type: "message_start", message: { id: "m", model: "c", usage: {} } };
const everyBlock: Block[] = [
  { type: "thinking", thinking: "Let me see…", signature: "c2ln" },
  { type: "redacted_thinking", data: "b3BhcXVl" },
  { type: "text", text: "Grüße, \u{1f468}‍\u{1f469}‍\u{1f467}, and\r\nlines\u2028here" },
  { type: "tool_use", id: "toolu_1", name: "Read", input: { path: "/tmp/ünï.txt", lines: [1, 2] } },
  { type: "tool_use", id: "toolu_2", name: "Now", input: {} },
];

describe("an answer", () => {
  test("streams all kinds of blocks, with usage and stop reason", async () => {
    const provider = await provide(everyBlock as MockAnswer);
    const { events, blocks, end } = await collectAnswer(connect(provider.url));
    expect(blocks).toEqual(everyBlock);
    expect(events[0]).toMatchObject({ type: "message-start", id: "msg_0", model: "claude-haiku-4-5" });
    expect(end).toMatchObject({ type: "message-stop", stopReason: "tool_use" });
    expect(end?.type === "message-stop" && end.usage.inputTokens).toBeGreaterThan(0);
    expect(end?.type === "message-stop" && end.usage.outputTokens).toBeGreaterThan(1);
  });

  test.each([1, 7, 1000])("is the same in pieces of %d bytes", async (chunkBytes) => {
    const provider = await provide({ blocks: everyBlock as [], chunkBytes });
    expect((await collectAnswer(connect(provider.url))).blocks).toEqual(everyBlock);
  });

  test("hands each event on as it comes, not when all is there", async () => {
    const seen: string[] = [];
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let pieces = 0;
    const pace = () => {
      pieces += 1;
      // Message start, ping, block start, first half; the second half waits for the reader.
      return pieces <= 4 ? Promise.resolve() : gate;
    };
    const provider = await provide({ blocks: [{ type: "text", text: "ab" }], pace });
    for await (const event of connect(provider.url).stream(requestOf())) {
      seen.push(event.type);
      if (event.type === "block-delta") release();
    }
    expect(seen).toEqual([
      "message-start",
      "block-start",
      "block-delta",
      "block-delta",
      "block-stop",
      "message-stop",
    ]);
  });

  test("works with line ends of all kinds and comments in the stream", async () => {
    const body = sse(
      start,
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
      { type: "message_stop" },
    );
    const provider = await provide({ raw: `: comment\r\n\r\n${body.replaceAll("\n", "\r\n")}` });
    expect((await collectAnswer(connect(provider.url))).end).toMatchObject({ stopReason: "end_turn" });
  });

  test("leaves its connection for the next request", async () => {
    const provider = await provide([{ type: "text", text: "ok" }]);
    const model = connect(provider.url);
    for (let turn = 0; turn < 3; turn += 1) await collectAnswer(model);
    expect(provider.requests).toHaveLength(3);
    expect(provider.connectionCount()).toBe(1);
  });

  test("that has ended is handed out although the server keeps the connection open", async () => {
    const provider = await provide({ blocks: [{ type: "text", text: "ok" }], silentAfter: 99 });
    expect((await collectAnswer(connect(provider.url))).end).toMatchObject({ type: "message-stop" });
  });
});

describe("a request", () => {
  test("carries key, version and headers, and nothing from the process environment", async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      ANTHROPIC_API_KEY: "sk-from-env",
      ANTHROPIC_AUTH_TOKEN: "token-from-env",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
      ANTHROPIC_CUSTOM_HEADERS: "x-from-env: leaked",
    });
    cleanUps.push(() => {
      process.env = before;
    });
    const provider = await provide([{ type: "text", text: "ok" }]);
    await collectAnswer(connect(provider.url, { headers: { "x-team": "seven" } }));
    await collectAnswer(connect(provider.url, { authToken: "my-token" }));
    const [first, second] = provider.requests;
    expect(first?.path).toBe("/v1/messages");
    expect(first?.headers).toMatchObject({
      "content-type": "application/json",
      "anthropic-version": expect.stringMatching(/^\d{4}-/),
      "x-team": "seven",
    });
    const credentials = (headers: object = {}) => JSON.stringify(headers);
    expect(credentials(first?.headers)).toContain(apiKey);
    expect(credentials(first?.headers)).not.toContain("from-env");
    expect(credentials(second?.headers)).toContain("Bearer my-token");
    expect(credentials(second?.headers)).not.toContain("from-env");
  });

  test("goes to the same place whether or not the base URL ends with a slash or the version", async () => {
    const provider = await provide([{ type: "text", text: "ok" }]);
    for (const suffix of ["", "/", "/v1", "/v1/"]) await collectAnswer(connect(provider.url + suffix));
    expect(new Set(provider.requests.map(({ path }) => path))).toEqual(new Set(["/v1/messages"]));
  });

  test("grows only at its end over 30 turns, and is read from the cache", async () => {
    const provider = await provide((_, index) => [
      { type: "thinking", thinking: `Step ${index}`, signature: `s${index}` },
      ...Array.from({ length: 25 }, (__, call) => ({
        type: "tool_use" as const,
        id: `t${index}_${call}`,
        name: "Read",
        input: { path: `/f${index}/${call}`, n: index },
      })),
    ]);
    const model = connect(provider.url);
    const tools = [
      { name: "Read", description: "Reads a file. ".repeat(300), inputSchema: { type: "object" } },
    ];
    const messages = [messageOf("user", [{ type: "text", text: "Go on." }])];
    let previousMessageCount: number | undefined;
    for (let turn = 0; turn < 30; turn += 1) {
      const cacheMarks = placeCacheMarks({ messageCount: messages.length, previousMessageCount });
      previousMessageCount = messages.length;
      const { blocks } = await collectAnswer(model, { messages: [...messages], tools, cacheMarks });
      messages.push(messageOf("assistant", blocks));
      const results = blocks.flatMap((block): Block[] =>
        block.type === "tool_use"
          ? [{ type: "tool_result", tool_use_id: block.id, content: `content of ${block.input.path}` }]
          : [],
      );
      messages.push(messageOf("user", results));
    }

    const bodies = provider.requests.map(({ raw }) => raw.toString("utf8"));
    expect(bodies).toHaveLength(30);
    for (const [index, body] of bodies.entries()) {
      expect(body.split('"cache_control"').length - 1).toBe(index === 0 ? 3 : 4);
      const previous = bodies[index - 1];
      if (previous === undefined) continue;
      expect(withoutMarks(body).startsWith(withoutMarks(previous).slice(0, -2))).toBe(true);
    }
    const stats = provider.cacheStats();
    const total = stats.inputTokens + stats.cacheReadTokens + stats.cacheWriteTokens;
    // Every turn adds 51 blocks, far more than the provider looks back.
    expect(stats.cacheReadTokens / total).toBeGreaterThan(0.9);
    expect(stats.inputTokens).toBe(0);
  });
});

describe("a refusal", () => {
  const refusals: [string, { status: number; type: string; message: string }, Partial<ModelError>][] = [
    ["429", { status: 429, type: "rate_limit_error", message: "Slow down" }, { kind: "overloaded" }],
    ["529", { status: 529, type: "overloaded_error", message: "Overloaded" }, { kind: "overloaded" }],
    ["500", { status: 500, type: "api_error", message: "Oops" }, { kind: "unavailable" }],
    ["503", { status: 503, type: "x", message: "Overloaded, try later" }, { kind: "overloaded" }],
    ["408", { status: 408, type: "timeout_error", message: "Late" }, { kind: "unavailable" }],
    ["409", { status: 409, type: "conflict", message: "Locked" }, { kind: "unavailable" }],
    ["401", { status: 401, type: "authentication_error", message: "invalid key" }, { kind: "unauthorized" }],
    ["403", { status: 403, type: "permission_error", message: "no" }, { kind: "unauthorized" }],
    ["413", { status: 413, type: "x", message: "too big" }, { kind: "prompt-too-long" }],
    [
      "a long prompt",
      { status: 400, type: "invalid_request_error", message: "prompt is too long: 9 tokens > 8 maximum" },
      { kind: "prompt-too-long" },
    ],
    [
      "a prompt without room for the answer",
      {
        status: 400,
        type: "invalid_request_error",
        message: "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
      },
      { kind: "prompt-too-long" },
    ],
    ["400", { status: 400, type: "invalid_request_error", message: "bad tool" }, { kind: "rejected" }],
    ["404", { status: 404, type: "not_found_error", message: "model: nope" }, { kind: "rejected" }],
  ];
  test.each(refusals)("%s has its kind, and keeps what the provider said", async (_, refusal, expected) => {
    const { status, type, message: said } = refusal;
    const provider = await provide({
      status,
      headers: { "request-id": "req_7" },
      body: { type: "error", error: { type, message: said } },
    });
    const error = await failureOf(connect(provider.url));
    expect(error).toMatchObject({ ...expected, status });
    expect(error.message).toContain(said);
    expect(error.message).toContain("req_7");
    expect(provider.requests).toHaveLength(1);
  });

  test("of the credentials names the variable to look at", async () => {
    const provider = await provide({ status: 401, body: { error: { message: "bad" } } });
    expect((await failureOf(connect(provider.url))).message).toContain("Check ANTHROPIC_API_KEY");
    expect((await failureOf(connect(provider.url, { authToken: "t" }))).message).toContain(
      "Check ANTHROPIC_AUTH_TOKEN",
    );
  });

  test("that repeats our key is told without it", async () => {
    const provider = await provide({ status: 401, body: { error: { message: `${apiKey} is not valid` } } });
    expect((await failureOf(connect(provider.url))).message).toContain("[secret] is not valid");
  });

  test.each([
    ["7", 7000],
    ["0.5", 500],
    ["Tue, 14 Nov 2023 22:14:20 GMT", 60_000],
    ["Tue, 14 Nov 2000 22:14:20 GMT", 0],
    ["soon", undefined],
    ["-3", undefined],
  ])("with retry-after: %s asks to wait %s ms", async (after, expected) => {
    const provider = await provide({ status: 429, headers: { "retry-after": after }, body: {} });
    // The clock stands at 14 November 2023, 22:13:20.
    const error = await failureOf(connect(provider.url, { clock: createManualClock(1_700_000_000_000) }));
    expect(error).toMatchObject({ kind: "overloaded", retryAfterMs: expected });
  });

  test("obeys the provider's word on whether to try again", async () => {
    const never = await provide({ status: 429, headers: { "x-should-retry": "false" }, body: {} });
    expect((await failureOf(connect(never.url))).retryable).toBe(false);
    const again = await provide({ status: 400, headers: { "x-should-retry": "true" }, body: {} });
    expect((await failureOf(connect(again.url))).retryable).toBe(true);
  });

  test("by a page of a proxy is cut to a line", async () => {
    const page = `<html>\n<body>${"Bad Gateway ".repeat(500)}</body></html>`;
    const provider = await provide({ status: 502, headers: { "content-type": "text/html" }, body: page });
    const error = await failureOf(connect(provider.url));
    expect(error.kind).toBe("unavailable");
    expect(error.message).toContain("Bad Gateway");
    expect(error.message.length).toBeLessThan(700);
    expect(error.message).not.toContain("\n");
  });

  test("in the middle of a stream is one too", async () => {
    const blocks = [{ type: "text" as const, text: "so far" }];
    const overloaded = await provide({
      blocks,
      errorAfter: { events: 4, type: "overloaded_error", message: "Overloaded" },
    });
    expect(await failureOf(connect(overloaded.url))).toMatchObject({ kind: "overloaded" });
    const broken = await provide({ blocks, errorAfter: { events: 4, type: "api_error", message: "Oops" } });
    expect(await failureOf(connect(broken.url))).toMatchObject({ kind: "unavailable" });
    const bare = await provide({ raw: `${sse(start)}event: error\ndata: {"message":"?"}\n\n` });
    expect(await failureOf(connect(bare.url))).toMatchObject({ kind: "unavailable" });
  });
});

describe("a connection", () => {
  test("that is refused names the address and what to check", async () => {
    const provider = await provide([]);
    await provider.close();
    const error = await failureOf(connect(`${provider.url.replace("//", "//me:hush@")}/api`));
    expect(error.kind).toBe("unavailable");
    expect(error.message).toContain(`${provider.url}/api`);
    expect(error.message).toContain("ECONNREFUSED");
    expect(error.message).toMatch(/network.*proxy.*ANTHROPIC_BASE_URL/);
    expect(error.message).not.toContain("hush");
  });

  test("to a name that does not exist is unavailable", async () => {
    expect(await failureOf(connect("http://nowhere.invalid"))).toMatchObject({ kind: "unavailable" });
  });

  test("that is closed without an answer is unavailable", async () => {
    const provider = await provide({ fault: "hang-up" });
    expect(await failureOf(connect(provider.url))).toMatchObject({ kind: "unavailable" });
  });

  test.each([0, 1, 3, 5, 7])("that is cut after %d events gives a cut answer", async (cutAfter) => {
    const provider = await provide({ blocks: [{ type: "text", text: "abc" }], cutAfter });
    expect(await failureOf(connect(provider.url))).toMatchObject({ kind: "cut", retryable: true });
  });

  test("with a base URL that is none is refused at once", () => {
    for (const baseUrl of ["", "api.anthropic.com", "file:///etc/passwd", "http://"]) {
      expect(() => connect(baseUrl)).toThrow("ANTHROPIC_BASE_URL");
    }
  });

  test("with a key that no header can hold does not show the key", async () => {
    const provider = await provide([]);
    const error = await failureOf(connect(provider.url, { apiKey: `${apiKey}\nsecond line` }));
    expect(error).toMatchObject({ kind: "rejected", message: expect.stringContaining("ANTHROPIC_API_KEY") });
    expect(error.message).not.toContain("second line");
  });

  test("without a key is not even tried", async () => {
    const provider = await provide([]);
    const error = await failureOf(connect(provider.url, { apiKey: " " }));
    expect(error).toMatchObject({
      kind: "unauthorized",
      message: expect.stringContaining("Export ANTHROPIC_API_KEY"),
    });
    expect(provider.requests).toHaveLength(0);
  });

  test("with a key that was pasted with a line end works", async () => {
    const provider = await provide([{ type: "text", text: "ok" }]);
    await collectAnswer(connect(provider.url, { apiKey: `${apiKey}\n` }));
    expect(provider.requests).toHaveLength(1);
  });
});

describe("nonsense from the server", () => {
  test.each<[string, MockAnswer, string]>([
    ["a page", { raw: "<html>Log in</html>", headers: { "content-type": "text/html" } }, "rejected"],
    ["a document", { raw: '{"id":"m"}', headers: { "content-type": "application/json" } }, "rejected"],
    ["nothing", { raw: "" }, "cut"],
    ["a page that claims to be a stream", { raw: "<html>\n\nLog in\n\n</html>" }, "cut"],
    ["bytes", { raw: "\u0000\ufffd\u0001\n\n\n" }, "cut"],
    ["an event that is not JSON", { raw: sse(start, "{oops") }, "cut"],
    ["an event that is a number", { raw: sse("42") }, "cut"],
    ["an event that is null", { raw: sse("null") }, "cut"],
    ["a message that starts twice", { raw: sse(start, start) }, "cut"],
    ["an end without a start", { raw: sse({ type: "message_stop" }) }, "cut"],
    [
      "a delta for an unknown block",
      {
        raw: sse(start, { type: "content_block_delta", index: 2, delta: { type: "text_delta", text: "x" } }),
      },
      "cut",
    ],
    [
      "a block that never ends",
      {
        raw: sse(
          start,
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          { type: "message_stop" },
        ),
      },
      "cut",
    ],
    [
      "an end of the stream in the middle of an event",
      { raw: `${sse(start)}event: message_stop\nda` },
      "cut",
    ],
  ])("%s is an error, and never a crash or an empty answer", async (_, answer, kind) => {
    const provider = await provide(answer);
    expect(await failureOf(connect(provider.url))).toMatchObject({ kind });
  });

  test("a page says what to check", async () => {
    const provider = await provide({ raw: "<html>Log in</html>", headers: { "content-type": "text/html" } });
    const { message: told } = await failureOf(connect(provider.url));
    expect(told).toMatch(/text\/html instead of a stream.*ANTHROPIC_BASE_URL.*Log in/);
  });
});

describe("silence", () => {
  /** Moves the clock on until the work has ended one way or the other. */
  async function passTime<T>(clock: ReturnType<typeof createManualClock>, work: Promise<T>): Promise<T> {
    let settled = false;
    const done = work.finally(() => {
      settled = true;
    });
    done.catch(() => {});
    while (!settled) await clock.advance(30_000);
    return done;
  }

  test.each<[string, MockAnswer]>([
    ["before an answer", { fault: "silence" }],
    ["in the middle of one", { blocks: [{ type: "text", text: "abc" }], silentAfter: 4 }],
  ])("%s is cut by the world's clock", async (_, answer) => {
    const clock = createManualClock();
    const provider = await provide(answer);
    const error = await passTime(clock, failureOf(connect(provider.url, { clock })));
    expect(error).toMatchObject({ kind: "cut", retryable: true });
    expect(error.message).toContain("sent nothing for 120 seconds");
  });

  test("is not what a slow reader hears", async () => {
    const clock = createManualClock();
    const provider = await provide({ blocks: [{ type: "text", text: "abc" }], chunkBytes: 40 });
    const events: string[] = [];
    for await (const event of connect(provider.url, { clock, stallMs: 1000 }).stream(requestOf())) {
      events.push(event.type);
      await clock.advance(10_000);
    }
    expect(events.at(-1)).toBe("message-stop");
  });
});

describe("cancelling", () => {
  test("before the request sends nothing", async () => {
    const provider = await provide([]);
    const scope = createScope();
    scope.cancel("changed my mind");
    await expect(collectAnswer(connect(provider.url), { scope: createScope(scope.signal) })).rejects.toBe(
      scope.signal.reason,
    );
    expect(provider.requests).toHaveLength(0);
  });

  test("while the answer is awaited ends at once, with the reason, and closes the connection", async () => {
    const scope = createScope();
    const provider = await provide(() => {
      scope.cancel("the user said stop");
      return { fault: "silence" };
    });
    await expect(
      collectAnswer(connect(provider.url), { scope: createScope(scope.signal) }),
    ).rejects.toMatchObject({
      name: "CancelledError",
      reason: "the user said stop",
    });
  });

  test("in the middle of an answer ends it", async () => {
    const scope = createScope();
    const provider = await provide({ blocks: [{ type: "text", text: "abc" }], silentAfter: 4 });
    const seen: string[] = [];
    const run = async () => {
      for await (const event of connect(provider.url).stream(
        requestOf({ scope: createScope(scope.signal) }),
      )) {
        seen.push(event.type);
        if (event.type === "block-delta") setImmediate(() => scope.cancel("stop"));
      }
    };
    await expect(run()).rejects.toMatchObject({ name: "CancelledError", reason: "stop" });
    expect(seen).toContain("block-delta");
  });

  test("leaves nothing on a scope that lives as long as the session", async () => {
    const provider = await provide([{ type: "text", text: "ok" }]);
    const model = connect(provider.url);
    const { scope, held } = createWatchedScope();
    for (let turn = 0; turn < 3; turn += 1) await collectAnswer(model, { scope });
    expect(held()).toBe(0);
  });
});

test("a reader that leaves early gives up the connection, and the next request works", async () => {
  const provider = await provide((_, index) =>
    index === 0
      ? { blocks: [{ type: "text", text: "abc" }], silentAfter: 3 }
      : [{ type: "text", text: "ok" }],
  );
  const model = connect(provider.url);
  for await (const event of model.stream(requestOf())) if (event.type === "block-start") break;
  expect((await collectAnswer(model)).blocks).toEqual([{ type: "text", text: "ok" }]);
});

test("says what it is", () => {
  expect(connect("https://example.com", { id: "claude-opus-5-5" })).toMatchObject({
    provider: "anthropic",
    id: "claude-opus-5-5",
    contextWindow: 1_000_000,
  });
  expect(connect("https://example.com", { contextWindow: 5 }).contextWindow).toBe(5);
});

function withoutMarks(body: string): string {
  return body.replaceAll(',"cache_control":{"type":"ephemeral"}', "");
}
