import type { Clock } from "../world.ts";

/** The longest delay Node accepts; a longer one would fire at once. */
const longestDelayMs = 2 ** 31 - 1;

export function createNodeClock(): Clock {
  return {
    now: () => Date.now(),
    monotonicMs: () => {
      const [seconds, nanoseconds] = process.hrtime();
      return seconds * 1000 + nanoseconds / 1e6;
    },
    setTimer(delayMs, callback, options) {
      let timeout: NodeJS.Timeout;
      const wait = (remainingMs: number) => {
        const step = Math.min(remainingMs, longestDelayMs);
        timeout = setTimeout(() => (remainingMs > step ? wait(remainingMs - step) : callback()), step);
        if (options?.unref) timeout.unref();
      };
      wait(Number.isNaN(delayMs) ? 0 : Math.max(0, delayMs));
      return { cancel: () => clearTimeout(timeout) };
    },
  };
}
