/**
 * The one module that decides about prompt-cache marks (LO-5). A request may carry four: one on the last
 * tool, one on the system prompt, and two in the history, which are placed here.
 */
import type { Block } from "../contracts/message.ts";

export type CacheTtl = "5m" | "1h";

export const cacheLifeMs: Readonly<Record<CacheTtl, number>> = { "5m": 300_000, "1h": 3_600_000 };

/** A shorter prefix is cached by no model. */
export const leastCachedTokens = 1_024;

/** From a mark the provider looks back over so many blocks, the marked one among them. */
const lookBackBlocks = 20;

/**
 * The indexes of the messages after which a mark stands. The end of the previous request needs one of its
 * own: from the newest mark the provider looks back 20 blocks only, and a turn with many calls adds more.
 */
export function placeCacheMarks(options: { messageCount: number; previousMessageCount?: number }): number[] {
  const { messageCount, previousMessageCount = 0 } = options;
  if (messageCount <= 0) return [];
  const last = messageCount - 1;
  const previous = previousMessageCount - 1;
  // A history that became shorter (compaction) has no end of a previous request in it.
  return previous >= 0 && previous < last ? [previous, last] : [last];
}

/** The provider rejects a mark on a thinking block. */
export function isMarkable(block: Block): boolean {
  return block.type !== "thinking" && block.type !== "redacted_thinking";
}

/** The member that makes a block, a tool or the system prompt the end of a cached prefix. */
export function cacheMarkJson(ttl: CacheTtl): string {
  return ttl === "5m"
    ? '"cache_control":{"type":"ephemeral"}'
    : `"cache_control":{"type":"ephemeral","ttl":${JSON.stringify(ttl)}}`;
}

/** Prices of a token, in prices of one that the cache has nothing to do with. */
const readPrice = 0.1;
const writePrice = 1.25;
const longWritePrice = 2;

/**
 * Whether it is worth keeping what a request writes for an hour. It costs more for every token that is new; it saves,
 * should the next request come after five minutes, writing again all that would have been lost. Since an entry is the
 * whole prefix up to its mark, and only what is new in it is paid for, little has to be paid to save much.
 */
export function longCachePays(options: {
  /** Written by this request in any case. */
  newTokens: number;
  /** Of the whole prompt, what a later request would find nowhere else. */
  atRiskTokens: number;
  /** That the next request comes after five minutes, and within the hour. */
  chance: number;
}): boolean {
  const { newTokens, atRiskTokens, chance } = options;
  return chance * (writePrice - readPrice) * atRiskTokens > (longWritePrice - writePrice) * newTokens;
}

/**
 * The chance of a long pause before anything is known of a conversation. It is larger while something that an agent has
 * started runs in the background, since then it may have nothing to do but wait.
 */
export const assumedChance = { pausing: 0.01, awaiting: 0.25 };

/** After a pause was seen. The latest count most: long pauses come in rows, when somebody works along with others. */
export function learnedChance(chance: number, wasLong: boolean): number {
  return Math.max(assumedChance.pausing, chance + ((wasLong ? 1 : 0) - chance) / 3);
}

export function isLongPause(ms: number): boolean {
  return ms >= cacheLifeMs["5m"] && ms < cacheLifeMs["1h"];
}

/** Whether an entry that ends after `from` messages is found from a mark after `to` of them. */
export function isWithinLookBack(
  messages: readonly { readonly content: readonly Block[] }[],
  { from, to }: { from: number; to: number },
): boolean {
  let blocks = 1;
  for (let index = from; index < to && blocks <= lookBackBlocks; index++)
    blocks += messages[index]?.content.length ?? 0;
  return blocks <= lookBackBlocks;
}
