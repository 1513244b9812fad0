/** What differs between Claude models as far as a request or its price depends on it. */

/**
 * The name without what does not change the model: `claude-opus-4-5` for `claude-opus-4-5-20251101`,
 * `us.anthropic.claude-opus-4-5-20251101-v1:0`, `claude-opus-4.5` and `claude-opus-4-5@20251101`.
 */
export function claudeFamilyOf(modelId: string): string | undefined {
  const id = modelId.toLowerCase();
  const start = id.indexOf("claude-");
  if (start < 0) return undefined;
  return id
    .slice(start)
    .replace(/\[.*\]$/, "")
    .replaceAll(/[.@]/g, "-")
    .replace(/-v\d+(:\d+)?$/, "")
    .replace(/-(\d{8}|latest)$/, "");
}

/** From 4.6 on a model decides itself how much to think, and newer ones reject a budget. */
export function usesAdaptiveThinking(modelId: string): boolean {
  return isAtLeast(modelId, 4, 6);
}

export function contextWindowOf(modelId: string): number {
  return isAtLeast(modelId, 5, 0) ? 1_000_000 : 200_000;
}

/** Room for long thinking and a long answer, within what the model accepts. Unknown for other names. */
export function maxOutputTokensOf(modelId: string): number | undefined {
  if (isAtLeast(modelId, 5, 0)) return 64_000;
  if (isAtLeast(modelId, 3, 7)) return 32_000;
  if (isAtLeast(modelId, 3, 5)) return 8_192;
  return isAtLeast(modelId, 3, 0) ? 4_096 : undefined;
}

/** A name without a version counts as old: what an old model accepts is understood by most servers. */
function isAtLeast(modelId: string, major: number, minor: number): boolean {
  const version = claudeFamilyOf(modelId)?.match(/-(\d+)(?:-(\d+))?(?=-|$)/);
  if (!version) return false;
  const actualMajor = Number(version[1]);
  const actualMinor = Number(version[2] ?? 0);
  return actualMajor > major || (actualMajor === major && actualMinor >= minor);
}
