/**
 * The one module that decides about prompt-cache marks (LO-5). A request may carry four: one on the last
 * tool, one on the system prompt, and two in the history, which are placed here.
 */
import type { Block } from "../contracts/message.ts";

export type CacheTtl = "5m" | "1h";

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
