/**
 * Who of an account's callers may send now, and who waits: in the order in which they came, no more at a time
 * than the account bears, and sent again only as often as is fair to the provider.
 */
import { cancelledErrorOf, onCancelled, type Scope } from "../base/cancellation.ts";
import type { Clock, Timer } from "../base/world.ts";
import type { Lane } from "./gateway-lane.ts";
import { createAdaptiveLimit } from "./gateway-limit.ts";
import type { ModelError } from "./model-error.ts";

export interface Caller {
  readonly lane: Lane;
  readonly scope: Scope;
  /** It goes after all others, and takes no place from them: neither it nor its failure holds anybody up. */
  readonly givesWay: boolean;
  /** It begins to wait for a model that does not answer. */
  readonly onPaused: () => void;
  /** Its next sending is not its first. */
  wasSent: boolean;
}

/** Held from the moment a caller may send until its stream ended, failed or was abandoned. */
export interface Slot<C extends Caller = Caller> {
  readonly caller: C;
  readonly asProbe: boolean;
  /** Sendings of the account are counted, so as to know which of them were on their way together. */
  readonly number: number;
  /** Whether it is known what came of it: an answer or a failure. */
  settled: boolean;
}

export interface Admission<C extends Caller> {
  readonly active: number;
  readonly waiting: number;
  readonly limit: number;
  readonly counts: Readonly<AdmissionCounts>;
  /** A slot, if one is to be had without waiting. */
  enterNow(caller: C): Slot<C> | undefined;
  /**
   * For a caller that is not cancelled yet. Rejects with a `CancelledError`, or with what `dismiss` says; one that gives
   * way also with the last failure of a model that is paused.
   */
  enter(caller: C): Promise<Slot<C>>;
  answered(slot: Slot): void;
  /**
   * To be called before `leave`, for what failed before it was answered, and for an overload also after. Not for
   * callers that give way.
   */
  failed(slot: Slot, error: ModelError): void;
  leave(slot: Slot): void;
  /** Callers that wait and for whom `reason` finds one are rejected with it. */
  dismiss(reason: (caller: C) => Error | undefined): void;
  /** The earliest moment at which a caller could be sent, as far as is known. */
  startsAtMs(caller: Caller): number;
}

export interface AdmissionCounts {
  /** Requests that were sent at least once. */
  admitted: number;
  /** Sendings after the first: never more than 1.2 for each request admitted. */
  retries: number;
  /** Sendings after the first beyond that, and those to a paused model: one at a time, with growing distance. */
  probes: number;
  /** Sendings that the provider answered, be it with a refusal. */
  answers: number;
}

interface Waiter<C extends Caller> {
  readonly caller: C;
  readonly admit: (slot: Slot<C>) => void;
  readonly reject: (error: Error) => void;
}

const retriesPerRequest = 1.2;

export function createAdmission<C extends Caller>(options: {
  clock: Clock;
  startConcurrency: number;
  maxConcurrency: number;
}): Admission<C> {
  const { clock } = options;
  const limit = createAdaptiveLimit({ start: options.startConcurrency, max: options.maxConcurrency });
  const counts: AdmissionCounts = { admitted: 0, retries: 0, probes: 0, answers: 0 };
  // A set keeps the order of arrival, and whoever is cancelled leaves it at once.
  const waiters = new Set<Waiter<C>>();
  const yielding = new Set<Waiter<C>>();
  let active = 0;
  /** On their way as well, but of those that give way. */
  let aside = 0;
  let sendings = 0;
  /** Whatever was sent before says the same about the account, and is not held against it again. */
  let halvedAt = 0;
  /** The provider asked for it. */
  let heldUntilMs = 0;
  let wake: Timer | undefined;

  const mustProbe = (caller: Caller) =>
    caller.lane.paused || (caller.wasSent && counts.retries + 1 > retriesPerRequest * counts.admitted);

  const startsAtMs = (caller: Caller) => Math.max(heldUntilMs, caller.lane.startsAtMs(mustProbe(caller)));

  const send = (caller: C, nowMs: number): Slot<C> => {
    const asProbe = mustProbe(caller);
    if (!caller.wasSent) counts.admitted += 1;
    else if (asProbe) counts.probes += 1;
    else counts.retries += 1;
    caller.wasSent = true;
    caller.lane.sent({ nowMs, asProbe });
    active += 1;
    sendings += 1;
    return { caller, asProbe, number: sendings, settled: false };
  };

  /** The lane does not hear of it. */
  const sendAside = (caller: C): Slot<C> => {
    counts.admitted += 1;
    caller.wasSent = true;
    aside += 1;
    return { caller, asProbe: false, number: sendings, settled: false };
  };

  /** Those that give way: the moment at which the next one may go. */
  const admitYielding = (nowMs: number): number => {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const waiter of yielding) {
      const { caller } = waiter;
      const { paused, lastError } = caller.lane;
      const atMs = startsAtMs(caller);
      if (paused && lastError && atMs > nowMs) {
        yielding.delete(waiter);
        waiter.reject(lastError);
      } else if (active + aside >= limit.current) break;
      else if (atMs <= nowMs) {
        yielding.delete(waiter);
        waiter.admit(sendAside(caller));
      } else nextMs = Math.min(nextMs, atMs);
    }
    return nextMs;
  };

  /** Lets in whoever may go, and comes back when the next one may. */
  const admitWaiters = () => {
    wake?.cancel();
    wake = undefined;
    if (waiters.size + yielding.size === 0) return;
    const nowMs = clock.monotonicMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const waiter of waiters) {
      // Whoever leaves calls again.
      if (active >= limit.current) return;
      const atMs = startsAtMs(waiter.caller);
      if (atMs <= nowMs) {
        waiters.delete(waiter);
        waiter.admit(send(waiter.caller, nowMs));
      } else nextMs = Math.min(nextMs, atMs);
    }
    if (yielding.size > 0) nextMs = Math.min(nextMs, admitYielding(nowMs));
    if (nextMs < Number.POSITIVE_INFINITY) wake = clock.setTimer(nextMs - nowMs, admitWaiters);
  };

  return {
    get active() {
      return active + aside;
    },
    get waiting() {
      return waiters.size + yielding.size;
    },
    get limit() {
      return limit.current;
    },
    counts,
    startsAtMs,
    enterNow(caller) {
      if (waiters.size > 0 || active >= limit.current || caller.givesWay) return undefined;
      const nowMs = clock.monotonicMs();
      return startsAtMs(caller) <= nowMs ? send(caller, nowMs) : undefined;
    },
    enter: (caller) =>
      new Promise((resolve, reject) => {
        const { scope } = caller;
        const line = caller.givesWay ? yielding : waiters;
        const waiter: Waiter<C> = {
          caller,
          admit(slot) {
            stopListening();
            resolve(slot);
          },
          reject(error) {
            stopListening();
            reject(error);
          },
        };
        const stopListening = onCancelled(scope, () => {
          line.delete(waiter);
          waiter.reject(cancelledErrorOf(scope));
          admitWaiters();
        });
        line.add(waiter);
        admitWaiters();
        if (caller.lane.paused && waiters.has(waiter)) caller.onPaused();
      }),
    answered(slot) {
      if (slot.settled) return;
      slot.settled = true;
      counts.answers += 1;
      if (slot.caller.givesWay) return;
      slot.caller.lane.answered(limit.current);
      limit.grow({ isContended: waiters.size > 0 });
      if (waiters.size + yielding.size > 0) admitWaiters();
    },
    failed(slot, error) {
      const nowMs = clock.monotonicMs();
      const { lane } = slot.caller;
      if (error.retryAfterMs !== undefined) heldUntilMs = Math.max(heldUntilMs, nowMs + error.retryAfterMs);
      if (error.kind === "overloaded" && !slot.asProbe && slot.number > halvedAt) {
        halvedAt = sendings;
        limit.halve();
      }
      if (slot.settled) return;
      slot.settled = true;
      const wasPaused = lane.paused;
      lane.failed({ error, nowMs, number: slot.number, sendings });
      if (wasPaused || !lane.paused) return;
      for (const { caller } of waiters) if (caller.lane === lane) caller.onPaused();
    },
    leave(slot) {
      const { lane, givesWay } = slot.caller;
      if (givesWay) aside -= 1;
      else {
        if (!slot.settled) lane.abandoned({ nowMs: clock.monotonicMs(), asProbe: slot.asProbe });
        active -= 1;
      }
      if (waiters.size + yielding.size > 0) admitWaiters();
    },
    dismiss(reason) {
      for (const waiter of waiters) {
        const error = reason(waiter.caller);
        if (error === undefined) continue;
        waiters.delete(waiter);
        waiter.reject(error);
      }
      admitWaiters();
    },
  };
}
