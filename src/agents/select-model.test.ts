import { describe, expect, it } from "vitest";
import { type ModelQuestion, selectModel } from "./select-model.ts";

type Given = Partial<Omit<ModelQuestion, "definition">> & { model?: string; forkContext?: boolean };

const claude = { provider: "anthropic", id: "claude-opus-5-5" };
const keys = { ANTHROPIC_API_KEY: "key" };

function select({ model, forkContext, ...given }: Given = {}) {
  return selectModel({
    definition: {
      agentType: "reviewer",
      ...(model !== undefined && { model }),
      ...(forkContext && { forkContext }),
    },
    parent: claude,
    settings: {},
    ...given,
    env: { ...keys, ...given.env },
  });
}

describe("the model of an agent", () => {
  const all: Given = {
    env: { CADRE_SUBAGENT_MODEL: "claude-env-1" },
    call: "claude-call-1",
    model: "claude-file-1",
    settings: { subagentModel: "claude-setting-1" },
  };

  it.each<[string, Given, string]>([
    ["the environment first", all, "anthropic/claude-env-1"],
    ["then the call", { ...all, env: { CADRE_SUBAGENT_MODEL: " " } }, "anthropic/claude-call-1"],
    ["then the definition", { ...all, env: {}, call: undefined }, "anthropic/claude-file-1"],
    [
      "then the setting, where nobody names one",
      { settings: all.settings ?? {} },
      "anthropic/claude-setting-1",
    ],
    ["the setting also for inherit", { ...all, env: {}, call: "Inherit" }, "anthropic/claude-setting-1"],
    [
      "the setting for inherit in the environment",
      { ...all, env: { CADRE_SUBAGENT_MODEL: "inherit" } },
      "anthropic/claude-setting-1",
    ],
    ["at last the parent's", {}, "inherit"],
    ["the parent's for inherit", { model: "inherit" }, "inherit"],
    ["the parent's where the setting says so", { settings: { subagentModel: "inherit" } }, "inherit"],
    ["a fork always the parent's", { ...all, isFork: true }, "inherit"],
    ["the same for who sees the conversation", { ...all, forkContext: true }, "inherit"],
    [
      "the offline model stays offline",
      { ...all, parent: { provider: "offline", id: "offline" } },
      "inherit",
    ],
    ["so does a script", { ...all, parent: { provider: "scripted", id: "scripted" } }, "inherit"],
  ])("%s", (_, given, model) => {
    expect(select(given)).toEqual({ model });
  });

  it.each<[string, Given["parent"], string]>([
    ["haiku", claude, "anthropic/claude-haiku-5-5"],
    [" Sonnet ", claude, "anthropic/claude-sonnet-5-5"],
    ["opus", claude, "inherit"],
    ["opus", { provider: "anthropic", id: "claude-opus-4-5-20251101" }, "inherit"],
    ["sonnet", { provider: "anthropic", id: "claude-3-5-sonnet-20241022" }, "inherit"],
    ["default", { provider: "anthropic", id: "claude-sonnet-4-6" }, "inherit"],
    ["opus", { provider: "anthropic", id: "claude-sonnet-4-6" }, "anthropic/claude-opus-5-5"],
    ["haiku", { provider: "openai", id: "gpt-6.1-sol" }, "openai/gpt-6-luna"],
    ["opus", { provider: "openai", id: "gpt-6-sol" }, "inherit"],
    ["opus", { provider: "of-a-program", id: "x" }, "inherit"],
  ])("%s below %j is %s", (alias, parent, model) => {
    const env = { OPENAI_API_KEY: "key" };
    expect(select({ call: alias, env, parent })).toEqual({ model });
  });

  it("takes the aliases of the settings, and tells versions apart where those are all that differs", () => {
    const models = { openai: { opus: "gpt-5.5", sonnet: "gpt-5.2", haiku: "gpt-5-mini" } };
    const given = { settings: { models }, env: { OPENAI_API_KEY: "key" } };
    const below = (id: string, call: string) =>
      select({ ...given, call, parent: { provider: "openai", id } });
    expect(below("gpt-5.2", "opus")).toEqual({ model: "openai/gpt-5.5" });
    expect(below("gpt-5.5", "opus")).toEqual({ model: "inherit" });
    expect(below("gpt-4-mini", "haiku")).toEqual({ model: "inherit" });
  });

  it("is one of the parent's provider where a name says no other", () => {
    const providers = { local: { type: "openai" as const, baseUrl: "http://127.0.0.1:9/v1" } };
    const given = { settings: { providers }, parent: { provider: "local", id: "big" } };
    expect(select({ ...given, call: "small" })).toEqual({ model: "local/small" });
    expect(select({ ...given, call: "big" })).toEqual({ model: "inherit" });
    expect(select({ ...given, call: "anthropic/claude-x" })).toEqual({ model: "anthropic/claude-x" });
  });
});

describe("a model that can not be had", () => {
  const without: [string, string, RegExp][] = [
    ["a model without a key", "openai/gpt-6", /needs a key/],
    ["a name of a provider without a key", "gpt-6", /needs a key/],
    ["a provider that nobody knows", "nowhere/x", /unknown provider/],
    ["a name that its provider can not have", "opusplan", /no model of that name/],
  ];

  it.each(without)("%s: as the call's it is an error that says what works", (_, call, why) => {
    const selected = select({ call });
    expect(selected).toEqual({ problem: expect.stringMatching(why) });
    expect(selected).toEqual({ problem: expect.stringContaining("inherit, opus, sonnet, haiku") });
    expect(JSON.stringify(selected)).not.toContain("--model");
  });

  it.each(without)("%s: as the definition's it gives way to the parent's, with a note", (_, model, why) => {
    const selected = select({ model });
    expect(selected).toMatchObject({ model: "inherit", note: expect.stringMatching(why) });
    expect(selected).toMatchObject({ note: expect.stringContaining("claude-opus-5-5") });
  });

  it("is an error where the user's own settings or environment name it", () => {
    expect(select({ env: { CADRE_SUBAGENT_MODEL: "gpt-6" } })).toEqual({
      problem: expect.stringContaining("CADRE_SUBAGENT_MODEL"),
    });
    expect(select({ settings: { subagentModel: "gpt-6" } })).toEqual({
      problem: expect.stringContaining("subagentModel"),
    });
  });

  it("is an alias that means nothing to a server of one's own", () => {
    const providers = { local: { type: "openai" as const, baseUrl: "http://127.0.0.1:9/v1" } };
    const given = { settings: { providers }, parent: { provider: "local", id: "big" } };
    expect(select({ ...given, call: "haiku" })).toEqual({ problem: expect.stringContaining("no meaning") });
    expect(select({ ...given, model: "haiku" })).toMatchObject({
      model: "inherit",
      note: expect.any(String),
    });
  });
});
