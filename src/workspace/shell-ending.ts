/** What ends a shell before its time: a signal, its timeout, or somebody who stops it. */
import { cancelledErrorOf, sleep } from "../base/cancellation.ts";
import type { CancelledError } from "../base/errors.ts";
import type { ChildProcess, Clock, Timer } from "../base/world.ts";

export interface Ending {
  readonly timedOut: boolean;
  readonly cancelled: CancelledError | undefined;
  stop(): void;
  letGo(): void;
  liftTimeout(): void;
  /** The shell has ended. Resolves when nobody of its group is left, or their time to end is over. */
  over(): Promise<void>;
  release(): void;
}

/** Between the request to end and the end. */
const graceMs = 2_000;
/** How often it is looked whether everybody is gone, meanwhile. */
const lookMs = 25;

export function createEnding(
  child: ChildProcess,
  options: { clock: Clock; signal?: AbortSignal | undefined; timeoutMs?: number | undefined },
): Ending {
  const { clock, signal, timeoutMs } = options;
  let timedOut = false;
  let cancelled: CancelledError | undefined;
  let killTimer: Timer | undefined;
  let hasTime = false;
  const end = () => {
    if (killTimer !== undefined) return;
    child.kill("SIGTERM");
    killTimer = clock.setTimer(graceMs, () => {
      hasTime = false;
      child.kill("SIGKILL");
    });
  };
  const cancel = () => {
    cancelled = signal && cancelledErrorOf(signal);
    end();
  };
  const timer =
    timeoutMs === undefined
      ? undefined
      : clock.setTimer(timeoutMs, () => {
          timedOut = true;
          end();
        });
  const liftTimeout = () => timer?.cancel();
  const letGo = () => signal?.removeEventListener("abort", cancel);
  signal?.addEventListener("abort", cancel, { once: true });
  return {
    get timedOut() {
      return timedOut;
    },
    get cancelled() {
      return cancelled;
    },
    stop() {
      hasTime ||= killTimer === undefined;
      end();
    },
    letGo,
    liftTimeout,
    // Not after an interrupt, nor a timeout: there somebody waits, and the dead that nobody buries count as alive.
    async over() {
      liftTimeout();
      letGo();
      while (hasTime && child.isAlive()) await sleep(clock, lookMs);
    },
    release() {
      liftTimeout();
      letGo();
      killTimer?.cancel();
    },
  };
}
