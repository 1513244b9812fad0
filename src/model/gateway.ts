/**
 * One gateway per provider account: all agents of a process share it. It limits how many requests are on their
 * way, slows down for all of them when the provider asks for it, and asks again for what failed before anything
 * was streamed. A hundred agents that meet an outage wait as one, and lose nothing (LO-11).
 *
 *   connect ─ enter (admission: order, limit, holds) ─ model.stream ─ answered | failed ─ leave
 */
import type { Clock, Random } from "../base/world.ts";
import { type Account, GatedAnswer, type RequestEnd } from "./gated-answer.ts";
import { type AdmissionCounts, createAdmission } from "./gateway-admission.ts";
import { createLane, type Lane } from "./gateway-lane.ts";
import { createPatience, type PatientCaller } from "./gateway-patience.ts";
import type { Model } from "./model.ts";
import { defaultRetryDelays, type RetryDelays } from "./retry.ts";

export interface Gateway {
  /** The same model, asked through this account. */
  connect(model: Model): Model;
  state(): GatewayState;
}

export interface GatewayOptions {
  readonly clock: Clock;
  readonly random: Pick<Random, "number">;
  readonly limits?: Partial<GatewayLimits>;
  /** For cost and traces: once for every request that was begun. */
  readonly onRequestEnd?: (end: RequestEnd) => void;
}

export interface GatewayLimits extends RetryDelays {
  /** Requests at a time, to begin with. */
  readonly startConcurrency: number;
  readonly maxConcurrency: number;
  /** How long a request waits for a provider that does not answer. */
  readonly patienceMs: number;
}

export interface GatewayState extends AdmissionCounts {
  /** Requests on their way. */
  readonly active: number;
  readonly waiting: number;
  /** How many may be on their way. */
  readonly limit: number;
  /** Answers that broke off after they had begun. */
  readonly cuts: number;
}

const defaultLimits: GatewayLimits = {
  ...defaultRetryDelays,
  startConcurrency: 64,
  maxConcurrency: 256,
  patienceMs: 30 * 60_000,
};

export function createGateway(options: GatewayOptions): Gateway {
  const { clock, random } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const admission = createAdmission<PatientCaller>({ clock, ...limits });
  const patience = createPatience({
    clock,
    random,
    admission,
    delays: limits,
    patienceMs: limits.patienceMs,
  });
  const lanes = new Map<string, Lane>();
  let cuts = 0;

  const laneOf = (modelId: string): Lane => {
    let lane = lanes.get(modelId);
    if (lane === undefined) {
      lane = createLane({ modelId, random, delays: limits });
      lanes.set(modelId, lane);
    }
    return lane;
  };

  const account: Account = {
    clock,
    admission,
    patience,
    laneOf,
    onCut() {
      cuts += 1;
    },
    onRequestEnd: options.onRequestEnd,
  };

  return {
    connect: (model) => ({ ...model, stream: (request) => new GatedAnswer(account, model, request) }),
    state: () => ({
      active: admission.active,
      waiting: admission.waiting,
      limit: admission.limit,
      cuts,
      ...admission.counts,
    }),
  };
}
