import { afterEach, expect, it } from "vitest";
import { createScope } from "../base/cancellation.ts";
import type { Settings } from "../contracts/settings.ts";
import { type MockProvider, startMockProvider } from "../testing/mock-provider.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createModelSource } from "./model-source.ts";

const providers: MockProvider[] = [];
afterEach(async () => {
  for (const provider of providers.splice(0)) await provider.close();
});

async function provide(dialect: "anthropic" | "openai"): Promise<MockProvider> {
  const provider = await startMockProvider({ dialect, answer: () => [{ type: "text", text: "ok" }] });
  providers.push(provider);
  return provider;
}

/** Asks once, and answers with the model. */
async function ask(options: { env?: Record<string, string>; flag?: string; settings?: Settings }) {
  const world = createTestWorld({ env: options.env ?? {} });
  const source = createModelSource({
    world,
    settings: options.settings ?? {},
    gatewayLimits: { firstDelayMs: 1, maxDelayMs: 5 },
  });
  const model = await source.model(options.flag);
  const request = {
    system: "",
    tools: [],
    messages: [
      {
        uuid: "u",
        parentUuid: null,
        timestamp: "",
        role: "user" as const,
        content: [{ type: "text" as const, text: "hello" }],
      },
    ],
    cacheMarks: [],
    maxOutputTokens: 100,
    scope: createScope(),
  };
  const seen: string[] = [];
  for await (const event of model.stream(request)) seen.push(event.type);
  world.network.close();
  expect(seen.at(-1)).toBe("message-stop");
  return model;
}

it.each(["openai", "anthropic"] as const)(
  "a provider of type %s from the settings is asked with its key and headers, and has its limits",
  async (type) => {
    const server = await provide(type);
    const settings: Settings = {
      model: "mine/some-model",
      providers: {
        mine: {
          type,
          baseUrl: server.url,
          keyEnv: "MY_KEY",
          contextWindow: 9000,
          maxOutputTokens: 500,
          headers: { "x-team": "seven" },
        },
      },
    };
    const model = await ask({ settings, env: { MY_KEY: "my-secret" } });
    expect(model).toMatchObject({
      provider: "mine",
      id: "some-model",
      contextWindow: 9000,
      maxOutputTokens: 500,
      local: true,
    });
    expect(server.requests[0]?.headers).toMatchObject({ "x-team": "seven" });
    expect(JSON.stringify(server.requests[0]?.headers)).toContain("my-secret");
    expect(server.requests[0]?.body.model).toBe("some-model");
  },
);

it.each(["openai", "anthropic"] as const)(
  "a server of type %s on this machine needs no key, and gets none of ours",
  async (type) => {
    const server = await provide(type);
    const settings: Settings = { providers: { mine: { type, baseUrl: server.url } } };
    const env = { ANTHROPIC_API_KEY: "ours-a", OPENAI_API_KEY: "ours-o" };
    await ask({ flag: "mine/some-model", settings, env });
    expect(JSON.stringify(server.requests[0]?.headers)).not.toContain("ours");
  },
);

it("the environment alone is enough for OpenAI", async () => {
  const server = await provide("openai");
  const env = { OPENAI_API_KEY: "sk-mine", OPENAI_BASE_URL: `${server.url}/v1` };
  const model = await ask({ flag: "gpt-4o", env });
  expect(model).toMatchObject({ provider: "openai", id: "gpt-4o" });
  expect(server.requests[0]?.headers.authorization).toBe("Bearer sk-mine");
});

it("what cannot be chosen is an error that says what to do", async () => {
  const build = (flag: string) =>
    createModelSource({ world: createTestWorld({ env: {} }), settings: {} }).model(flag);
  await expect(build("openai/gpt-4o")).rejects.toMatchObject({ code: "model-key-missing" });
  await expect(build("nowhere/x")).rejects.toMatchObject({ code: "model-provider-missing" });
});

it("a fallback answers when the model of choice stays overloaded, through the gateway of their account", async () => {
  const server = await startMockProvider({
    answer: ({ body }) =>
      body.model === "claude-busy"
        ? { status: 529, body: '{"type":"error","error":{"type":"overloaded_error","message":"busy"}}' }
        : [{ type: "text", text: "ok" }],
  });
  providers.push(server);
  const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: server.url };
  await ask({ flag: "claude-busy", settings: { fallbackModel: "claude-free" }, env });
  const asked = server.requests.map(({ body }) => body.model);
  expect(asked.at(-1)).toBe("claude-free");
  expect(asked.filter((id) => id === "claude-busy").length).toBeGreaterThan(1);
});

it("hands out one model for one name, so that agents share what it keeps", async () => {
  const source = createModelSource({
    world: createTestWorld({ env: { ANTHROPIC_API_KEY: "k" } }),
    settings: {},
  });
  const [one, same, other] = await Promise.all(["haiku", "haiku", "opus"].map((name) => source.model(name)));
  expect(same).toBe(one);
  expect(other).not.toBe(one);
});
