import { reasonOf } from "../base/cancellation.ts";
import { CancelledError } from "../base/errors.ts";
import type { Clock, Timer } from "../base/world.ts";

const graceMs = 5_000;

/**
 * A cancelled call is given a moment to end by itself (and to kill what it started). One that does not is
 * abandoned: `rejection` rejects, so that a tool which ignores its signal cannot hold up the loop.
 */
export function abandonAfterGrace(
  clock: Clock,
  signal: AbortSignal,
): { rejection: Promise<never>; release(): void } {
  let timer: Timer | undefined;
  let onAbort = () => {};
  const rejection = new Promise<never>((_, reject) => {
    onAbort = () => {
      timer = clock.setTimer(graceMs, () => reject(new CancelledError(reasonOf(signal))), { unref: true });
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  // Nobody may be waiting any more when the grace ends.
  rejection.catch(() => {});
  return {
    rejection,
    release() {
      signal.removeEventListener("abort", onAbort);
      timer?.cancel();
    },
  };
}
