/** What differs between OpenAI's models as far as a request or its price depends on it. */

/** The name without date and the like: `gpt-4.1-mini` for `gpt-4.1-mini-2025-04-14` and `openai/gpt-4.1-mini`. */
export function openAiFamilyOf(modelId: string): string | undefined {
  const id = modelId.toLowerCase().replace(/^.*\//, "");
  if (!isOpenAiName(id)) return undefined;
  return id.replace(/-(\d{4}-\d{2}-\d{2}|\d{4}|latest)$/, "");
}

/** Names that say by themselves whose they are. Open weights (`gpt-oss`) may be served by anybody. */
export function isOpenAiName(modelId: string): boolean {
  return /^(gpt-\d|chatgpt-|o\d($|-))/.test(modelId.toLowerCase());
}

interface Limits {
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
}

export function openAiLimitsOf(modelId: string): Limits | undefined {
  const family = openAiFamilyOf(modelId);
  if (family === undefined) return undefined;
  const version = versionOf(family);
  if (version >= 5.4 && !/-(mini|nano)$/.test(family))
    return { contextWindow: 1_050_000, maxOutputTokens: 64_000 };
  if (version >= 5) return { contextWindow: 400_000, maxOutputTokens: 64_000 };
  if (version >= 4.1) return { contextWindow: 1_047_576, maxOutputTokens: 32_768 };
  if (/^o\d/.test(family)) return { contextWindow: 200_000, maxOutputTokens: 64_000 };
  if (/^(gpt-4o|chatgpt-4o)/.test(family)) return { contextWindow: 128_000, maxOutputTokens: 16_384 };
  if (/^gpt-4-turbo/.test(family)) return { contextWindow: 128_000, maxOutputTokens: 4_096 };
  if (version >= 4) return { contextWindow: 8_192, maxOutputTokens: 2_048 };
  return { contextWindow: 16_385, maxOutputTokens: 4_096 };
}

/** Newer models want the answer's limit by its newer name; most other servers know only the older one. */
export function limitFieldOf(modelId: string): "max_completion_tokens" | "max_tokens" {
  const family = openAiFamilyOf(modelId);
  const reasons = family !== undefined && (/^o\d/.test(family) || versionOf(family) >= 5);
  return reasons ? "max_completion_tokens" : "max_tokens";
}

/**
 * How hard to think, where that can be said. With tools, chat completions take no effort from 5.2 on, and from
 * 5.5 on, where models think unless told otherwise, they must be told not to.
 */
export function effortOf(options: {
  modelId: string;
  thinking: { budgetTokens: number } | undefined;
  hasTools: boolean;
}): "none" | "low" | "medium" | "high" | undefined {
  // A name with a folder is that of a gateway, which translates.
  const family = options.modelId.includes("/") ? undefined : openAiFamilyOf(options.modelId);
  if (family === undefined || /-chat$/.test(family)) return undefined;
  const version = versionOf(family);
  if (options.hasTools && version >= 5.2) return version >= 5.5 ? "none" : undefined;
  if (options.thinking === undefined || !(version >= 5 || /^o[1-9]/.test(family))) return undefined;
  const { budgetTokens } = options.thinking;
  if (budgetTokens < 4_096) return "low";
  return budgetTokens < 16_384 ? "medium" : "high";
}

/** 4.1 of `gpt-4.1-mini`; 0 for names of another kind. */
function versionOf(family: string): number {
  return Number(/^gpt-(\d+(?:\.\d+)?)(?=-|$)/.exec(family)?.[1] ?? 0);
}
