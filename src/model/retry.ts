/** How long to wait before a model is asked again (LO-11). Who may ask is decided by the gateway, and for answers that broke off by the loop. */
import type { Random } from "../base/world.ts";
import { ModelError } from "./model-error.ts";

export interface RetryDelays {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

export const defaultRetryDelays: RetryDelays = { firstDelayMs: 500, maxDelayMs: 30_000 };

/** Each of them was paid for. */
const maxBrokenAnswers = 10;

/** Whether a request whose answer had begun and then broke off is made again. `tries`: this one included. */
export function mayAskAgain(error: Error, tries: number): boolean {
  return error instanceof ModelError && error.retryable && tries < maxBrokenAnswers;
}

/** For one request of many: full jitter, so that those who failed together do not come back together. */
export function retryDelayMs(options: {
  tries: number;
  random: Pick<Random, "number">;
  delays?: RetryDelays;
}): number {
  const { tries, random, delays = defaultRetryDelays } = options;
  return Math.round(random.number() * ceilingMs(tries, delays));
}

/** For the one request that finds out whether a model answers again: nearly regular, so that their number is bounded. */
export function probeDelayMs(options: {
  rounds: number;
  random: Pick<Random, "number">;
  delays: RetryDelays;
}): number {
  const { rounds, random, delays } = options;
  return Math.round((0.75 + random.number() / 4) * ceilingMs(rounds, delays));
}

function ceilingMs(count: number, { firstDelayMs, maxDelayMs }: RetryDelays): number {
  return Math.min(maxDelayMs, firstDelayMs * 2 ** (count - 1));
}
