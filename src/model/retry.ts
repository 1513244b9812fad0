/** Whether and when to ask again after a model could not answer (LO-11). Who asks, and what it has started, is the loop's affair. */
import type { Random } from "../base/world.ts";
import { ModelError } from "./model-error.ts";

const firstDelayMs = 500;
const maxDelayMs = 32_000;
/** Who asks for more patience than this is not overloaded but out of quota: better to say so than to hang. */
const maxRetryAfterMs = 10 * 60_000;
const maxTries = 10;
/** A host that cannot be reached at all is most often a wrong address: the person should know soon. */
const maxTriesUnreachable = 4;

/** `tries`: how often it was asked, this failure included. */
export function mayRetry(error: Error, tries: number): boolean {
  if (!(error instanceof ModelError) || !error.retryable) return false;
  if ((error.retryAfterMs ?? 0) > maxRetryAfterMs) return false;
  const unreachable = error.kind === "unavailable" && error.status === undefined;
  return tries < (unreachable ? maxTriesUnreachable : maxTries);
}

/** Exponential with full jitter, on top of what the provider asked for, so that many agents do not come back at once. */
export function retryDelayMs(options: {
  error: Error;
  tries: number;
  random: Pick<Random, "number">;
}): number {
  const { error, tries, random } = options;
  const ceiling = Math.min(maxDelayMs, firstDelayMs * 2 ** (tries - 1));
  const asked = error instanceof ModelError ? (error.retryAfterMs ?? 0) : 0;
  return Math.round(asked + random.number() * ceiling);
}
