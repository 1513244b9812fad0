import { totalTokensOf } from "../contracts/usage.ts";
import type { Reservation } from "./budget.ts";
import type { BudgetEnd } from "./budget-limit.ts";
import { estimateUsage } from "./estimate.ts";
import { type LoopOptions, maxOutputTokensOf } from "./loop-options.ts";

export interface Admission {
  /** Of the request that is on its way, if its budget is limited. */
  reservation: Reservation | undefined;
}

/**
 * Before every request: reserves in the budget, and in all above it, what the request will take. If one of them
 * has no room for it beside what others have on their way, the request is not made, and the run ends (LO-7).
 */
export function admitRequest(
  loop: LoopOptions,
  admission: Admission,
  { beginsTurn }: { beginsTurn: boolean },
): BudgetEnd | undefined {
  if (!loop.budget.limited) return undefined;
  const room = loop.budget.reserve({ beginsTurn, estimate: () => estimateRequest(loop) });
  if ("reason" in room) return room;
  admission.reservation = room;
  return undefined;
}

function estimateRequest(loop: LoopOptions): { tokens: number; costUsd: number } {
  const { prefix, history, model } = loop;
  const usage = estimateUsage({ prefix, history, maxOutputTokens: maxOutputTokensOf(loop) });
  return { tokens: totalTokensOf(usage), costUsd: loop.priceOf(model, model.id, usage) ?? 0 };
}
