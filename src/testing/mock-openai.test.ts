import { afterEach, describe, expect, test } from "vitest";
import { type MockAnswer, type MockProvider, startMockProvider } from "./mock-provider.ts";

const providers: MockProvider[] = [];

afterEach(async () => {
  for (const provider of providers.splice(0)) await provider.close();
});

async function provide(answer: MockAnswer = [{ type: "text", text: "ok" }]): Promise<MockProvider> {
  const provider = await startMockProvider({ dialect: "openai", answer: () => answer });
  providers.push(provider);
  return provider;
}

async function ask(provider: MockProvider, messages: object[], more: object = {}) {
  const response = await fetch(`${provider.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", stream: true, messages, ...more }),
  });
  return { status: response.status, text: await response.text() };
}

const user = (content: unknown) => ({ role: "user", content });
const call = (id: string) => ({ id, type: "function", function: { name: "Read", arguments: "{}" } });
const calls = (...ids: string[]) => ({ role: "assistant", content: null, tool_calls: ids.map(call) });
const result = (id: string, content: unknown = "fine") => ({ role: "tool", tool_call_id: id, content });

test("an answer is chunks, a finish, the usage and [DONE]", async () => {
  const { text } = await ask(await provide(), [user("hi")]);
  const data = text.split("\n\n").flatMap((event) => (event.startsWith("data: ") ? [event.slice(6)] : []));
  expect(data.pop()).toBe("[DONE]");
  const chunks = data.map((each) => JSON.parse(each));
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("ok");
  expect(chunks.at(-2).choices[0].finish_reason).toBe("stop");
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: expect.any(Number) } });
});

test("a long prompt is read from the cache as far as it is the same", async () => {
  const provider = await provide();
  const long = "x".repeat(8000);
  await ask(provider, [user(long)]);
  expect(provider.cacheStats().cacheReadTokens).toBe(0);
  await ask(provider, [user(long), { role: "assistant", content: "ok" }, user("more")]);
  expect(provider.cacheStats().cacheReadTokens).toBeGreaterThan(1900);
  const before = provider.cacheStats().cacheReadTokens;
  await ask(provider, [user(`y${long}`)]);
  expect(provider.cacheStats().cacheReadTokens).toBe(before);
});

describe("what the real provider refuses", () => {
  test.each<[string, object[], string]>([
    ["an empty text", [user(" ")], "blank"],
    ["a message without content", [user(null)], "content is missing"],
    ["a call without its result", [user("x"), calls("a")], "did not have response messages: a"],
    ["a result that is missing", [user("x"), calls("a", "b"), result("a"), user("x")], "messages: b"],
    ["a result without its call", [user("x"), result("a")], "must be a response"],
    ["a result that comes late", [user("x"), calls("a"), user("y"), result("a")], "messages: a"],
    ["a result that is not text", [user("x"), calls("a"), result("a", [])], "must be a string"],
    ["ids that repeat", [user("x"), calls("a", "a"), result("a")], "ids repeat"],
    ["an unknown role", [{ role: "robot", content: "x" }], "unknown role"],
  ])("%s", async (_, messages, reason) => {
    expect(await ask(await provide(), messages)).toMatchObject({
      status: 400,
      text: expect.stringContaining(reason),
    });
  });

  test("a name of a tool that it cannot spell", async () => {
    const tools = [{ type: "function", function: { name: "a.b" } }];
    expect((await ask(await provide(), [user("x")], { tools })).text).toContain("a.b");
  });
});
