/** What a single agent may use: by call, definition and settings. */
import type { AgentBudget, AgentDefinition, Effort } from "../contracts/agent-definition.ts";
import type { Settings } from "../contracts/settings.ts";
import type { BudgetLimits } from "../loop/budget-limit.ts";
import type { Model } from "../model/model.ts";

/**
 * `maxTurns` bounds its own loop: the call's beats the definition's. The budget is that of all below it, too: of
 * definition and settings the smaller limit holds.
 */
export function agentLimits(options: {
  maxTurns: number | undefined;
  definition: AgentDefinition;
  setting: AgentBudget | undefined;
}): { maxTurns: number | undefined; budget: BudgetLimits } {
  const { definition, setting } = options;
  const own = definition.budget;
  const maxTurns = smaller(own?.turns, setting?.turns);
  const maxTokens = smaller(own?.tokens, setting?.tokens);
  const maxCostUsd = smaller(own?.usd, setting?.usd);
  const maxMinutes = smaller(own?.minutes, setting?.minutes);
  return {
    maxTurns: options.maxTurns ?? definition.maxTurns,
    budget: {
      ...(maxTurns !== undefined && { maxTurns }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(maxCostUsd !== undefined && { maxCostUsd }),
      ...(maxMinutes !== undefined && { maxMinutes }),
    },
  };
}

function smaller(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}

const thinkingTokens = { low: undefined, medium: 4_096, high: 16_384, max: 32_768 } as const;
const leastThinking = 1_024;

/** How long it may think; it must leave room for an answer. */
export function thinkingFor(effort: Effort | undefined, model: Model): { budgetTokens: number } | undefined {
  if (effort === undefined) return undefined;
  const wanted = typeof effort === "number" ? effort : thinkingTokens[effort];
  const most = (model.maxOutputTokens ?? 16_384) - leastThinking;
  if (wanted === undefined || wanted < leastThinking || most < leastThinking) return undefined;
  return { budgetTokens: Math.min(wanted, most) };
}

const defaultMaxDepth = 1;

/** How deep agents may start agents: at 1 only the main one does. */
export function maxDepthOf({ settings }: { readonly settings: Pick<Settings, "maxAgentDepth"> }): number {
  return settings.maxAgentDepth ?? defaultMaxDepth;
}
