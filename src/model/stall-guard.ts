/** Waiting for a server that may fall silent, under a signal that may fire. */

import { cancelledErrorOf, type Scope } from "../base/cancellation.ts";
import type { Clock, Timer } from "../base/world.ts";

export interface StallGuard {
  /** For the request itself: cancelled when the caller cancels, when the server stalls, and when it is given up. */
  readonly scope: Scope;
  /**
   * `work`, or the caller's `CancelledError`, or what `onStall` makes, whichever comes first. Only the time
   * spent in here counts as silence: a consumer that takes its time is not the server's fault.
   */
  waitFor<T>(work: Promise<T>): Promise<T>;
  /** From now on this much silence is enough. */
  limitTo(stallMs: number): void;
  /** Must be called at the end. A request that is not complete is given up, and its connection with it. */
  release(options: { complete: boolean }): void;
}

interface GuardOptions {
  readonly clock: Clock;
  readonly stallMs: number;
  readonly scope: Scope;
  readonly onStall: (stallMs: number) => Error;
}

export function createStallGuard(options: GuardOptions): StallGuard {
  return new SilenceGuard(options);
}

class SilenceGuard implements StallGuard {
  readonly #clock: Clock;
  readonly #onStall: (stallMs: number) => Error;
  readonly scope: Scope;
  readonly #stopListening: () => void;
  #endedBy: Error | undefined;
  #stallMs: number;
  #timer: Timer;
  #waitingSince: number | undefined;
  #rejectWaiting: ((error: Error) => void) | undefined;

  constructor(options: GuardOptions) {
    this.#clock = options.clock;
    this.#onStall = options.onStall;
    this.#stallMs = options.stallMs;
    this.#timer = this.#watch(options.stallMs);
    this.scope = options.scope.child();
    this.#stopListening = this.scope.onCancel(() => this.#end(cancelledErrorOf(this.scope)));
    if (this.scope.cancelled) this.#end(cancelledErrorOf(this.scope));
  }

  waitFor<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#endedBy) {
        work.catch(() => {});
        reject(this.#endedBy);
        return;
      }
      this.#waitingSince = this.#clock.monotonicMs();
      this.#rejectWaiting = reject;
      work.then(
        (value) => {
          this.#waitingSince = undefined;
          resolve(value);
        },
        (error: unknown) => {
          this.#waitingSince = undefined;
          reject(error);
        },
      );
    });
  }

  limitTo(stallMs: number): void {
    this.#stallMs = stallMs;
    this.#timer.cancel();
    this.#timer = this.#watch(stallMs);
  }

  release({ complete }: { complete: boolean }): void {
    this.#timer.cancel();
    this.#stopListening();
    if (!complete) this.scope.cancel("the request was given up");
    this.scope.release();
  }

  /** One timer that looks when it fires, instead of one per chunk. */
  #watch(delayMs: number): Timer {
    const look = () => {
      const silentMs = this.#waitingSince === undefined ? 0 : this.#clock.monotonicMs() - this.#waitingSince;
      if (silentMs >= this.#stallMs) this.#end(this.#onStall(this.#stallMs));
      else this.#timer = this.#watch(this.#stallMs - silentMs);
    };
    return this.#clock.setTimer(delayMs, look, { unref: true });
  }

  #end(error: Error): void {
    // The end of its scope comes back here: what was first is the reason.
    this.#endedBy ??= error;
    this.#rejectWaiting?.(this.#endedBy);
    this.scope.cancel(error.message, error);
  }
}
