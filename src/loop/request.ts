/** From history to request: a pure function of what stands in the transcript (LO-5). */
import type { Scope } from "../base/cancellation.ts";
import type { Message } from "../contracts/message.ts";
import type { ModelRequest, ToolDescription } from "../model/model.ts";
import { type CacheTtl, placeCacheMarks } from "../model/prompt-cache.ts";

/** What stands before the messages of every request of an agent. Kept as it was rendered once. */
export interface Prefix {
  readonly system: string;
  readonly tools: readonly ToolDescription[];
}

export function buildRequest(options: {
  prefix: Prefix;
  messages: readonly Message[];
  /** How many messages the previous request of this conversation had; that is where its cache entry ends. */
  previousCount: number | undefined;
  maxOutputTokens: number;
  thinking?: { budgetTokens: number } | undefined;
  cacheTtl?: CacheTtl | undefined;
  scope: Scope;
  isRetry?: boolean;
  onRetry?: ModelRequest["onRetry"];
}): ModelRequest {
  // An answer without any block is kept in the transcript but cannot be sent.
  const messages = options.messages.some((message) => message.content.length === 0)
    ? options.messages.filter((message) => message.content.length > 0)
    : options.messages.slice();
  return {
    system: options.prefix.system,
    tools: options.prefix.tools,
    messages,
    cacheMarks: placeCacheMarks({
      messageCount: messages.length,
      previousMessageCount: options.previousCount,
    }),
    cacheTtl: options.cacheTtl,
    maxOutputTokens: options.maxOutputTokens,
    thinking: options.thinking,
    scope: options.scope,
    isRetry: options.isRetry,
    onRetry: options.onRetry,
  };
}
