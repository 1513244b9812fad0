import type { Clock, Timer } from "../world.ts";

/** The longest delay Node accepts; a longer one would fire at once. */
const longestDelayMs = 2 ** 31 - 1;

/** The same for all clocks of the process. */
let originSeconds: number | undefined;

export function createNodeClock(): Clock {
  return {
    now: () => Date.now(),
    // Whole and small: thousands of agents keep some, and other numbers take room of their own in memory.
    monotonicMs: () => {
      const [seconds, nanoseconds] = process.hrtime();
      originSeconds ??= seconds;
      return (seconds - originSeconds) * 1000 + Math.floor(nanoseconds / 1e6);
    },
    setTimer: (delayMs, callback, options) =>
      new NodeTimer(Number.isNaN(delayMs) ? 0 : Math.max(0, delayMs), callback, options?.unref ?? false),
  };
}

class NodeTimer implements Timer {
  readonly #callback: () => void;
  readonly #unref: boolean;
  #remainingMs: number;
  #timeout: NodeJS.Timeout | undefined;

  constructor(delayMs: number, callback: () => void, unref: boolean) {
    this.#remainingMs = delayMs;
    this.#callback = callback;
    this.#unref = unref;
    this.#wait();
  }

  cancel(): void {
    clearTimeout(this.#timeout);
  }

  #wait(): void {
    const stepMs = Math.min(this.#remainingMs, longestDelayMs);
    this.#remainingMs -= stepMs;
    this.#timeout = setTimeout(fire, stepMs, this);
    if (this.#unref) this.#timeout.unref();
  }

  fire(): void {
    if (this.#remainingMs > 0) this.#wait();
    else this.#callback();
  }
}

/** Handed over with its argument, so that a timer needs no closure of its own. */
function fire(timer: NodeTimer): void {
  timer.fire();
}
