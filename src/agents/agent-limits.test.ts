import { describe, expect, it } from "vitest";
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import { createScriptedModel } from "../testing/scripted-model.ts";
import { agentLimits, thinkingFor } from "./agent-limits.ts";

const definition = (more: Partial<AgentDefinition>): AgentDefinition => ({
  agentType: "helper",
  whenToUse: "helps",
  prompt: "",
  source: "user",
  ...more,
});

describe("what an agent may use", () => {
  it("is bounded by the call's turns before the definition's, and by nothing where neither says", () => {
    const limits = (call: number | undefined, own: number | undefined) =>
      agentLimits({ maxTurns: call, definition: definition({ maxTurns: own }), setting: undefined }).maxTurns;
    expect([limits(3, 9), limits(9, 3), limits(undefined, 3), limits(undefined, undefined)]).toEqual([
      3,
      9,
      3,
      undefined,
    ]);
  });

  it("is the smaller of what definition and settings say, kind by kind", () => {
    const { budget } = agentLimits({
      maxTurns: undefined,
      definition: definition({ budget: { turns: 5, usd: 2 } }),
      setting: { turns: 9, tokens: 100, usd: 1 },
    });
    expect(budget).toEqual({ maxTurns: 5, maxTokens: 100, maxCostUsd: 1 });
  });
});

describe("how long an agent may think", () => {
  const model = { ...createScriptedModel([]), maxOutputTokens: 8_192 };

  it("follows its effort, leaves room for an answer, and is nothing where there is none", () => {
    expect(thinkingFor("medium", model)).toEqual({ budgetTokens: 4_096 });
    expect(thinkingFor("max", model)).toEqual({ budgetTokens: 8_192 - 1_024 });
    expect(thinkingFor(2_000, model)).toEqual({ budgetTokens: 2_000 });
    for (const effort of ["low", 100, undefined] as const) expect(thinkingFor(effort, model)).toBeUndefined();
    expect(thinkingFor("high", { ...model, maxOutputTokens: 1_500 })).toBeUndefined();
  });
});
