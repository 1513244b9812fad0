import { afterEach, describe, expect, test } from "vitest";
import { createScope } from "../base/cancellation.ts";
import { createNodeWorld } from "../base/world/node-world.ts";
import type { World } from "../base/world.ts";
import type { Block } from "../contracts/message.ts";
import { collectAnswer, failureOfModel, messageOf, requestOf } from "../testing/ask-model.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import type { MockBlock, MockRequest } from "../testing/mock-dialect.ts";
import { type MockAnswer, type MockProvider, startMockProvider } from "../testing/mock-provider.ts";
import type { Model, ModelRequest } from "./model.ts";
import type { ModelError } from "./model-error.ts";
import { createOpenAiModel, type OpenAiOptions } from "./openai.ts";

const apiKey = "sk-very-secret";
const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

async function provide(
  answer: MockAnswer | ((request: MockRequest, index: number) => MockAnswer | Promise<MockAnswer>),
): Promise<MockProvider> {
  const provider = await startMockProvider({
    dialect: "openai",
    answer: typeof answer === "function" ? answer : () => answer,
  });
  cleanUps.push(() => provider.close());
  return provider;
}

function connect(baseUrl: string, more: Partial<OpenAiOptions> & { clock?: World["clock"] } = {}): Model {
  const world = createNodeWorld({ env: {} });
  cleanUps.push(() => world.network.close());
  const { clock = world.clock, ...options } = more;
  return createOpenAiModel({
    world: { clock, network: world.network, random: world.random },
    id: "small-model",
    baseUrl,
    apiKey,
    ...options,
  });
}

const failureOf = (model: Model, request?: Partial<ModelRequest>) =>
  failureOfModel(model, { secret: apiKey, ...(request && { request }) });

const ok: MockAnswer = [{ type: "text", text: "ok" }];
const everyBlock: MockBlock[] = [
  { type: "thinking", thinking: "Let me see…", signature: "" },
  { type: "text", text: "Grüße, \u{1f468}‍\u{1f469}‍\u{1f467}, and\r\nlines\u2028here" },
  { type: "tool_use", id: "call_1", name: "Read", input: { path: "/tmp/ünï.txt", lines: [1, 2] } },
  { type: "tool_use", id: "call_2", name: "Now", input: {} },
];

describe("an answer", () => {
  test("streams all kinds of blocks, with usage and stop reason", async () => {
    const provider = await provide(everyBlock);
    const { events, blocks, end } = await collectAnswer(connect(provider.url));
    expect(blocks).toEqual(everyBlock);
    expect(events[0]).toMatchObject({ type: "message-start", id: "chatcmpl-0", model: "small-model" });
    expect(end).toMatchObject({ type: "message-stop", stopReason: "tool_use" });
    expect(end?.type === "message-stop" && end.usage.inputTokens).toBeGreaterThan(0);
    expect(end?.type === "message-stop" && end.usage.outputTokens).toBeGreaterThan(1);
  });

  test.each([1, 7, 1000])("is the same in pieces of %d bytes", async (chunkBytes) => {
    const provider = await provide({ blocks: everyBlock, chunkBytes });
    expect((await collectAnswer(connect(provider.url))).blocks).toEqual(everyBlock);
  });

  test("hands each event on as it comes, not when all is there", async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let pieces = 0;
    // The role, a comment, the first half; the second half waits for the reader.
    const pace = () => (++pieces <= 3 ? Promise.resolve() : gate);
    const provider = await provide({ blocks: [{ type: "text", text: "ab" }], pace });
    const seen: string[] = [];
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

  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta, finish_reason: finish }] })}`;
  const hi = chunk({ content: "hi" });
  const stop = chunk({}, "stop");
  test.each([
    ["ends without [DONE]", `${hi}\n\n${stop}\n\n`],
    ["ends in the middle of a line", `${hi}\n\n${stop}`],
    ["has line ends of another kind", `: hello\r\n\r\n${hi}\r\n\r\n${stop}\r\n\r\ndata: [DONE]\r\n\r\n`],
    ["has no space after data:", `${hi}\n\n${stop}\n\ndata:[DONE]\n\n`.replaceAll("data: ", "data:")],
  ])("is whole although the stream %s", async (_, raw) => {
    const provider = await provide({ raw });
    const { blocks, end } = await collectAnswer(connect(provider.url));
    expect(blocks).toEqual([{ type: "text", text: "hi" }]);
    expect(end).toMatchObject({ stopReason: "end_turn", usage: { outputTokens: 1 } });
  });

  test("that has ended is handed out although the server keeps the connection open", async () => {
    const blocks: MockBlock[] = [{ type: "text", text: "ok" }];
    const done = await provide({ blocks, silentAfter: 99 });
    expect((await collectAnswer(connect(done.url))).end).toMatchObject({ type: "message-stop" });
    // After the finish reason, before the usage.
    const clock = createManualClock();
    const silent = await provide({ blocks, silentAfter: 5 });
    const { end } = await passTime(clock, collectAnswer(connect(silent.url, { clock })));
    expect(end).toMatchObject({ type: "message-stop", stopReason: "end_turn" });
  });

  test("leaves its connection for the next request", async () => {
    const provider = await provide(ok);
    const model = connect(provider.url);
    for (let turn = 0; turn < 3; turn += 1) await collectAnswer(model);
    expect(provider.requests).toHaveLength(3);
    expect(provider.connectionCount()).toBe(1);
  });

  test("that is a call written as text is made where that is a known failing", async () => {
    const written = '{"name":"Read","arguments":{"path":"x"}}';
    const provider = await provide([{ type: "text", text: written }]);
    const tools = [
      { name: "Read", description: "", inputSchema: { type: "object", properties: { path: {} } } },
    ];
    expect((await collectAnswer(connect(provider.url), { tools })).blocks).toMatchObject([
      { type: "tool_use", name: "Read", input: { path: "x" } },
    ]);
    const strict = connect(provider.url, { recoverWrittenCalls: false });
    expect((await collectAnswer(strict, { tools })).blocks).toEqual([{ type: "text", text: written }]);
  });
});

describe("a request", () => {
  test("carries key and headers, and nothing from the process environment", async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      OPENAI_API_KEY: "sk-from-env",
      OPENAI_ADMIN_KEY: "admin-from-env",
      OPENAI_ORG_ID: "org-from-env",
      OPENAI_PROJECT_ID: "project-from-env",
      OPENAI_BASE_URL: "http://127.0.0.1:9",
      OPENAI_CUSTOM_HEADERS: "x-from-env: from-env",
      OPENAI_LOG: "debug",
    });
    cleanUps.push(() => {
      process.env = before;
    });
    const provider = await provide(ok);
    await collectAnswer(connect(provider.url, { headers: { "x-team": "seven" } }));
    await collectAnswer(connect(provider.url, { apiKey: undefined }));
    const [first, second] = provider.requests;
    expect(first?.headers).toMatchObject({
      "content-type": "application/json",
      authorization: `Bearer ${apiKey}`,
      "x-team": "seven",
    });
    expect(second?.headers).not.toHaveProperty("authorization");
    expect(JSON.stringify(provider.requests.map(({ headers }) => headers))).not.toContain("from-env");
  });

  test("goes to the right place however the base URL is written", async () => {
    const provider = await provide(ok);
    const suffixes = ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/v1/chat/completions/"];
    for (const suffix of suffixes) await collectAnswer(connect(provider.url + suffix));
    expect(new Set(provider.requests.map(({ path }) => path))).toEqual(new Set(["/v1/chat/completions"]));
  });

  test("keeps what a base URL has beyond the address", async () => {
    const provider = await provide((sent) => ({ status: 400, body: { error: sent.path } }));
    const { message: said } = await failureOf(connect(`${provider.url}/my/api?api-version=3`));
    expect(said).toContain("/my/api/chat/completions?api-version=3");
    const named = provider.url.replace("//", "//me:h%C3%BCsh@");
    const { message: told } = await failureOf(connect(named, { apiKey: undefined }));
    expect(told).not.toContain("h%C3%BCsh");
    expect(provider.requests[1]?.headers.authorization).toBe(
      `Basic ${Buffer.from("me:hüsh").toString("base64")}`,
    );
  });

  test("grows only at its end over 30 turns, and is read from the cache", async () => {
    const provider = await provide((_, index) => [
      { type: "thinking", thinking: `Step ${index}`, signature: "" },
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
    const image = { type: "base64" as const, media_type: "image/png", data: "aGk=" };
    const messages = [messageOf("user", [{ type: "text", text: "Go on." }])];
    for (let turn = 0; turn < 30; turn += 1) {
      const { blocks } = await collectAnswer(model, { messages: [...messages], tools });
      messages.push(messageOf("assistant", blocks));
      const results = blocks.flatMap((block): Block[] =>
        block.type === "tool_use"
          ? [{ type: "tool_result", tool_use_id: block.id, content: [{ type: "image", source: image }] }]
          : [],
      );
      messages.push(messageOf("user", results));
    }

    const bodies = provider.requests.map(({ raw }) => raw.toString("utf8"));
    expect(bodies).toHaveLength(30);
    for (const [index, body] of bodies.entries()) {
      const previous = bodies[index - 1];
      // All but the end of the array and of the body.
      if (previous !== undefined) expect(body.startsWith(previous.slice(0, -2))).toBe(true);
    }
    const { cacheReadTokens, inputTokens } = provider.cacheStats();
    expect(cacheReadTokens / (cacheReadTokens + inputTokens)).toBeGreaterThan(0.9);
  });
});

describe("a refusal", () => {
  const error = (message: string, type: string, code: string | null = null) => ({
    error: { message, type, param: null, code },
  });
  test.each<[string, number, unknown, Partial<ModelError>]>([
    ["too many requests", 429, error("Slow down", "requests", "rate_limit_exceeded"), { kind: "overloaded" }],
    [
      "no money",
      429,
      error("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
      { kind: "rejected", retryable: false },
    ],
    ["no money elsewhere", 402, error("Insufficient Balance", "unknown_error"), { kind: "rejected" }],
    [
      "one request that is larger than a minute allows",
      429,
      error("Request too large for gpt-x on tokens per min", "tokens", "rate_limit_exceeded"),
      { kind: "prompt-too-long" },
    ],
    [
      "a long prompt",
      400,
      error(
        "This model's maximum context length is 8 tokens.",
        "invalid_request_error",
        "context_length_exceeded",
      ),
      { kind: "prompt-too-long" },
    ],
    [
      "a long prompt, in other words",
      400,
      {
        object: "error",
        message: "This model's maximum context length is 8 tokens.",
        type: "BadRequestError",
      },
      { kind: "prompt-too-long" },
    ],
    [
      "a long prompt, in yet other words",
      400,
      error("the request exceeds the available context size, try increasing it", "exceed_context_size_error"),
      { kind: "prompt-too-long" },
    ],
    ["a bad request", 400, error("bad tool", "invalid_request_error"), { kind: "rejected" }],
    ["a bad request without a type", 422, { detail: "field required" }, { kind: "rejected" }],
    ["an error that is a text", 404, { error: "model 'x' not found" }, { kind: "rejected" }],
    ["an error that is a page", 502, "Bad Gateway", { kind: "unavailable" }],
    [
      "a bad key",
      401,
      error("Incorrect API key", "invalid_request_error", "invalid_api_key"),
      { kind: "unauthorized" },
    ],
    ["a failure", 500, error("Oops", "server_error"), { kind: "unavailable" }],
    [
      "a server that loads its model",
      503,
      error("Loading model", "unavailable_error"),
      { kind: "unavailable" },
    ],
  ])("for %s has its kind, and keeps what the provider said", async (_, status, body, expected) => {
    const provider = await provide({ status, headers: { "x-request-id": "req_7" }, body });
    const told = await failureOf(connect(provider.url));
    expect(told).toMatchObject({ ...expected, status });
    const said = /"(?:message|detail|error)":"([^"]+)"/.exec(JSON.stringify(body))?.[1] ?? "Bad Gateway";
    expect(told.message).toContain(said);
    expect(told.message).toContain("req_7");
    expect(provider.requests).toHaveLength(1);
  });

  test("says which variable or setting to look at", async () => {
    const refuse = (status: number, body: unknown = {}) => provide({ status, body });
    const unauthorized = await refuse(401);
    expect((await failureOf(connect(unauthorized.url))).message).toContain("Check OPENAI_API_KEY");
    const names = { credential: "ROUTER_KEY", address: 'the setting "providers.router.baseUrl"' };
    expect((await failureOf(connect(unauthorized.url, { names }))).message).toContain("Check ROUTER_KEY");
    expect((await failureOf(connect(unauthorized.url, { apiKey: undefined }))).message).toContain('"keyEnv"');
    const missing = await refuse(404);
    expect((await failureOf(connect(missing.url, { names }))).message).toMatch(
      /model id "small-model" and the setting "providers\.router\.baseUrl"/,
    );
    const broke = await refuse(429, error("You exceeded your quota", "insufficient_quota"));
    expect((await failureOf(connect(broke.url, { names }))).message).toMatch(
      /behind ROUTER_KEY has no credit/,
    );
  });

  test("that repeats our key is told without it", async () => {
    const provider = await provide({ status: 401, body: { error: { message: `${apiKey} is not valid` } } });
    expect((await failureOf(connect(provider.url))).message).toContain("[secret] is not valid");
  });

  test("says when to come back", async () => {
    const provider = await provide({ status: 429, headers: { "retry-after": "7" }, body: {} });
    expect(await failureOf(connect(provider.url))).toMatchObject({ kind: "overloaded", retryAfterMs: 7000 });
  });

  test("in the middle of a stream is one too", async () => {
    const blocks: MockBlock[] = [{ type: "text", text: "so far" }];
    const provider = await provide({
      blocks,
      errorAfter: { events: 3, type: "rate_limit_exceeded", message: "Slow down" },
    });
    expect(await failureOf(connect(provider.url))).toMatchObject({ kind: "overloaded" });
  });
});

describe("a connection", () => {
  test("that is refused names the address and what to check", async () => {
    const provider = await provide(ok);
    await provider.close();
    const error = await failureOf(connect(`${provider.url.replace("//", "//me:hush@")}/api`));
    expect(error.kind).toBe("unavailable");
    expect(error.message).toContain(`${provider.url}/api`);
    expect(error.message).toMatch(/ECONNREFUSED.*OPENAI_BASE_URL/);
    expect(error.message).not.toContain("hush");
  });

  test("that is closed without an answer is unavailable", async () => {
    const provider = await provide({ fault: "hang-up" });
    expect(await failureOf(connect(provider.url))).toMatchObject({ kind: "unavailable" });
  });

  test.each([0, 1, 3, 4])("that is cut after %d events gives a cut answer", async (cutAfter) => {
    const provider = await provide({ blocks: [{ type: "text", text: "abc" }], cutAfter });
    expect(await failureOf(connect(provider.url))).toMatchObject({ kind: "cut", retryable: true });
  });

  test("that is cut after the message was whole gives the message", async () => {
    const provider = await provide({ blocks: [{ type: "text", text: "abc" }], cutAfter: 5 });
    expect((await collectAnswer(connect(provider.url))).blocks).toEqual([{ type: "text", text: "abc" }]);
  });

  test("with a base URL that is none is refused at once", () => {
    for (const baseUrl of ["", "localhost:11434", "api.openai.com", "file:///etc/passwd", "http://"]) {
      expect(() => connect(baseUrl)).toThrow("OPENAI_BASE_URL");
    }
  });

  test("to OpenAI without a key is not even tried", async () => {
    const error = await failureOf(connect("https://api.openai.com/v1", { apiKey: " " }));
    expect(error).toMatchObject({
      kind: "unauthorized",
      message: expect.stringContaining("Export OPENAI_API_KEY"),
    });
  });

  test("with a key that no header can hold does not show the key", async () => {
    const provider = await provide(ok);
    const error = await failureOf(connect(provider.url, { apiKey: `${apiKey}\nsecond line` }));
    expect(error).toMatchObject({ kind: "rejected", message: expect.stringContaining("OPENAI_API_KEY") });
    expect(error.message).not.toContain("second line");
  });

  test("with a key that was pasted with a line end works", async () => {
    const provider = await provide(ok);
    await collectAnswer(connect(provider.url, { apiKey: `${apiKey}\n` }));
    expect(provider.requests).toHaveLength(1);
  });
});

describe("nonsense from the server", () => {
  test.each<[string, MockAnswer, string]>([
    ["a page", { raw: "<html>Log in</html>", headers: { "content-type": "text/html" } }, "rejected"],
    ["a document", { raw: '{"id":"m"}', headers: { "content-type": "application/json" } }, "rejected"],
    ["nothing", { raw: "" }, "cut"],
    ["an end without a beginning", { raw: "data: [DONE]\n\n" }, "cut"],
    ["a page that claims to be a stream", { raw: "<html>\n\nLog in\n\n</html>" }, "cut"],
    ["an event that is not JSON", { raw: "data: {oops\n\n" }, "cut"],
    ["an event that is null", { raw: "data: null\n\n" }, "cut"],
  ])("%s is an error, and never a crash or an empty answer", async (_, answer, kind) => {
    const provider = await provide(answer);
    expect(await failureOf(connect(provider.url))).toMatchObject({ kind });
  });
});

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

describe("silence", () => {
  test.each<[string, MockAnswer]>([
    ["before an answer", { fault: "silence" }],
    ["in the middle of one", { blocks: [{ type: "text", text: "abc" }], silentAfter: 3 }],
  ])("%s is cut by the world's clock", async (_, answer) => {
    const clock = createManualClock();
    const provider = await provide(answer);
    const error = await passTime(clock, failureOf(connect(provider.url, { clock })));
    expect(error).toMatchObject({ kind: "cut", retryable: true });
    expect(error.message).toContain("sent nothing for 120 seconds");
  });
});

describe("cancelling", () => {
  test("before the request sends nothing", async () => {
    const provider = await provide(ok);
    const scope = createScope();
    scope.cancel("changed my mind");
    await expect(collectAnswer(connect(provider.url), { scope: createScope(scope.signal) })).rejects.toBe(
      scope.signal.reason,
    );
    expect(provider.requests).toHaveLength(0);
  });

  test("while the answer is awaited ends at once, with the reason", async () => {
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
    const provider = await provide({ blocks: [{ type: "text", text: "abc" }], silentAfter: 3 });
    const run = async () => {
      for await (const event of connect(provider.url).stream(
        requestOf({ scope: createScope(scope.signal) }),
      )) {
        if (event.type === "block-delta") setImmediate(() => scope.cancel("stop"));
      }
    };
    await expect(run()).rejects.toMatchObject({ name: "CancelledError", reason: "stop" });
  });
});

test("a reader that leaves early gives up the connection, and the next request works", async () => {
  const provider = await provide((_, index) =>
    index === 0 ? { blocks: [{ type: "text", text: "abc" }], silentAfter: 3 } : ok,
  );
  const model = connect(provider.url);
  for await (const event of model.stream(requestOf())) if (event.type === "block-start") break;
  expect((await collectAnswer(model)).blocks).toEqual([{ type: "text", text: "ok" }]);
});

test("says what it is", () => {
  expect(connect("https://example.com", { id: "gpt-4o" })).toMatchObject({
    provider: "openai",
    id: "gpt-4o",
    local: false,
    contextWindow: 128_000,
    maxOutputTokens: 16_384,
  });
  expect(connect("http://localhost:1234", { provider: "mine" })).toMatchObject({
    provider: "mine",
    local: true,
    contextWindow: 32_768,
    maxOutputTokens: 8_192,
  });
  expect(connect("http://[::1]:1234", { contextWindow: 4096 })).toMatchObject({
    local: true,
    contextWindow: 4096,
    maxOutputTokens: 1024,
  });
});
