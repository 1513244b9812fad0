import { afterEach, describe, expect, test } from "vitest";
import type { WireBlock, WireMessage } from "./mock-prompt-cache.ts";
import { type MockAnswer, type MockProvider, startMockProvider } from "./mock-provider.ts";

const providers: MockProvider[] = [];

afterEach(async () => {
  for (const provider of providers.splice(0)) await provider.close();
});

async function provide(answer: MockAnswer = [{ type: "text", text: "ok" }]): Promise<MockProvider> {
  const provider = await startMockProvider({ answer: () => answer });
  providers.push(provider);
  return provider;
}

const headers = { "x-api-key": "k", "anthropic-version": "2023-06-01" };

async function ask(provider: MockProvider, messages: WireMessage[], more: object = {}) {
  const response = await fetch(`${provider.url}/v1/messages`, {
    method: "POST",
    headers,
    body: JSON.stringify({ model: "m", stream: true, messages, ...more }),
  });
  return { status: response.status, text: await response.text() };
}

function text(chars: number, marked = false): WireBlock {
  return {
    type: "text",
    text: "x".repeat(chars),
    ...(marked ? { cache_control: { type: "ephemeral" } } : {}),
  };
}

function user(...content: WireBlock[]): WireMessage {
  return { role: "user", content };
}

describe("the prompt cache", () => {
  test("writes at a mark, and reads the same prefix the next time", async () => {
    const provider = await provide();
    await ask(provider, [user(text(8000, true))]);
    const first = provider.cacheStats();
    expect(first.cacheWriteTokens).toBeGreaterThan(2000);
    expect(first.cacheReadTokens).toBe(0);
    await ask(provider, [user(text(8000, true), text(400))]);
    const second = provider.cacheStats();
    expect(second.cacheReadTokens).toBe(first.cacheWriteTokens);
    expect(second.cacheWriteTokens).toBe(first.cacheWriteTokens);
    expect(second.inputTokens).toBeGreaterThan(100);
  });

  test("does not read a prefix that differs anywhere, in tools or system prompt either", async () => {
    const provider = await provide();
    const messages = [user(text(8000, true))];
    await ask(provider, messages, { system: [text(10)] });
    await ask(provider, messages, { system: [text(11)] });
    await ask(provider, messages, { system: [text(10)], tools: [{ name: "T" }] });
    await ask(provider, messages, { system: [text(10)], model: "other" });
    expect(provider.cacheStats().cacheReadTokens).toBe(0);
  });

  test("does not keep a short prefix", async () => {
    const provider = await provide();
    for (let time = 0; time < 2; time += 1) await ask(provider, [user(text(1000, true))]);
    expect(provider.cacheStats()).toMatchObject({ cacheReadTokens: 0, cacheWriteTokens: 0 });
  });

  test.each([
    [19, true],
    [20, false],
  ])("finds what was written %d blocks before a mark: %s", async (distance, found) => {
    const provider = await provide();
    await ask(provider, [user(text(8000, true))]);
    const later = Array.from({ length: distance }, (_, index) => text(10, index === distance - 1));
    await ask(provider, [user(text(8000), ...later)]);
    expect(provider.cacheStats().cacheReadTokens > 0).toBe(found);
  });

  test("refuses a fifth mark", async () => {
    const provider = await provide();
    const marked = (count: number) => [user(...Array.from({ length: count }, () => text(5, true)))];
    expect((await ask(provider, marked(4))).status).toBe(200);
    expect(await ask(provider, marked(5))).toMatchObject({
      status: 400,
      text: expect.stringContaining("maximum of 4"),
    });
  });
});

describe("what the real provider refuses", () => {
  const call = { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "Read", input: {} }] };
  test.each<[string, WireMessage[], string]>([
    ["an empty text", [user(text(0))], "non-empty"],
    ["an empty message", [user()], "must not be empty"],
    ["a call without its result", [user(text(1)), call], "without tool_result"],
    ["a call whose result is missing", [user(text(1)), call, user(text(1))], "expected tool_result"],
    ["a result without its call", [user({ type: "tool_result", tool_use_id: "t9" })], "found [t9]"],
    ["an answer first", [{ role: "assistant", content: [text(1)] }], "user role"],
    ["marked thinking", [user({ type: "thinking", cache_control: {} })], "cannot be marked"],
  ])("%s", async (_, messages, reason) => {
    expect(await ask(await provide(), messages)).toMatchObject({
      status: 400,
      text: expect.stringContaining(reason),
    });
  });

  test("a body that is not JSON, and a request without credentials", async () => {
    const provider = await provide();
    const post = (init: { headers?: Record<string, string>; body: string }) =>
      fetch(`${provider.url}/v1/messages`, { method: "POST", ...init });
    expect((await post({ headers, body: "{" })).status).toBe(400);
    const body = JSON.stringify({ stream: true, messages: [user(text(1))] });
    expect((await post({ body })).status).toBe(400);
  });
});

test("records the bytes that came, and tells of a test's own mistake", async () => {
  const provider = await startMockProvider({
    answer: () => {
      throw new Error("no answer planned");
    },
  });
  providers.push(provider);
  expect(await ask(provider, [user(text(3))])).toMatchObject({
    status: 500,
    text: expect.stringContaining("no answer planned"),
  });
  expect(provider.requests[0]?.raw.toString()).toContain('"xxx"');
});

test("closes although a client still waits", async () => {
  const provider = await startMockProvider({ answer: () => ({ fault: "silence" }) });
  const waiting = ask(provider, [user(text(1))]).catch(() => "closed");
  while (provider.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await provider.close();
  expect(await waiting).toBe("closed");
});
