/** How long it is worth waiting: after each failure whether to ask again, or to give up and say why. */
import type { Clock, Random } from "../base/world.ts";
import type { Admission, Caller, Slot } from "./gateway-admission.ts";
import type { ModelRequest } from "./model.ts";
import { ModelError } from "./model-error.ts";
import { type RetryDelays, retryDelayMs } from "./retry.ts";

export interface PatientCaller extends Caller {
  readonly onRetry: ModelRequest["onRetry"];
  readonly startedMs: number;
  /** How often it was sent. */
  tries: number;
  /** Since when it waits in vain; known once it was sent. */
  waitsInVainSinceMs: number | undefined;
  /** Failures while the model answered others: perhaps it is this request that it cannot answer. */
  ownFailures: number;
  answersSeen: number;
  knowsOfPause: boolean;
}

export interface Patience {
  /** The model that it asks answers nobody at present: said once. */
  tellPause(caller: PatientCaller): void;
  /**
   * Tells the account of a failure, and answers with how long the caller should wait before it enters again.
   * Throws what the caller shall see, if it should not.
   */
  judge(slot: Slot<PatientCaller>, failure: { error: ModelError; began: boolean }): number;
}

const maxOwnFailures = 10;
/** A host that was never reached is most often a wrong address: the person should know soon. */
const maxUnreachableRounds = 4;

export function createPatience(options: {
  clock: Clock;
  random: Pick<Random, "number">;
  admission: Admission<PatientCaller>;
  delays: RetryDelays;
  patienceMs: number;
}): Patience {
  const { clock, random, admission, delays, patienceMs } = options;
  let gotStatus = false;

  const isUnreachable = ({ lane, tries }: PatientCaller, error: ModelError): boolean => {
    gotStatus ||= error.kind !== "unavailable" || error.status !== undefined;
    if (gotStatus || admission.counts.answers > 0) return false;
    return lane.rounds >= maxUnreachableRounds || tries >= maxUnreachableRounds;
  };

  /** What a caller is told that has waited long enough. */
  const outageFor = (caller: PatientCaller, failure: { error: ModelError; untilMs: number }) => {
    const sinceMs = inVainSinceMs(caller);
    if (failure.untilMs - sinceMs < patienceMs) return undefined;
    const waitedMs = clock.monotonicMs() - sinceMs;
    return outageError({
      modelId: caller.lane.modelId,
      sinceMs: clock.now() - waitedMs,
      waitedMs,
      tries: Math.max(caller.tries, caller.lane.failures),
      error: failure.error,
    });
  };

  const tell = (caller: PatientCaller, delayMs: number, error: ModelError) => {
    if (caller.onRetry === undefined) return;
    const queueMs = admission.startsAtMs(caller) - clock.monotonicMs();
    caller.onRetry({
      attempt: caller.tries,
      delayMs: Math.round(Math.max(delayMs, queueMs)),
      reason: error.message,
      kind: error.kind,
      paused: caller.lane.paused,
    });
    caller.knowsOfPause = caller.lane.paused;
  };

  return {
    tellPause(caller) {
      const { lastError } = caller.lane;
      if (!caller.knowsOfPause && lastError) tell(caller, 0, lastError);
    },
    judge(slot, { error, began }) {
      const { caller } = slot;
      const { lane } = caller;
      if (caller.givesWay) throw error;
      const askedMs = error.retryAfterMs ?? 0;
      if (began) {
        if (error.kind === "overloaded") admission.failed(slot, error);
        throw error;
      }
      // Who asks for that much patience is not overloaded but out of quota: better to say so than to hang.
      if (!error.retryable || askedMs > patienceMs) {
        admission.answered(slot);
        throw error;
      }
      const nowMs = clock.monotonicMs();
      admission.failed(slot, error);
      caller.waitsInVainSinceMs ??= inVainSinceMs(caller);
      if (isUnreachable(caller, error)) {
        lane.forgetFailures();
        admission.dismiss((waiting) => (waiting.lane === lane ? error : undefined));
        throw error;
      }
      admission.dismiss((waiting) =>
        waiting.lane === lane ? outageFor(waiting, { error, untilMs: nowMs }) : undefined,
      );
      const outage = outageFor(caller, { error, untilMs: nowMs + askedMs });
      if (outage) throw outage;
      if (isOwnFault(caller, error)) throw error;
      // For a model that is paused the queue is the place to wait.
      const delayMs = lane.paused ? 0 : retryDelayMs({ tries: caller.tries, random, delays });
      tell(caller, delayMs, error);
      return delayMs;
    },
  };
}

/** To wait for one's turn is not in vain, unless the model answers nobody. */
function inVainSinceMs({ waitsInVainSinceMs, startedMs, lane }: PatientCaller): number {
  return waitsInVainSinceMs ?? Math.max(startedMs, lane.downSinceMs ?? Number.POSITIVE_INFINITY);
}

function isOwnFault(caller: PatientCaller, error: ModelError): boolean {
  const { answers } = caller.lane;
  if (error.kind !== "overloaded" && answers !== caller.answersSeen) caller.ownFailures += 1;
  caller.answersSeen = answers;
  return caller.ownFailures >= maxOwnFailures;
}

function outageError(outage: {
  modelId: string;
  sinceMs: number;
  waitedMs: number;
  tries: number;
  error: ModelError;
}): ModelError {
  const { modelId, error, tries } = outage;
  const minutes = Math.round(outage.waitedMs / 60_000);
  const since = new Date(outage.sinceMs).toISOString();
  return new ModelError({
    kind: error.kind,
    message: `${modelId} has not answered for ${minutes} minutes (since ${since}, ${tries} tries) and was given up. Try again later, or with another model. The last failure: ${error.message}`,
    status: error.status,
    cause: error,
  });
}
