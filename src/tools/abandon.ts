import { reasonOf } from "../base/cancellation.ts";
import { CancelledError } from "../base/errors.ts";
import type { Clock, Timer } from "../base/world.ts";

const graceMs = 5_000;

/**
 * A cancelled call is given a moment to end by itself (and to kill what it started). One that does not is
 * abandoned, so that a tool, or a question to a person, which ignores its signal cannot hold up the loop.
 */
export interface Patience {
  /** `work`, or a `CancelledError` when the grace is over. The work itself is not stopped by this. One at a time. */
  waitFor<T>(work: Promise<T>): Promise<T>;
  release(): void;
}

export function createPatience(clock: Clock, signal: AbortSignal): Patience {
  let timer: Timer | undefined;
  let abandoned: CancelledError | undefined;
  // A race against one long promise would keep something for every step of the call.
  let giveUp: ((error: CancelledError) => void) | undefined;
  const onAbort = () => {
    timer = clock.setTimer(graceMs, () => {
      abandoned = new CancelledError(reasonOf(signal));
      giveUp?.(abandoned);
    });
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return {
    waitFor: (work) =>
      new Promise((resolve, reject) => {
        giveUp = reject;
        work.then(resolve, reject);
        if (abandoned) reject(abandoned);
      }),
    release() {
      signal.removeEventListener("abort", onAbort);
      timer?.cancel();
    },
  };
}
