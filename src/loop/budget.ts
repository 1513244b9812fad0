/** What a run may use: tokens and dollars, charged to every ancestor. Turns are counted by the loop itself. */
import { CadreError } from "../base/errors.ts";
import type { LoopEnd } from "../contracts/event.ts";
import { addUsage, noUsage, totalTokensOf, type Usage } from "../contracts/usage.ts";

export interface Budget {
  /** `costUsd` undefined: the price of this model is not known. */
  charge(options: { modelId: string; usage: Usage; costUsd: number | undefined }): void;
  /** Set when this budget, or one above it, is used up. */
  exhausted(): Extract<LoopEnd, { reason: "budget_exhausted" }> | undefined;
  readonly usage: Usage;
  readonly usageByModel: Readonly<Record<string, Usage>>;
  /** Undefined when something with an unknown price was charged. */
  readonly costUsd: number | undefined;
  /** A part of this one, with limits of its own. What is charged to it is charged here too. */
  child(limits: BudgetLimits): Budget;
}

export interface BudgetLimits {
  readonly maxTokens?: number;
  readonly maxCostUsd?: number;
}

export function createBudget(limits: BudgetLimits, parent?: Budget): Budget {
  let usage = noUsage;
  let costUsd: number | undefined = 0;
  const usageByModel: Record<string, Usage> = {};
  const budget: Budget = {
    charge(charge) {
      parent?.charge(charge);
      usage = addUsage(usage, charge.usage);
      usageByModel[charge.modelId] = addUsage(usageByModel[charge.modelId] ?? noUsage, charge.usage);
      costUsd = costUsd === undefined || charge.costUsd === undefined ? undefined : costUsd + charge.costUsd;
    },
    exhausted() {
      const tokens = totalTokensOf(usage);
      if (limits.maxTokens !== undefined && tokens >= limits.maxTokens) {
        const message = `The token budget is used up: ${tokens} of ${limits.maxTokens}.`;
        return { reason: "budget_exhausted", budget: "tokens", message };
      }
      if (limits.maxCostUsd !== undefined && costUsd !== undefined && costUsd >= limits.maxCostUsd) {
        const message = `The cost budget is used up: $${costUsd.toFixed(4)} of $${limits.maxCostUsd}.`;
        return { reason: "budget_exhausted", budget: "cost", message };
      }
      return parent?.exhausted();
    },
    get usage() {
      return usage;
    },
    get usageByModel() {
      return usageByModel;
    },
    get costUsd() {
      return costUsd;
    },
    child: (childLimits) => createBudget(childLimits, budget),
  };
  return budget;
}

/** A cost limit that cannot be watched is an error, not a limit of zero or of nothing (LO-7). */
export function assertPriceKnown(options: {
  modelId: string;
  priceKnown: boolean;
  limits: BudgetLimits;
}): void {
  if (options.limits.maxCostUsd === undefined || options.priceKnown) return;
  throw new CadreError({
    code: "price-unknown",
    message: `A cost limit is set, but the price of the model "${options.modelId}" is not known. Leave out the limit (--max-cost), limit turns instead (--max-turns), or choose a model with a known price.`,
  });
}
