/** Waiting for a server that may fall silent, under a signal that may fire. */

import { reasonOf } from "../base/cancellation.ts";
import { CancelledError } from "../base/errors.ts";
import type { Clock } from "../base/world.ts";

export interface StallGuard {
  /** For the request itself: fires when the caller cancels, when the server stalls, and when it is given up. */
  readonly signal: AbortSignal;
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

export function createStallGuard(options: {
  clock: Clock;
  stallMs: number;
  signal: AbortSignal;
  onStall: () => Error;
}): StallGuard {
  const { clock, signal } = options;
  const request = new AbortController();
  let stallMs = options.stallMs;
  let waiting: { since: number; reject: (error: Error) => void } | undefined;

  const end = (error: Error) => {
    request.abort(error);
    waiting?.reject(error);
  };
  const onAbort = () =>
    end(
      signal.reason instanceof CancelledError
        ? signal.reason
        : new CancelledError(reasonOf(signal), signal.reason),
    );

  // One timer that looks when it fires, instead of one per chunk.
  const watch = (delayMs: number) =>
    clock.setTimer(
      delayMs,
      () => {
        const silentMs = waiting === undefined ? 0 : clock.monotonicMs() - waiting.since;
        if (silentMs >= stallMs) end(options.onStall());
        else timer = watch(stallMs - silentMs);
      },
      { unref: true },
    );
  let timer = watch(stallMs);

  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });

  return {
    signal: request.signal,
    waitFor: (work) =>
      new Promise((resolve, reject) => {
        if (request.signal.aborted) {
          work.catch(() => {});
          reject(request.signal.reason);
          return;
        }
        waiting = { since: clock.monotonicMs(), reject };
        work.then(
          (value) => {
            waiting = undefined;
            resolve(value);
          },
          (error: unknown) => {
            waiting = undefined;
            reject(error);
          },
        );
      }),
    limitTo(limitMs) {
      stallMs = limitMs;
      timer.cancel();
      timer = watch(limitMs);
    },
    release({ complete }) {
      timer.cancel();
      signal.removeEventListener("abort", onAbort);
      if (!complete) request.abort();
    },
  };
}
