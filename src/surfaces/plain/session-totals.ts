import { promptTokensOf } from "../../contracts/usage.ts";
import type { Session } from "../../runtime/session.ts";

export function describeTotals({ usage, costUsd }: Session["totals"]): string {
  const read = `${count(promptTokensOf(usage))} tokens read (${count(usage.cacheReadTokens)} from cache)`;
  const cost = costUsd === undefined ? "cost unknown" : `$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}`;
  return `${read}, ${count(usage.outputTokens)} written, ${cost}`;
}

function count(tokens: number): string {
  return String(tokens).replace(/\B(?=(\d{3})+$)/g, ",");
}
