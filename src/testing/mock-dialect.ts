/** What the mock providers share, whatever they speak: what a test tells them to say, and what a dialect is. */
import type { IncomingHttpHeaders } from "node:http";
import type { MockUsage, WireRequest } from "./mock-prompt-cache.ts";

export type MockBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  /** `json` replaces the input as it is streamed, to send what is not JSON. */
  | { type: "tool_use"; id?: string; name: string; input?: Record<string, unknown>; json?: string };

export interface MockMessage {
  readonly blocks: readonly MockBlock[];
  readonly stopReason?: string;
  /** The connection is cut after this many events. */
  readonly cutAfter?: number;
  /** Nothing more is sent after this many events, and the connection stays open. */
  readonly silentAfter?: number;
  /** An `error` event takes the place of what comes after this many events. */
  readonly errorAfter?: { events: number; type: string; message: string };
  /** The stream is sent in pieces of this many bytes, whatever falls on their edges. */
  readonly chunkBytes?: number;
  /** Awaited before each piece (each event, without `chunkBytes`). */
  readonly pace?: () => Promise<void>;
}

export interface MockRequest {
  /** The bytes as they came. */
  readonly raw: Buffer;
  readonly body: WireRequest;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
}

export interface MessageContext {
  readonly model: string;
  /** Which request it answers. */
  readonly index: number;
  readonly usage: MockUsage;
}

export interface MockDialect {
  /** The usage of a request, or why the provider would refuse it. What it caches counts after `commit`. */
  admit(request: MockRequest): { usage: MockUsage; commit(): void } | string;
  /** The stream of a message, event by event. */
  eventsOf(message: MockMessage, context: MessageContext): string[];
  errorEvent(error: { type: string; message: string }): string;
  /** The body of an answer other than a message. */
  refusalOf(status: number, message: string): unknown;
}

/** Two deltas, so that whoever keeps only the first or the last one is found out. */
export function halves(text: string): string[] {
  if (text === "") return [];
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
