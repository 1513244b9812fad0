import type { Settings } from "../contracts/settings.ts";

const defaultThinkingTokens = 8_192;

export function thinkingOf(setting: Settings["thinking"]): { budgetTokens: number } | undefined {
  if (setting === undefined || setting === false) return undefined;
  return setting === true ? { budgetTokens: defaultThinkingTokens } : { budgetTokens: setting.budgetTokens };
}
