/** The answer to one request, as events: the same for every provider that sends server-sent events. */
import { throwIfCancelled } from "../base/cancellation.ts";
import type { ModelEvent } from "../contracts/event.ts";
import { EventParser } from "./event-parser.ts";
import type { ModelRequest } from "./model.ts";
import { ModelError } from "./model-error.ts";
import { failureToModelError, refusalToModelError } from "./provider-error.ts";
import type { AnswerReader, Exchange, WireClient } from "./provider-exchange.ts";
import { createStallGuard, type StallGuard } from "./stall-guard.ts";

/** A message that has ended is handed out after the connection can be used again, or after this. */
const drainMs = 250;
/** How long a server that has completed its message may take to tell the usage. */
const afterwordMs = 2_000;

type Step = IteratorResult<ModelEvent, undefined>;

/** There is an answer, and it is being read. */
interface Body {
  readonly guard: StallGuard;
  readonly chunks: AsyncIterator<Uint8Array>;
  readonly reader: AnswerReader;
  readonly parser: EventParser;
}

/**
 * The request is sent when the first event is asked for. By hand, not as a generator: what waits for a model should be
 * small, and what comes in one piece should not take a promise for each of its events.
 */
export class AnswerStream implements AsyncIterableIterator<ModelEvent, undefined> {
  readonly #exchange: Exchange;
  readonly #request: ModelRequest;
  #body: Body | undefined;
  #guard: StallGuard | undefined;
  #ready: readonly ModelEvent[] = none;
  #taken = 0;
  /** What ends the message waits until the connection is free for the next request. */
  #ending: readonly ModelEvent[] = none;
  /** Comes after what is ready. */
  #failure: { error: unknown } | undefined;
  #ended = false;

  constructor(exchange: Exchange, request: ModelRequest) {
    this.#exchange = exchange;
    this.#request = request;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    const event = this.#ready[this.#taken];
    if (event !== undefined) {
      this.#taken += 1;
      return Promise.resolve({ done: false, value: event });
    }
    const failure = this.#failure;
    if (failure) {
      this.#failure = undefined;
      return Promise.reject(failure.error);
    }
    if (this.#ended) return Promise.resolve(end);
    if (this.#body === undefined) return this.#open().then(() => this.next());
    return this.#advance(this.#body).then(() => this.next());
  }

  /** Whoever leaves gets nothing more: neither what is ready, nor what a `next` that still waits would bring. */
  async return(): Promise<Step> {
    this.#ready = none;
    this.#failure = undefined;
    this.#finish({ complete: false });
    return end;
  }

  async #open(): Promise<void> {
    const { context, stallMs } = this.#exchange;
    try {
      throwIfCancelled(this.#request.scope);
      const client = await this.#exchange.connect();
      if (this.#ended) return;
      const reader = this.#exchange.createReader(this.#request);
      const guard = createStallGuard({
        clock: context.clock,
        stallMs,
        scope: this.#request.scope,
        onStall: this.#exchange.onStall,
      });
      this.#guard = guard;
      const response = await this.#post(client, guard);
      await rejectOtherThanStream(response, guard, this.#exchange);
      if (response.body === null) throw cutShort(this.#exchange);
      const chunks = response.body[Symbol.asyncIterator]();
      this.#body = { guard, chunks, reader, parser: new EventParser() };
    } catch (error) {
      if (this.#ended) return;
      this.#finish({ complete: false });
      throw error;
    }
  }

  #post(client: WireClient, guard: StallGuard): Promise<Response> {
    const { context, serialize } = this.#exchange;
    return guard.waitFor(client.post(serialize(this.#request), guard.scope)).catch((error: unknown) => {
      const refusal = client.refusalIn(error);
      if (refusal !== undefined) throw refusalToModelError(refusal, context);
      const phase = client.isConnectionError(error) ? "connection" : "request";
      throw failureToModelError(error, { ...context, phase });
    });
  }

  /** Reads the next piece, and what it stands for. Never rejects: a failure comes after the events before it. */
  async #advance(body: Body): Promise<void> {
    const { guard, chunks, reader, parser } = body;
    const produced: ModelEvent[] = [];
    try {
      const { done, value } = await guard.waitFor(chunks.next());
      if (this.#ended) return;
      for (const event of done ? parser.end() : parser.push(value)) {
        if (reader.finished) break;
        const events = reader.read(event);
        if (reader.complete) this.#ending = this.#ending.concat(events);
        else produced.push(...events);
      }
      if (done && !reader.complete) throw cutShort(this.#exchange);
      if (done) this.#finish({ complete: true });
      else if (reader.complete) guard.limitTo(reader.finished ? drainMs : afterwordMs);
    } catch (error) {
      if (this.#ended) return;
      const { context } = this.#exchange;
      if (!reader.complete)
        this.#failure = { error: failureToModelError(error, { ...context, phase: "stream" }) };
      this.#finish({ complete: false });
    }
    const isWhole = this.#ended && this.#failure === undefined;
    this.#ready = isWhole ? [...produced, ...this.#ending, ...reader.end()] : produced;
    this.#taken = 0;
  }

  /** `complete`: the answer was read to its end. Else its connection is given up. */
  #finish({ complete }: { complete: boolean }): void {
    this.#ended = true;
    this.#guard?.release({ complete });
    this.#guard = undefined;
  }
}

const none: readonly ModelEvent[] = [];
const end = { done: true as const, value: undefined };

/** A page or a document instead of a stream: most likely the address is not that of the API. */
async function rejectOtherThanStream(
  response: Response,
  guard: StallGuard,
  { context }: Exchange,
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

function cutShort({ context }: Exchange): ModelError {
  return new ModelError({
    kind: "cut",
    message: `The answer from ${context.address} ended before the message did.`,
  });
}
