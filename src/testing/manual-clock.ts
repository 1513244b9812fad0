import type { Clock } from "../base/world.ts";
import { createTimerQueue } from "./timer-queue.ts";

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Runs the timers that fall due in their order; what each of them set in motion comes first. */
  advance(ms: number): Promise<void>;
  /** How long each waiting timer still has to wait, the next one first. */
  pendingMs(): number[];
}

export function createManualClock(startMs = 0): ManualClock {
  const timers = createTimerQueue(startMs);
  return {
    now: timers.now,
    monotonicMs: () => timers.now() - startMs,
    setTimer: timers.set,
    async advance(ms) {
      const target = timers.now() + ms;
      await settle();
      while (timers.fireNext(target)) await settle();
      timers.moveTo(target);
    },
    pendingMs: timers.pendingMs,
  };
}

/** Lets everything run that is ready to run: promises first, then what the event loop has waiting. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
