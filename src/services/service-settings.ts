/**
 * services/ owns what the runtime does by itself beside the conversation, on internal forks (FK-12). None of it may
 * delay or fail the main loop, each has a switch and a budget, and all end with the session.
 */
import type { Settings } from "../contracts/settings.ts";
import type { BudgetLimits } from "../loop/budget-limit.ts";

export type ServiceName =
  | "sessionMemory"
  | "extractMemories"
  | "consolidateMemories"
  | "suggest"
  | "speculate"
  | "sideQuestion"
  | "agentSummary";

export interface ServiceSetting {
  readonly enabled: boolean;
  /** Of all that it does in a session. */
  readonly limits: BudgetLimits;
}

interface Default {
  /** `watched`: where a person follows the session. `asked`: it does nothing unless somebody calls for it. */
  readonly on: "watched" | "asked" | "never";
  readonly tokens: number;
}

/** Most of these tokens are read from the prompt cache: every request brings the whole conversation. */
const defaults: Readonly<Record<ServiceName, Default>> = {
  sessionMemory: { on: "watched", tokens: 2_000_000 },
  extractMemories: { on: "watched", tokens: 2_000_000 },
  consolidateMemories: { on: "watched", tokens: 200_000 },
  suggest: { on: "watched", tokens: 2_000_000 },
  speculate: { on: "never", tokens: 2_000_000 },
  sideQuestion: { on: "asked", tokens: 5_000_000 },
  agentSummary: { on: "asked", tokens: 2_000_000 },
};

export function serviceSetting(
  name: ServiceName,
  { settings, isWatched }: { settings: Settings; isWatched: boolean },
): ServiceSetting {
  const { on, tokens } = defaults[name];
  const given = settings.services?.[name];
  const own = typeof given === "object" ? given : {};
  const wished = typeof given === "boolean" ? given : own.enabled;
  const mayUse = own.tokens !== 0 && own.usd !== 0;
  return {
    enabled: mayUse && (wished ?? (on === "asked" || (on === "watched" && isWatched))),
    limits: {
      maxTokens: own.tokens ?? tokens,
      ...(own.usd !== undefined && { maxCostUsd: own.usd }),
    },
  };
}
