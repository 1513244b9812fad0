/**
 * model/ owns the way to a model: a request in, a stream of events out. It knows providers, prompt
 * caches and prices; it must not know tools' code, agents or the loop.
 */
import type { Scope } from "../base/cancellation.ts";
import type { ModelEvent } from "../contracts/event.ts";
import type { Message } from "../contracts/message.ts";
import type { ModelErrorKind } from "./model-error.ts";
import type { CacheTtl } from "./prompt-cache.ts";

export interface Model {
  /** `anthropic`, `openai`, `offline`, `scripted`, or a name from the settings. */
  readonly provider: string;
  /** The id that the provider knows it by. */
  readonly id: string;
  /** Tokens that fit before the model, its answer included. */
  readonly contextWindow: number;
  /** Absent: the loop's default. */
  readonly maxOutputTokens?: number;
  /** Served on this machine: unless its id has a list price, it costs nothing. */
  readonly local?: boolean;
  /**
   * Rejects with a `ModelError`. Before the first event the gateway asks again if that may help; after it
   * the loop decides, who knows what has come of the answer so far.
   */
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
  /** How long what is marked is kept. Absent: as long as is usual. */
  readonly cacheTtl?: CacheTtl | undefined;
  readonly maxOutputTokens: number;
  readonly thinking?: { budgetTokens: number } | undefined;
  /** Ends the request. `scope.signal` for whoever needs a signal. */
  readonly scope: Scope;
  /**
   * `none`: of what nobody needs (a service). It is sent at most once, after all others, and whether it fails says
   * nothing to them: none is held up, and none goes another way, because of it.
   */
  readonly patience?: "none" | undefined;
  /** An answer to this very request has broken off before. */
  readonly isRetry?: boolean | undefined;
  /** Told whenever the request has to wait, or goes another way, because a model could not answer. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

export interface RetryNotice {
  /** How often it was sent so far; 0 when it has to wait from the beginning. */
  readonly attempt: number;
  /** At least until it is sent (again). */
  readonly delayMs: number;
  readonly reason: string;
  readonly kind: ModelErrorKind;
  /** The model answers nobody at present: all requests to it wait. */
  readonly paused: boolean;
}

/** A tool as the model sees it. The same object is handed in for every request of an agent. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}
