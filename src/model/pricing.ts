/** List prices. A model that is not here has no known price, which is not the same as none. */
import { promptTokensOf, type Usage } from "../contracts/usage.ts";
import { claudeFamilyOf } from "./claude-models.ts";
import type { Model } from "./model.ts";
import { openAiFamilyOf } from "./openai-models.ts";

/** USD per million tokens; cache writes are the cheapest there are: for an hour they cost twice the input. */
interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheWrite: number;
  readonly cacheRead: number;
  /** What a request costs whose prompt has more tokens than this. */
  readonly longPrompt?: { overTokens: number; prices: TokenPrices };
}

const opus3 = { input: 15, output: 75, cacheWrite: 18.75, cacheRead: 1.5 };
const opus45 = { input: 5, output: 25, cacheWrite: 6.25, cacheRead: 0.5 };
const sonnet3 = { input: 3, output: 15, cacheWrite: 3.75, cacheRead: 0.3 };
const fable5 = { input: 10, output: 50, cacheWrite: 12.5, cacheRead: 1 };
const fable51 = { ...fable5, cacheRead: 0.25 };

const claudePrices: Readonly<Record<string, TokenPrices>> = {
  "claude-fable-5-1": fable51,
  "claude-mythos-5-1": fable51,
  "claude-fable-5": fable5,
  "claude-mythos-5": fable5,
  "claude-opus-5-5": { input: 4, output: 20, cacheWrite: 5, cacheRead: 0.2 },
  "claude-opus-5": opus45,
  "claude-opus-4-8": opus45,
  "claude-opus-4-7": opus45,
  "claude-opus-4-6": opus45,
  "claude-opus-4-5": opus45,
  "claude-opus-4-1": opus3,
  "claude-opus-4-0": opus3,
  "claude-opus-4": opus3,
  "claude-3-opus": opus3,
  "claude-sonnet-5-5": { input: 2, output: 10, cacheWrite: 2.5, cacheRead: 0.1 },
  "claude-sonnet-5": { input: 2, output: 10, cacheWrite: 2.5, cacheRead: 0.2 },
  "claude-sonnet-4-6": sonnet3,
  "claude-sonnet-4-5": sonnet3,
  "claude-sonnet-4-0": sonnet3,
  "claude-sonnet-4": sonnet3,
  "claude-3-7-sonnet": sonnet3,
  "claude-3-5-sonnet": sonnet3,
  "claude-haiku-5-5": {
    input: 0.1,
    output: 0.5,
    cacheWrite: 0.125,
    cacheRead: 0.01,
    longPrompt: {
      overTokens: 100_000,
      prices: { input: 0.5, output: 2.5, cacheWrite: 0.625, cacheRead: 0.05 },
    },
  },
  "claude-haiku-4-5": { input: 1, output: 5, cacheWrite: 1.25, cacheRead: 0.1 },
  "claude-3-5-haiku": { input: 0.8, output: 4, cacheWrite: 1, cacheRead: 0.08 },
  "claude-3-haiku": { input: 0.25, output: 1.25, cacheWrite: 0.3, cacheRead: 0.03 },
};

/** Where writing to the cache costs nothing extra, it costs what any input does. */
function plain(input: number, cacheRead: number, output: number): TokenPrices {
  return { input, output, cacheWrite: input, cacheRead };
}

/** From 5.4 on a prompt over 272,000 tokens costs twice as much, and its answer half as much again. */
function tiered(input: number, cacheRead: number, output: number, cacheWrite = input): TokenPrices {
  const prices = {
    input: 2 * input,
    output: 1.5 * output,
    cacheWrite: 2 * cacheWrite,
    cacheRead: 2 * cacheRead,
  };
  return { input, output, cacheWrite, cacheRead, longPrompt: { overTokens: 272_000, prices } };
}

const openAiPrices: Readonly<Record<string, TokenPrices>> = {
  "gpt-6.1-sol": tiered(2, 0.1, 10, 2.5),
  "gpt-6.1-terra": tiered(1, 0.05, 5, 1.25),
  "gpt-6-astra": tiered(10, 1, 50, 12.5),
  "gpt-6-sol": tiered(2, 0.2, 10, 2.5),
  "gpt-6-luna": tiered(0.1, 0.01, 0.5, 0.125),
  "gpt-5.6-terra": tiered(2, 0.2, 12, 2.5),
  "gpt-5.6-luna": tiered(0.2, 0.02, 1.2, 0.25),
  "gpt-5.4": tiered(2.5, 0.25, 15),
  "gpt-5.4-mini": plain(0.75, 0.075, 4.5),
  "gpt-5.2": plain(1.75, 0.175, 14),
  "gpt-5.1": plain(1.25, 0.125, 10),
  "gpt-5": plain(1.25, 0.125, 10),
  "gpt-5-mini": plain(0.25, 0.025, 2),
  "gpt-5-nano": plain(0.05, 0.005, 0.4),
  "gpt-4.1": plain(2, 0.5, 8),
  "gpt-4.1-mini": plain(0.4, 0.1, 1.6),
  "gpt-4.1-nano": plain(0.1, 0.025, 0.4),
  "gpt-4o": plain(2.5, 1.25, 10),
  "gpt-4o-mini": plain(0.15, 0.075, 0.6),
  o1: plain(15, 7.5, 60),
  o3: plain(2, 0.5, 8),
  "o3-mini": plain(1.1, 0.55, 4.4),
  "o4-mini": plain(1.1, 0.275, 4.4),
};

/** Snapshots that do not cost what their family does. */
const openAiExceptions: Readonly<Record<string, TokenPrices>> = {
  "gpt-4o-2024-05-13": plain(5, 5, 15),
};

/**
 * What one request to `model` cost, answered under the name `answeredBy`. A server may answer under a name of
 * its own, but the price was known by the name that was asked for.
 */
export function costOfRequest(
  model: Pick<Model, "provider" | "id" | "local">,
  answeredBy: string,
  usage: Usage,
): number | undefined {
  if (isFree(model.provider)) return 0;
  return costOf(answeredBy, usage) ?? costOf(model.id, usage) ?? (model.local ? 0 : undefined);
}

/**
 * What one request cost in dollars, or undefined if the price is unknown. Add up costs, not tokens: a
 * price can depend on the length of the request's prompt.
 */
export function costOf(modelId: string, usage: Usage): number | undefined {
  if (isFree(modelId)) return 0;
  const listed = pricesOf(modelId);
  if (listed === undefined) return undefined;
  const prices =
    listed.longPrompt !== undefined && promptTokensOf(usage) > listed.longPrompt.overTokens
      ? listed.longPrompt.prices
      : listed;
  const longWriteTokens = usage.longCacheWriteTokens ?? 0;
  const millionths =
    usage.inputTokens * prices.input +
    usage.outputTokens * prices.output +
    (usage.cacheWriteTokens - longWriteTokens) * prices.cacheWrite +
    longWriteTokens * 2 * prices.input +
    usage.cacheReadTokens * prices.cacheRead;
  return millionths / 1_000_000;
}

function pricesOf(modelId: string): TokenPrices | undefined {
  const name = modelId.toLowerCase().replace(/^.*\//, "");
  return (
    ownOf(claudePrices, claudeFamilyOf(modelId)) ??
    ownOf(openAiExceptions, name) ??
    ownOf(openAiPrices, openAiFamilyOf(modelId))
  );
}

function ownOf(
  table: Readonly<Record<string, TokenPrices>>,
  name: string | undefined,
): TokenPrices | undefined {
  return name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined;
}

function isFree(name: string): boolean {
  return /^(offline|scripted)($|[-/:])/.test(name);
}
