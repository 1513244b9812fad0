/**
 * One gateway per provider account: all agents of a process share it. It limits how many requests are on their
 * way, slows down for all of them when the provider asks for it, and asks again for what failed before anything
 * was streamed. A hundred agents that meet an outage wait as one, and lose nothing (LO-11).
 *
 *   connect ─ enter (admission: order, limit, holds) ─ model.stream ─ answered | failed ─ leave
 */
import { sleep, throwIfCancelled } from "../base/cancellation.ts";
import { isCancelled } from "../base/errors.ts";
import type { Clock, Random } from "../base/world.ts";
import type { ModelEvent } from "../contracts/event.ts";
import { noUsage, type Usage } from "../contracts/usage.ts";
import { type AdmissionCounts, createAdmission } from "./gateway-admission.ts";
import { createLane, type Lane } from "./gateway-lane.ts";
import { createPatience, type PatientCaller } from "./gateway-patience.ts";
import type { Model, ModelRequest } from "./model.ts";
import { ModelError } from "./model-error.ts";
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

export interface RequestEnd {
  /** As the provider calls it, if it has said so. */
  readonly modelId: string;
  readonly usage: Usage;
  /** `cut`: after something was streamed. `cancelled`: or nobody wanted the rest. */
  readonly outcome: "completed" | "cut" | "failed" | "cancelled";
  /** From the call to the end, waiting included. */
  readonly ms: number;
  /** How often it was sent. */
  readonly tries: number;
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

  async function* stream(model: Model, request: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    const startedMs = clock.monotonicMs();
    const caller = patience.callerOf(request, laneOf(model.id));
    let outcome: RequestEnd["outcome"] = "cancelled";
    let modelId = model.id;
    let usage = noUsage;
    let began = false;
    try {
      for (;;) {
        throwIfCancelled(request.signal);
        const slot = admission.enterNow(caller) ?? (await admission.enter(caller));
        caller.tries += 1;
        let delayMs = 0;
        try {
          for await (const event of model.stream(request)) {
            if (!began) {
              began = true;
              admission.answered(slot);
            }
            if (event.type === "message-start") ({ model: modelId, usage } = event);
            else if (event.type === "message-stop") usage = event.usage;
            yield event;
          }
          if (!began) throw emptyAnswer(model);
          outcome = "completed";
          return;
        } catch (error) {
          if (!(error instanceof ModelError)) throw error;
          if (began) cuts += 1;
          delayMs = patience.judge(slot, { error, began });
        } finally {
          admission.leave(slot);
        }
        if (delayMs > 0) await sleep(clock, delayMs, request.signal);
      }
    } catch (error) {
      if (!isCancelled(error)) outcome = began ? "cut" : "failed";
      throw error;
    } finally {
      const ms = clock.monotonicMs() - startedMs;
      options.onRequestEnd?.({ modelId, usage, outcome, ms, tries: caller.tries });
    }
  }

  return {
    connect: (model) => ({ ...model, stream: (request) => stream(model, request) }),
    state: () => ({
      active: admission.active,
      waiting: admission.waiting,
      limit: admission.limit,
      cuts,
      ...admission.counts,
    }),
  };
}

function emptyAnswer(model: Model): ModelError {
  return new ModelError({ kind: "cut", message: `The answer of ${model.id} ended before it had begun.` });
}
