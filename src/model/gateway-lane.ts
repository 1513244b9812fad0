/**
 * How one model of an account is doing: whether it answers, and if not, when it is asked again. A model that
 * fails again and again is paused: nothing goes out but a probe from time to time, whoever is first in line.
 * When it answers again, the number of requests that wait for an answer grows with every answer.
 *
 * Models are told apart because they are overloaded apart: while one is down, another one may take its place.
 */
import type { Random } from "../base/world.ts";
import type { ModelError } from "./model-error.ts";
import { probeDelayMs, type RetryDelays } from "./retry.ts";

export interface Lane {
  readonly modelId: string;
  readonly paused: boolean;
  /** The first failure since the last answer, by the monotonic clock. */
  readonly downSinceMs: number | undefined;
  /** Since then. */
  readonly failures: number;
  /** The same, but what failed together counts once. */
  readonly rounds: number;
  readonly nextProbeAtMs: number;
  readonly lastError: ModelError | undefined;
  /** How often it has answered. */
  readonly answers: number;
  /** The moment from which a request may be sent. `asProbe`: only as a probe, whether or not the model is paused. */
  startsAtMs(asProbe: boolean): number;
  sent(options: { nowMs: number; asProbe: boolean }): void;
  /** Called once for every `sent`: it was answered, it failed, or nobody waits for its answer any longer. */
  answered(maxUnanswered: number): void;
  failed(options: { error: ModelError; nowMs: number; number: number; sendings: number }): void;
  abandoned(options: { nowMs: number; asProbe: boolean }): void;
  /** Nobody waits for this model any longer: who comes next starts anew. */
  forgetFailures(): void;
}

/** So many failures without an answer in between, and it is not bad luck any longer. */
const failuresUntilPause = 3;
/** After a pause each answer lets this many more wait for theirs. */
const windowStep = 2;

export function createLane(options: {
  modelId: string;
  random: Pick<Random, "number">;
  delays: RetryDelays;
}): Lane {
  const { random, delays } = options;
  let failures = 0;
  let rounds = 0;
  /** Whatever was sent before this one was on its way together with what has failed already. */
  let roundEnd = 0;
  let answers = 0;
  let unanswered = 0;
  /** How many may be unanswered; limited from a pause until it has grown to the account's own limit. */
  let window = Number.POSITIVE_INFINITY;
  let lastSentMs = 0;
  let nextProbeAtMs = 0;
  let downSinceMs: number | undefined;
  let lastError: ModelError | undefined;

  const isPaused = () => failures >= failuresUntilPause;
  return {
    modelId: options.modelId,
    get paused() {
      return isPaused();
    },
    get downSinceMs() {
      return downSinceMs;
    },
    get failures() {
      return failures;
    },
    get rounds() {
      return rounds;
    },
    get nextProbeAtMs() {
      return nextProbeAtMs;
    },
    get lastError() {
      return lastError;
    },
    get answers() {
      return answers;
    },
    startsAtMs(asProbe) {
      if (isPaused() || asProbe) return nextProbeAtMs;
      // Those before it may never be answered: after a while one more may try.
      return unanswered < window ? 0 : lastSentMs + delays.maxDelayMs;
    },
    sent({ nowMs, asProbe }) {
      unanswered += 1;
      lastSentMs = nowMs;
      // A probe that stays without an answer must not keep the next one from going out.
      if (asProbe) nextProbeAtMs = nowMs + (isPaused() ? delays.maxDelayMs : delays.firstDelayMs);
    },
    answered(maxUnanswered) {
      unanswered -= 1;
      answers += 1;
      failures = 0;
      downSinceMs = undefined;
      nextProbeAtMs = Math.min(nextProbeAtMs, lastSentMs + delays.firstDelayMs);
      window += windowStep;
      if (window >= maxUnanswered) window = Number.POSITIVE_INFINITY;
      // Until then it may well fail again, and the probes had better go on where they were.
      if (window === Number.POSITIVE_INFINITY) rounds = 0;
    },
    failed({ error, nowMs, number, sendings }) {
      unanswered -= 1;
      failures += 1;
      downSinceMs ??= nowMs;
      lastError = error;
      if (failures === failuresUntilPause) window = 1;
      if (number <= roundEnd) return;
      roundEnd = sendings;
      rounds += 1;
      nextProbeAtMs = nowMs + probeDelayMs({ rounds, random, delays });
    },
    abandoned({ nowMs, asProbe }) {
      unanswered -= 1;
      if (asProbe && isPaused()) nextProbeAtMs = nowMs;
    },
    forgetFailures() {
      failures = 0;
      rounds = 0;
      window = Number.POSITIVE_INFINITY;
      downSinceMs = undefined;
    },
  };
}
