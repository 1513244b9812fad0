/**
 * model/ owns the way to a model: a request in, a stream of events out. It knows providers, prompt
 * caches and prices; it must not know tools' code, agents or the loop.
 */
import type { ModelEvent } from "../contracts/event.ts";
import type { Message } from "../contracts/message.ts";

export interface Model {
  /** `anthropic`, `openai`, `offline`, `scripted`. */
  readonly provider: string;
  /** The id that the provider knows it by. */
  readonly id: string;
  /** Tokens that fit before the model, its answer included. */
  readonly contextWindow: number;
  /** Absent: the loop's default. */
  readonly maxOutputTokens?: number;
  /** Rejects with a `ModelError`; the loop or the gateway decides whether to ask again. */
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}

export interface ModelRequest {
  readonly system: string;
  readonly tools: readonly ToolDescription[];
  /**
   * Append-only, and no message in it ever changes: implementations may keep what they derived from a
   * message (its JSON) by identity.
   */
  readonly messages: readonly Message[];
  /** Indexes into `messages` after whose last block a cache mark stands (see prompt-cache.ts). */
  readonly cacheMarks: readonly number[];
  readonly maxOutputTokens: number;
  readonly thinking?: { budgetTokens: number };
  readonly signal: AbortSignal;
}

/** A tool as the model sees it. The same object is handed in for every request of an agent. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}
