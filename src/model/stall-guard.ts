/** Waiting for a server that may fall silent, under a signal that may fire. */

import { type CancelWatcher, cancelledErrorOf, type Scope } from "../base/cancellation.ts";
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

class SilenceGuard implements StallGuard, CancelWatcher {
  readonly #clock: Clock;
  readonly #onStall: (stallMs: number) => Error;
  readonly scope: Scope;
  #endedBy: Error | undefined;
  #stallMs: number;
  #waitingSince: number | undefined;
  #rejectWaiting: ((error: Error) => void) | undefined;

  constructor(options: GuardOptions) {
    this.#clock = options.clock;
    this.#onStall = options.onStall;
    this.#stallMs = options.stallMs;
    this.scope = options.scope.child();
    watchOf(this.#clock).enter(this, options.stallMs);
    if (this.scope.cancelled) this.scopeCancelled();
    else this.scope.watch(this);
  }

  scopeCancelled(): void {
    this.#end(cancelledErrorOf(this.scope));
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
    watchOf(this.#clock).lookWithin(stallMs);
  }

  release({ complete }: { complete: boolean }): void {
    watchOf(this.#clock).leave(this);
    // Whoever still waits hears of it, whether or not the network heeds the scope.
    if (!complete) this.scope.cancel("the request was given up");
    this.scope.unwatch(this);
    this.scope.release();
  }

  /** Ends what has been silent too long; else answers with how long it still may be. */
  look(nowMs: number): number {
    const silentMs = this.#waitingSince === undefined ? 0 : nowMs - this.#waitingSince;
    if (silentMs < this.#stallMs) return this.#stallMs - silentMs;
    this.#end(this.#onStall(this.#stallMs));
    return Number.POSITIVE_INFINITY;
  }

  #end(error: Error): void {
    // The end of its scope comes back here: what was first is the reason.
    this.#endedBy ??= error;
    this.#rejectWaiting?.(this.#endedBy);
    this.scope.cancel(error.message, error);
  }
}

/** All requests that wait by one clock share one timer, which looks at them when it fires: there may be thousands. */
class SilenceWatch {
  readonly #clock: Clock;
  readonly #guards = new Set<SilenceGuard>();
  #timer: Timer | undefined;
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  enter(guard: SilenceGuard, stallMs: number): void {
    this.#guards.add(guard);
    this.lookWithin(stallMs);
  }

  leave(guard: SilenceGuard): void {
    this.#guards.delete(guard);
    if (this.#guards.size === 0) this.#disarm();
  }

  lookWithin(delayMs: number): void {
    const dueMs = this.#clock.monotonicMs() + delayMs;
    if (dueMs >= this.#dueMs) return;
    this.#disarm();
    this.#dueMs = dueMs;
    this.#timer = this.#clock.setTimer(delayMs, () => this.#look(), { unref: true });
  }

  #look(): void {
    this.#disarm();
    const nowMs = this.#clock.monotonicMs();
    let soonestMs = Number.POSITIVE_INFINITY;
    for (const guard of [...this.#guards]) soonestMs = Math.min(soonestMs, guard.look(nowMs));
    if (soonestMs < Number.POSITIVE_INFINITY) this.lookWithin(soonestMs);
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#dueMs = Number.POSITIVE_INFINITY;
  }
}

const watches = new WeakMap<Clock, SilenceWatch>();

function watchOf(clock: Clock): SilenceWatch {
  let watch = watches.get(clock);
  if (watch === undefined) {
    watch = new SilenceWatch(clock);
    watches.set(clock, watch);
  }
  return watch;
}
