import { describe, expect, test } from "vitest";
import { chooseModel, type ModelWishes } from "./select-model.ts";

const key = { ANTHROPIC_API_KEY: "sk-secret" };

function choice(wishes: ModelWishes) {
  const selection = chooseModel(wishes);
  if ("problem" in selection) throw selection.problem;
  return selection.choice;
}

function problem(wishes: ModelWishes) {
  const selection = chooseModel(wishes);
  if ("choice" in selection) throw new Error(`chose ${selection.choice.id}`);
  return selection.problem;
}

describe("who decides", () => {
  test("the flag, then the setting, then the keys, then nobody", () => {
    expect(choice({ flag: "claude-a", setting: "claude-b", env: key }).id).toBe("claude-a");
    expect(choice({ setting: "claude-b", env: key }).id).toBe("claude-b");
    expect(choice({ env: key })).toMatchObject({ provider: "anthropic", id: "claude-sonnet-5-5" });
    expect(choice({ env: {} })).toEqual({ provider: "offline", id: "offline" });
  });

  test("a key that is empty is no key", () => {
    expect(choice({ env: { ANTHROPIC_API_KEY: "", ANTHROPIC_AUTH_TOKEN: "  " } }).provider).toBe("offline");
  });

  test("offline is offline, whatever keys there are", () => {
    expect(choice({ flag: "Offline", env: key })).toEqual({ provider: "offline", id: "offline" });
  });
});

describe("credentials", () => {
  test("are named, not copied", () => {
    const chosen = choice({ env: { ...key, ANTHROPIC_AUTH_TOKEN: "token" } });
    expect(chosen).toMatchObject({ credential: { variable: "ANTHROPIC_API_KEY", kind: "apiKey" } });
    expect(JSON.stringify(chosen)).not.toContain("sk-secret");
    expect(choice({ env: { ANTHROPIC_AUTH_TOKEN: "token" } })).toMatchObject({
      credential: { variable: "ANTHROPIC_AUTH_TOKEN", kind: "authToken" },
    });
  });

  test("that are missing are asked for by name", () => {
    const { code, message } = problem({ flag: "opus", env: {} });
    expect(code).toBe("model-key-missing");
    expect(message).toContain("Export ANTHROPIC_API_KEY");
    expect(message).toContain("claude-opus-5-5");
    expect(message).toContain("--model offline");
  });

  test("are needed with a base URL too, even if no model was asked for", () => {
    const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:1" };
    expect(problem({ env }).message).toContain("ANTHROPIC_BASE_URL is set");
    expect(choice({ env: { ...env, ...key } })).toMatchObject({ baseUrl: "http://127.0.0.1:1" });
  });
});

describe("names", () => {
  test.each([
    ["opus", "claude-opus-5-5"],
    ["Sonnet", "claude-sonnet-5-5"],
    ["haiku", "claude-haiku-5-5"],
    ["default", "claude-sonnet-5-5"],
    ["inherit", "claude-sonnet-5-5"],
    ["anthropic/opus", "claude-opus-5-5"],
    ["anthropic/claude-x", "claude-x"],
    [" claude-x ", "claude-x"],
  ])("%s stands for %s", (flag, id) => {
    expect(choice({ flag, env: key }).id).toBe(id);
  });

  test("aliases can be set, each on its own", () => {
    const aliases = { anthropic: { opus: "claude-mine", haiku: " " }, openai: { sonnet: "other" } };
    expect(choice({ flag: "opus", aliases, env: key }).id).toBe("claude-mine");
    expect(choice({ flag: "haiku", aliases, env: key }).id).toBe("claude-haiku-5-5");
    expect(choice({ flag: "sonnet", aliases, env: key }).id).toBe("claude-sonnet-5-5");
  });

  test("of an unknown provider are refused with what to do", () => {
    const { code, message } = problem({ setting: "google/gemini", env: key, providers: { mine: {} } });
    expect(code).toBe("model-provider-missing");
    expect(message).toMatch(/the setting "model".*unknown provider "google".*anthropic, openai, mine/);
    expect(message).toContain('"providers": { "google": ');
    for (const variable of ["ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"]) {
      const gateway = { ...key, OPENAI_API_KEY: "sk", [variable]: "http://gateway" };
      expect(choice({ flag: "google/gemini", env: gateway })).toMatchObject({
        id: "google/gemini",
        baseUrl: "http://gateway",
      });
    }
  });

  test.each(["", "  ", "anthropic/", "openai/ "])("%j is no name", (flag) => {
    expect(problem({ flag, env: key }).code).toBe("model-unknown");
  });
});

describe("OpenAI", () => {
  const env = { OPENAI_API_KEY: "sk-secret" };

  test("is the choice when there is no key for Claude, with a model of its own for every alias", () => {
    expect(choice({ env })).toMatchObject({
      provider: "openai",
      type: "openai",
      id: "gpt-6.1-sol",
      credential: { variable: "OPENAI_API_KEY", kind: "apiKey" },
    });
    expect(choice({ flag: "haiku", env }).id).toBe("gpt-6-luna");
    expect(choice({ flag: "haiku", env: { ...env, ...key } }).id).toBe("claude-haiku-5-5");
    expect(choice({ flag: "openai/haiku", env: { ...env, ...key } }).id).toBe("gpt-6-luna");
    expect(choice({ env: { ...env, ANTHROPIC_BASE_URL: "http://gateway" } }).provider).toBe("openai");
  });

  test.each([
    ["openai/gpt-4o", "openai", "gpt-4o"],
    ["OpenAI/gpt-4o", "openai", "gpt-4o"],
    ["gpt-4o", "openai", "gpt-4o"],
    ["o3", "openai", "o3"],
    ["claude-x", "anthropic", "claude-x"],
    ["something", "anthropic", "something"],
  ])("and Claude: %s is of %s", (flag, provider, id) => {
    expect(choice({ flag, env: { ...env, ...key } })).toMatchObject({ provider, id });
  });

  test("a gateway may serve the models of others", () => {
    const gateway = { ...key, ANTHROPIC_BASE_URL: "http://gateway" };
    expect(choice({ flag: "gpt-4o", env: gateway }).provider).toBe("anthropic");
    const other = { ...env, OPENAI_BASE_URL: "http://gateway" };
    expect(choice({ flag: "claude-x", env: other }).provider).toBe("openai");
  });

  test("needs a key, and says which; a server of one's own does not", () => {
    expect(problem({ flag: "openai/gpt-4o", env: key }).message).toContain("Export OPENAI_API_KEY");
    const local = { OPENAI_BASE_URL: "http://127.0.0.1:8080/v1" };
    expect(choice({ flag: "openai/qwen", env: local })).toMatchObject({
      id: "qwen",
      baseUrl: "http://127.0.0.1:8080/v1",
      local: true,
    });
    expect(choice({ flag: "openai/qwen", env: local })).not.toHaveProperty("credential");
    expect(choice({ flag: "qwen", env: local })).toMatchObject({ provider: "openai", id: "qwen" });
  });

  test("has no meaning for aliases on a server of one's own until it is given one", () => {
    const local = { OPENAI_BASE_URL: "http://localhost:8080/v1" };
    const { code, message } = problem({ env: local });
    expect(code).toBe("model-alias-unknown");
    expect(message).toContain('"models": { "openai": { "default": "ID" } }');
    expect(choice({ env: local, aliases: { openai: { default: "qwen" } } }).id).toBe("qwen");
  });
});

describe("a provider from the settings", () => {
  const providers = {
    Local: { type: "openai" as const, baseUrl: "http://127.0.0.1:11434/v1", contextWindow: 8192 },
    router: { type: "openai" as const, baseUrl: "https://router.example/v1", keyEnv: "ROUTER_KEY" },
    work: { type: "anthropic" as const, baseUrl: "https://claude.example", keyEnv: "WORK_AUTH_TOKEN" },
    team: { type: "openai" as const, keyEnv: "TEAM_KEY" },
    mirror: { type: "anthropic" as const, baseUrl: "https://mirror.example" },
  };

  test("is named before the model, in any case, and the model may have slashes of its own", () => {
    expect(choice({ flag: "local/qwen3:8b", providers, env: {} })).toMatchObject({
      provider: "Local",
      type: "openai",
      id: "qwen3:8b",
      local: true,
      settings: { contextWindow: 8192 },
    });
    const env = { ROUTER_KEY: "r", ANTHROPIC_BASE_URL: "http://gateway" };
    expect(choice({ setting: "router/meta/llama", providers, env })).toMatchObject({
      provider: "router",
      id: "meta/llama",
      credential: { variable: "ROUTER_KEY", kind: "apiKey" },
      addressName: 'the setting "providers.router.baseUrl"',
    });
  });

  test("needs the key that it names, and gets no other", () => {
    const env = { ...key, OPENAI_API_KEY: "sk" };
    const { code, message } = problem({ flag: "router/x", providers, env });
    expect(code).toBe("model-key-missing");
    expect(message).toContain("Export ROUTER_KEY");
    expect(choice({ flag: "local/x", providers, env })).not.toHaveProperty("credential");
    expect(choice({ flag: "mirror/x", providers, env })).not.toHaveProperty("credential");
    expect(problem({ flag: "team/x", providers, env }).message).toContain("TEAM_KEY");
    expect(choice({ flag: "work/opus", providers, env: { WORK_AUTH_TOKEN: "t" } })).toMatchObject({
      type: "anthropic",
      id: "claude-opus-5-5",
      credential: { variable: "WORK_AUTH_TOKEN", kind: "authToken" },
    });
  });

  test("may change what a built-in one does", () => {
    const own = { openai: { baseUrl: "https://proxy.example/v1" }, anthropic: { keyEnv: "MY_KEY" } };
    const env = { OPENAI_API_KEY: "sk", OPENAI_BASE_URL: "http://other", MY_KEY: "m" };
    expect(choice({ flag: "openai/opus", providers: own, env })).toMatchObject({
      id: "gpt-6.1-sol",
      baseUrl: "https://proxy.example/v1",
      credential: { variable: "OPENAI_API_KEY" },
    });
    expect(choice({ providers: own, env })).toMatchObject({
      provider: "anthropic",
      credential: { variable: "MY_KEY" },
    });
  });

  test("gives aliases its own meaning, and the default where one is missing", () => {
    const wishes = { setting: "local/qwen", providers, env: key };
    const aliases = { local: { opus: "qwen3:32b", default: "qwen3:8b" } };
    expect(choice({ ...wishes, flag: "opus", aliases })).toMatchObject({
      provider: "Local",
      id: "qwen3:32b",
    });
    expect(choice({ ...wishes, flag: "haiku", aliases }).id).toBe("qwen3:8b");
    expect(problem({ ...wishes, flag: "haiku" }).message).toMatch(/"haiku".*no meaning.*"Local"/);
    expect(problem({ flag: "router/opus", providers, env: { ROUTER_KEY: "r" } }).code).toBe(
      "model-alias-unknown",
    );
    expect(choice({ flag: "team/opus", providers, env: { TEAM_KEY: "t" } }).id).toBe("gpt-6.1-sol");
  });

  test.each(["__proto__/x", "constructor/x", "toString/x"])("%s is none", (flag) => {
    expect(problem({ flag, providers, env: key }).code).toBe("model-provider-missing");
  });
});
