import type { Usage } from "../../contracts/usage.ts";
import { costOf } from "../../model/pricing.ts";

/** As the Messages API spells it. What Cadre does not know stands there as nothing used. */
export function wireUsage(usage: Usage): Record<string, unknown> {
  const longWriteTokens = usage.longCacheWriteTokens ?? 0;
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens - longWriteTokens,
      ephemeral_1h_input_tokens: longWriteTokens,
    },
    server_tool_use: { web_search_requests: 0, web_fetch_requests: 0 },
    service_tier: "standard",
    inference_geo: "",
    iterations: [],
    output_tokens_details: { thinking_tokens: 0 },
    speed: "standard",
    fallback_credit: null,
  };
}

export function wireModelUsage(usageByModel: Readonly<Record<string, Usage>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(usageByModel).map(([model, usage]) => [
      model,
      {
        inputTokens: usage.inputTokens,
        outputTokens: usage.outputTokens,
        cacheReadInputTokens: usage.cacheReadTokens,
        cacheCreationInputTokens: usage.cacheWriteTokens,
        webSearchRequests: 0,
        costUSD: costOf(model, usage) ?? null,
      },
    ]),
  );
}
