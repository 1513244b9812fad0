import type { Clock } from "../base/world.ts";
import { createTimerQueue } from "./timer-queue.ts";

/**
 * A clock that jumps to the next timer whenever there is nothing else to do: hours pass in no time. It stands
 * still while files are read or written and while a child process runs; it does not know of network traffic.
 */
export interface VirtualClock extends Clock {
  /** The outcome of `work`. Fails if nothing is left that could bring it about. */
  runUntil<T>(work: Promise<T>): Promise<T>;
  /** How long each waiting timer still has to wait, the next one first. */
  pendingMs(): number[];
}

/** Turns of the event loop without anything to do, after which `work` counts as stuck. */
const idleTurns = 5000;

export function createVirtualClock(startMs = 0): VirtualClock {
  const timers = createTimerQueue(startMs);
  return {
    now: timers.now,
    monotonicMs: () => timers.now() - startMs,
    setTimer: timers.set,
    async runUntil(work) {
      let settled = false;
      const done = () => {
        settled = true;
      };
      work.then(done, done);
      let idle = 0;
      while (!settled) {
        await turn();
        if (settled || outsideIsBusy()) continue;
        await turn();
        if (settled || outsideIsBusy()) continue;
        if (timers.fireNext(Number.POSITIVE_INFINITY)) idle = 0;
        else if (++idle > idleTurns) throw new Error("Nothing is left to do, and the work has not ended.");
      }
      return work;
    },
    pendingMs: timers.pendingMs,
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Requests to the system, which end by themselves, and running processes. Open sockets may stay idle forever. */
const outside = /Req|ConnectWrap|WriteWrap|ShutdownWrap|ProcessWrap|ZlibWrap/;

function outsideIsBusy(): boolean {
  return process.getActiveResourcesInfo().some((kind) => outside.test(kind));
}
