import type { BudgetLimits } from "../loop/budget-limit.ts";
import type { SessionOptions } from "./session.ts";

/** Of all agents together. `maxTurns` of the options is another thing: it bounds each run of the main loop. */
export function sessionLimits({ settings, ...options }: SessionOptions): BudgetLimits {
  const session = settings.budgets?.session;
  const maxCostUsd = options.maxCostUsd ?? session?.usd;
  const maxTokens = options.maxTokens ?? session?.tokens;
  const maxMinutes = options.maxMinutes ?? session?.minutes;
  return {
    ...(maxCostUsd !== undefined && { maxCostUsd }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(maxMinutes !== undefined && { maxMinutes }),
    ...(session?.turns !== undefined && { maxTurns: session.turns }),
  };
}
