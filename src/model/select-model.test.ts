import { describe, expect, test } from "vitest";
import { chooseModel, type ModelWishes, resolveModelName } from "./select-model.ts";

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

  test("an alias follows the provider of the session", () => {
    expect(resolveModelName({ name: "haiku", provider: "offline" })).toBe("offline");
    expect(resolveModelName({ name: "inherit", provider: "anthropic", inherited: "claude-parent" })).toBe(
      "claude-parent",
    );
    expect(resolveModelName({ name: "claude-x", provider: "anthropic", inherited: "claude-parent" })).toBe(
      "claude-x",
    );
  });

  test("of another provider are refused with what to do", () => {
    expect(problem({ flag: "openai/gpt-5", env: key }).message).toMatch(
      /"openai\/gpt-5" in --model.*not speak to yet/,
    );
    expect(problem({ setting: "google/gemini", env: key }).message).toMatch(
      /the setting "model".*unknown provider "google"/,
    );
    const gateway = { ...key, ANTHROPIC_BASE_URL: "http://gateway" };
    expect(choice({ flag: "google/gemini", env: gateway }).id).toBe("google/gemini");
  });

  test.each(["", "  ", "anthropic/"])("%j is no name", (flag) => {
    expect(problem({ flag, env: key }).code).toBe("model-unknown");
  });
});
