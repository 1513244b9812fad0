import { type CancelWatcher, reasonOf, type Scope } from "../base/cancellation.ts";
import { CancelledError } from "../base/errors.ts";
import type { Clock, Timer } from "../base/world.ts";
import type { EarlyAnswer } from "./tool-context.ts";
import type { ToolOutcome } from "./tool-outcome.ts";

const graceMs = 5_000;

/**
 * Waits for a call. It may be answered while its work goes on as a task.
 *
 * A cancelled call is given a moment to end by itself (and to kill what it started). One that does not is
 * abandoned, so that a tool, or a question to a person, which ignores its signal cannot hold up the loop.
 */
export interface Patience extends EarlyAnswer {
  /** `work`, or a `CancelledError` when the grace is over. The work itself is not stopped by this. One at a time. */
  waitFor<T>(work: Promise<T>): Promise<T>;
  /** The same, unless an early answer comes first. */
  waitForOutcome(work: Promise<ToolOutcome>): Promise<ToolOutcome>;
  release(): void;
}

export function createPatience(clock: Clock, scope: Scope): Patience {
  return new CallPatience(clock, scope);
}

class CallPatience implements Patience, CancelWatcher {
  readonly #clock: Clock;
  readonly #scope: Scope;
  #timer: Timer | undefined;
  #abandoned: CancelledError | undefined;
  /** A race against one long promise would keep something for every step of the call. */
  #giveUp: ((error: CancelledError) => void) | undefined;
  #resolve: ((outcome: ToolOutcome) => void) | undefined;
  /** An answer can come before anybody waits for it. */
  #answered: ToolOutcome | undefined;

  constructor(clock: Clock, scope: Scope) {
    this.#clock = clock;
    this.#scope = scope;
    if (scope.cancelled) this.scopeCancelled();
    else scope.watch(this);
  }

  waitFor<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      work.then(resolve, reject);
      if (this.#abandoned) reject(this.#abandoned);
    });
  }

  waitForOutcome(work: Promise<ToolOutcome>): Promise<ToolOutcome> {
    return new Promise((resolve, reject) => {
      this.#giveUp = reject;
      this.#resolve = resolve;
      work.then(resolve, reject);
      if (this.#answered) resolve(this.#answered);
      else if (this.#abandoned) reject(this.#abandoned);
    });
  }

  answer(outcome: ToolOutcome): void {
    this.#answered ??= outcome;
    this.#resolve?.(outcome);
  }

  release(): void {
    this.#scope.unwatch(this);
    this.#timer?.cancel();
  }

  scopeCancelled(): void {
    this.#timer = this.#clock.setTimer(graceMs, () => {
      this.#abandoned = new CancelledError(reasonOf(this.#scope));
      this.#giveUp?.(this.#abandoned);
    });
  }
}
