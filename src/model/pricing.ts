/** List prices. A model that is not here has no known price, which is not the same as none. */
import { promptTokensOf, type Usage } from "../contracts/usage.ts";
import { claudeFamilyOf } from "./claude-models.ts";

/** USD per million tokens; cache writes are those that live five minutes. */
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

const pricesByFamily: Readonly<Record<string, TokenPrices>> = {
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

/**
 * What one request cost in dollars, or undefined if the price is unknown. Add up costs, not tokens: a
 * price can depend on the length of the request's prompt.
 */
export function costOf(modelId: string, usage: Usage): number | undefined {
  if (isFree(modelId)) return 0;
  const family = claudeFamilyOf(modelId);
  const listed = family === undefined ? undefined : pricesByFamily[family];
  if (listed === undefined) return undefined;
  const prices =
    listed.longPrompt !== undefined && promptTokensOf(usage) > listed.longPrompt.overTokens
      ? listed.longPrompt.prices
      : listed;
  const millionths =
    usage.inputTokens * prices.input +
    usage.outputTokens * prices.output +
    usage.cacheWriteTokens * prices.cacheWrite +
    usage.cacheReadTokens * prices.cacheRead;
  return millionths / 1_000_000;
}

function isFree(modelId: string): boolean {
  return /^(offline|scripted)($|[-/:])/.test(modelId);
}
