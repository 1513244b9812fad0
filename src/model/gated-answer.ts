/** One request on its way through the gateway. */
import { type Scope, sleep, throwIfCancelled } from "../base/cancellation.ts";
import { isCancelled } from "../base/errors.ts";
import type { Clock } from "../base/world.ts";
import type { ModelEvent } from "../contracts/event.ts";
import { noUsage, type Usage } from "../contracts/usage.ts";
import type { Admission, Slot } from "./gateway-admission.ts";
import type { Lane } from "./gateway-lane.ts";
import type { Patience, PatientCaller } from "./gateway-patience.ts";
import type { Model, ModelRequest } from "./model.ts";
import { ModelError } from "./model-error.ts";

export interface RequestEnd {
  /** As the provider calls it, if it has said so. */
  readonly modelId: string;
  readonly usage: Usage;
  /** `cut`: after something was streamed. `cancelled`: or nobody wanted the rest. */
  readonly outcome: "completed" | "cut" | "failed" | "cancelled";
  /** From the call to the end, waiting included. */
  readonly ms: number;
  /** How often it was sent. */
  readonly tries: number;
}

/** What all requests of an account share. */
export interface Account {
  readonly clock: Clock;
  readonly admission: Admission<PatientCaller>;
  readonly patience: Patience;
  laneOf(modelId: string): Lane;
  onCut(): void;
  readonly onRequestEnd: ((end: RequestEnd) => void) | undefined;
}

type Step = IteratorResult<ModelEvent, undefined>;

/**
 * The answer to one request, which is sent when it is first asked for an event. By hand, not as a generator: a request
 * spends most of its life waiting, and there may be thousands.
 */
export class GatedAnswer implements AsyncIterableIterator<ModelEvent, undefined>, PatientCaller {
  readonly lane: Lane;
  readonly scope: Scope;
  readonly onRetry: ModelRequest["onRetry"];
  readonly startedMs: number;
  wasSent: boolean;
  tries = 0;
  knowsOfPause = false;
  waitsInVainSinceMs: number | undefined;
  ownFailures = 0;
  answersSeen = -1;
  readonly #account: Account;
  readonly #model: Model;
  readonly #request: ModelRequest;
  #slot: Slot<PatientCaller> | undefined;
  #answer: AsyncIterator<ModelEvent, unknown> | undefined;
  #outcome: RequestEnd["outcome"] = "cancelled";
  #modelId: string;
  #usage = noUsage;
  #began = false;
  #ended = false;

  constructor(account: Account, model: Model, request: ModelRequest) {
    this.#account = account;
    this.#model = model;
    this.#request = request;
    this.#modelId = model.id;
    this.lane = account.laneOf(model.id);
    this.scope = request.scope;
    this.onRetry = request.onRetry;
    this.startedMs = account.clock.monotonicMs();
    this.wasSent = request.isRetry === true;
  }

  get givesWay(): boolean {
    return this.#request.patience === "none";
  }

  onPaused(): void {
    this.#account.patience.tellPause(this);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (this.#ended) return Promise.resolve(end);
    if (this.#answer === undefined) return this.#enter();
    return this.#answer.next().then(
      (step) => this.#see(step),
      (error: unknown) => this.#fail(error),
    );
  }

  /** What a `next` that still waits would bring is dropped: it answers with the end. */
  async return(): Promise<Step> {
    const leaving = this.#answer?.return?.();
    this.#end();
    await leaving;
    return end;
  }

  /** Waits for its turn, and for the first event. */
  async #enter(): Promise<Step> {
    if (this.#ended) return end;
    try {
      throwIfCancelled(this.scope);
      const { admission } = this.#account;
      this.#slot = admission.enterNow(this) ?? (await admission.enter(this));
      if (this.#ended) return this.#leaveAgain();
      this.tries += 1;
      this.#answer = this.#model.stream(this.#request)[Symbol.asyncIterator]();
    } catch (error) {
      return this.#giveUp(error);
    }
    return this.next();
  }

  #see(step: IteratorResult<ModelEvent, unknown>): Step | Promise<Step> {
    if (this.#ended) return end;
    if (step.done) {
      if (!this.#began) return this.#fail(emptyAnswer(this.#model));
      this.#outcome = "completed";
      this.#end();
      return end;
    }
    const event = step.value;
    if (!this.#began) {
      this.#began = true;
      if (this.#slot) this.#account.admission.answered(this.#slot);
    }
    if (event.type === "message-start") {
      this.#modelId = event.model;
      this.#usage = event.usage;
    } else if (event.type === "message-stop") this.#usage = event.usage;
    return { done: false, value: event };
  }

  async #fail(error: unknown): Promise<Step> {
    if (this.#ended) return end;
    try {
      if (!(error instanceof ModelError) || this.#slot === undefined) throw error;
      if (this.#began) this.#account.onCut();
      const delayMs = this.#account.patience.judge(this.#slot, { error, began: this.#began });
      this.#leave();
      if (delayMs > 0) await sleep(this.#account.clock, delayMs, this.scope);
    } catch (reason) {
      return this.#giveUp(reason);
    }
    return this.#enter();
  }

  #giveUp(error: unknown): Step {
    if (this.#ended) return end;
    if (!isCancelled(error)) this.#outcome = this.#began ? "cut" : "failed";
    this.#end();
    throw error;
  }

  /** Its reader left while it waited for its turn. */
  #leaveAgain(): Step {
    this.#leave();
    return end;
  }

  #leave(): void {
    if (this.#slot) this.#account.admission.leave(this.#slot);
    this.#slot = undefined;
    this.#answer = undefined;
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#leave();
    const ms = this.#account.clock.monotonicMs() - this.startedMs;
    this.#account.onRequestEnd?.({
      modelId: this.#modelId,
      usage: this.#usage,
      outcome: this.#outcome,
      ms,
      tries: this.tries,
    });
  }
}

const end = { done: true as const, value: undefined };

function emptyAnswer(model: Model): ModelError {
  return new ModelError({ kind: "cut", message: `The answer of ${model.id} ended before it had begun.` });
}
