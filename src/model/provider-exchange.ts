/** One request and the stream that answers it: the same for every provider whose SDK speaks server-sent events. */
import { throwIfCancelled } from "../base/cancellation.ts";
import { CadreError } from "../base/errors.ts";
import type { ModelEvent } from "../contracts/event.ts";
import type { ModelRequest } from "./model.ts";
import { ModelError } from "./model-error.ts";
import {
  type ErrorContext,
  failureToModelError,
  type ProviderRefusal,
  refusalToModelError,
} from "./provider-error.ts";
import { createStallGuard, type StallGuard } from "./stall-guard.ts";

/** A provider's SDK, as far as an exchange needs it. */
export interface WireClient {
  post(body: string, signal: AbortSignal): Promise<WireResponse>;
  eventsOf(response: WireResponse): AsyncIterator<ServerSentEvent, unknown>;
  /** What the provider said, if that is what this error tells. */
  refusalIn(error: unknown): ProviderRefusal | undefined;
  /** Whether it failed on the way, before there was an answer. */
  isConnectionError(error: unknown): boolean;
}

export interface ServerSentEvent {
  readonly event: string | null;
  readonly data: string;
}

type WireResponse = Response;

/** Makes events of what the provider sends. Throws a `ModelError` for a refusal, a `MalformedStream` for nonsense. */
export interface AnswerReader {
  read(event: ServerSentEvent): ModelEvent[];
  /** The message is whole; what may still come is of no consequence if it does not. */
  readonly complete: boolean;
  /** The provider said that nothing follows. */
  readonly finished: boolean;
  /** What ends a message that is complete. */
  end(): ModelEvent[];
}

export interface ExchangeOptions {
  readonly request: ModelRequest;
  /** Called after the request was found worth making. */
  readonly connect: () => Promise<WireClient>;
  readonly serialize: () => string;
  readonly reader: AnswerReader;
  readonly context: ErrorContext;
  /** A server that says nothing for this long is given up. */
  readonly stallMs: number;
}

export const defaultStallMs = 120_000;
/** The SDKs' own timeouts run on the real clock and are not wanted; the guard watches instead. */
export const sdkTimeoutMs = 24 * 60 * 60_000;
/** A message that has ended is handed out after the connection can be used again, or after this. */
const drainMs = 250;
/** How long a server that has completed its message may take to tell the usage. */
const afterwordMs = 2_000;

export async function* streamAnswer(options: ExchangeOptions): AsyncGenerator<ModelEvent, void, undefined> {
  const { request, context, stallMs } = options;
  throwIfCancelled(request.signal);
  const client = await options.connect();
  const guard = createStallGuard({
    clock: context.clock,
    stallMs,
    signal: request.signal,
    onStall: () => stallError(context, stallMs),
  });
  let complete = false;
  try {
    const exchange: Exchange = { client, guard, context };
    const response = await open(exchange, options.serialize());
    const events = client.eventsOf(guardBody(response, guard));
    const ending: ModelEvent[] = [];
    for (;;) {
      const produced = await readNext(exchange, events, options.reader);
      if (produced === undefined) break;
      // What ends the message waits until the connection is free for the next request.
      if (options.reader.complete) ending.push(...produced);
      else for (const event of produced) yield event;
    }
    ending.push(...options.reader.end());
    for (const event of ending) yield event;
    complete = true;
  } finally {
    guard.release({ complete });
  }
}

interface Exchange {
  readonly client: WireClient;
  readonly guard: StallGuard;
  readonly context: ErrorContext;
}

async function open({ client, guard, context }: Exchange, body: string): Promise<WireResponse> {
  let response: WireResponse;
  try {
    response = await guard.waitFor(client.post(body, guard.signal));
  } catch (error) {
    const refusal = client.refusalIn(error);
    if (refusal !== undefined) throw refusalToModelError(refusal, context);
    const phase = client.isConnectionError(error) ? "connection" : "request";
    throw failureToModelError(error, { ...context, phase });
  }
  await rejectOtherThanStream(response, { guard, context });
  return response;
}

/** A page or a document instead of a stream: most likely the address is not that of the API. */
async function rejectOtherThanStream(
  response: WireResponse,
  { guard, context }: Pick<Exchange, "guard" | "context">,
): Promise<void> {
  const contentType = response.headers.get("content-type") ?? "";
  if (!/\b(html|json|xml)\b/i.test(contentType)) return;
  const text = await guard.waitFor(response.text()).catch((error: unknown) => {
    throw failureToModelError(error, { ...context, phase: "stream" });
  });
  throw refusalToModelError(
    {
      status: response.status,
      message: `it answered with ${contentType} instead of a stream of events. Check ${context.addressName}. The answer began with: ${text}`,
    },
    context,
  );
}

/** What the next event stands for; undefined at the end. */
async function readNext(
  { guard, context }: Exchange,
  events: AsyncIterator<ServerSentEvent, unknown>,
  reader: AnswerReader,
): Promise<ModelEvent[] | undefined> {
  try {
    const next = await events.next();
    if (!next.done) {
      const produced = reader.finished ? [] : reader.read(next.value);
      if (reader.complete) guard.limitTo(reader.finished ? drainMs : afterwordMs);
      return produced;
    }
  } catch (error) {
    if (reader.complete) return undefined;
    throw failureToModelError(error, { ...context, phase: "stream" });
  }
  if (reader.complete) return undefined;
  throw new ModelError({
    kind: "cut",
    message: `The answer from ${context.address} ended before the message did.`,
  });
}

/** The response as the SDK reads it, with a body that gives up when the guard does. */
function guardBody(response: WireResponse, guard: StallGuard): WireResponse {
  const source = response.body;
  if (source === null) return response;
  const chunks = source[Symbol.asyncIterator]();
  const body = {
    [Symbol.asyncIterator]: () => ({
      next: () => guard.waitFor(chunks.next()),
      return: async () => ({ done: true as const, value: undefined }),
    }),
  };
  // The SDK only iterates the body; the guard's signal ends the connection behind it.
  return { body, headers: response.headers } as unknown as WireResponse;
}

function stallError(context: ErrorContext, stallMs: number): ModelError {
  return new ModelError({
    kind: "cut",
    message: `${context.address} sent nothing for ${Math.round(stallMs / 1000)} seconds.`,
  });
}

export interface Endpoint {
  readonly url: URL;
  /** For messages: without credentials. */
  readonly address: string;
}

/** Throws for what is not an address of the web. */
export function parseEndpoint(
  text: string,
  { api, addressName, example }: { api: string; addressName: string; example: string },
): Endpoint {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new CadreError({
      code: "model-base-url",
      message: `The base URL of ${api} is not an http or https address. Correct ${addressName}, for example ${example}.`,
    });
  }
  const url = new URL(text.trim());
  url.pathname = url.pathname.replace(/\/+$/, "");
  return { url, address: addressOf(url) };
}

export function addressOf({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

/** What must never be shown, longest first: half a secret would not be recognised. */
export function secretsAmong(options: {
  credentials: readonly (string | undefined)[];
  headers?: Readonly<Record<string, string>>;
}): string[] {
  const headers = Object.entries(options.headers ?? {}).flatMap(([name, value]) =>
    /auth|key|token|secret|cookie/i.test(name) ? [value] : [],
  );
  return [...options.credentials, ...headers]
    .flatMap((secret) => (secret === undefined ? [] : [secret.trim()]))
    .filter((secret) => secret.length > 0)
    .sort((a, b) => b.length - a.length);
}
