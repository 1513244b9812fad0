/** What a session has used so far, for a person. */
import { groupDigits } from "../../base/group-digits.ts";
import { promptTokensOf, type Usage } from "../../contracts/usage.ts";
import type { Session } from "../../runtime/session.ts";

/** In a line. */
export function describeTotals({ usage, costUsd }: Session["totals"]): string {
  const read = `${groupDigits(promptTokensOf(usage))} tokens read (${groupDigits(usage.cacheReadTokens)} from cache)`;
  return `${read}, ${groupDigits(usage.outputTokens)} written, ${dollars(costUsd)}`;
}

/** The same with what the prompt cache did; of several models each by itself, since a cache belongs to one. */
export function describeCost({ usage, usageByModel, costUsd }: Session["totals"]): string {
  const models = Object.entries(usageByModel);
  const each = models.length < 2 ? [] : models.map(([model, used]) => `  ${model}: ${cacheUse(used)}`);
  return [describeTotals({ usage, usageByModel, costUsd }), `prompt cache: ${cacheUse(usage)}`, ...each].join(
    "\n",
  );
}

function cacheUse(usage: Usage): string {
  const { cacheReadTokens: read, cacheWriteTokens: written, inputTokens: fresh } = usage;
  const all = promptTokensOf(usage);
  const share = all === 0 ? "" : ` (${percent(read / all)} of what was read)`;
  return `${groupDigits(read)} tokens read from it${share}, ${groupDigits(written)} put into it, ${groupDigits(fresh)} neither`;
}

/** Not rounded up: 100% is all. */
function percent(share: number): string {
  return `${Math.floor(share * 1000) / 10}%`;
}

function dollars(costUsd: number | undefined): string {
  return costUsd === undefined ? "cost unknown" : `$${costUsd.toFixed(costUsd < 1 ? 4 : 2)}`;
}
