import * as z from "zod";

/** Tokens of one request or of many. `inputTokens` are those neither read from nor written to the prompt cache. */
export const Usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheWriteTokens: z.number(),
  cacheReadTokens: z.number(),
  /** Of those written, the ones that are kept for an hour, which costs more. Absent: none. */
  longCacheWriteTokens: z.number().optional(),
});
export type Usage = z.infer<typeof Usage>;

export const noUsage: Usage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cacheWriteTokens: 0,
  cacheReadTokens: 0,
});

export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
  };
  const longCacheWriteTokens = (a.longCacheWriteTokens ?? 0) + (b.longCacheWriteTokens ?? 0);
  return longCacheWriteTokens > 0 ? { ...sum, longCacheWriteTokens } : sum;
}

/** What the model had before it when it answered: the whole prompt, cached or not. */
export function promptTokensOf(usage: Usage): number {
  return usage.inputTokens + usage.cacheWriteTokens + usage.cacheReadTokens;
}

export function totalTokensOf(usage: Usage): number {
  return promptTokensOf(usage) + usage.outputTokens;
}
