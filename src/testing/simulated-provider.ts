import { sleep, throwIfCancelled } from "../base/cancellation.ts";
import type { Clock } from "../base/world.ts";
import { noUsage } from "../contracts/usage.ts";
import type { Model, ModelRequest } from "../model/model.ts";
import { ModelError } from "../model/model-error.ts";
import { untilCancelled } from "./until-cancelled.ts";

/**
 * A provider that answers as its schedule says: `ok` with a short message, `cut` with the beginning of one,
 * `hang` not at all until the request is cancelled, `hang-after-start` likewise in the middle.
 */
export type SimulatedAnswer = "ok" | "cut" | "hang" | "hang-after-start" | ModelError;

export interface SimulatedProvider {
  model(id?: string): Model;
  /** Every sending, in order. */
  readonly sendings: readonly SimulatedSending[];
  /** Requests on their way now, and at most so far. */
  readonly active: number;
  readonly peak: number;
}

export interface SimulatedSending {
  readonly index: number;
  readonly modelId: string;
  readonly atMs: number;
  readonly request: ModelRequest;
}

export function createSimulatedProvider(options: {
  clock: Clock;
  /** Looked at when the answer begins. */
  answer: (sending: SimulatedSending, nowMs: number) => SimulatedAnswer;
  /** Until the answer begins. */
  latencyMs?: number;
  /** From its beginning to its end. */
  streamMs?: number;
}): SimulatedProvider {
  const { clock, latencyMs = 100, streamMs = 100 } = options;
  const sendings: SimulatedSending[] = [];
  let active = 0;
  let peak = 0;

  const modelOf = (id: string): Model => ({
    provider: "simulated",
    id,
    contextWindow: 200_000,
    async *stream(request) {
      throwIfCancelled(request.scope);
      const sending = { index: sendings.length, modelId: id, atMs: clock.monotonicMs(), request };
      sendings.push(sending);
      active += 1;
      peak = Math.max(peak, active);
      try {
        await sleep(clock, latencyMs, request.scope);
        const answer = options.answer(sending, clock.monotonicMs());
        if (answer instanceof ModelError) throw answer;
        if (answer === "hang") await untilCancelled(request.scope);
        yield { type: "message-start", id: `m${sending.index}`, model: id, usage: noUsage };
        if (answer === "hang-after-start") await untilCancelled(request.scope);
        await sleep(clock, streamMs, request.scope);
        if (answer === "cut") throw new ModelError({ kind: "cut", message: "The stream broke off." });
        const usage = { ...noUsage, inputTokens: 3, outputTokens: 2 };
        yield { type: "message-stop", stopReason: "end_turn", usage };
      } finally {
        active -= 1;
      }
    },
  });

  return {
    model: (id = "simulated") => modelOf(id),
    sendings,
    get active() {
      return active;
    },
    get peak() {
      return peak;
    },
  };
}
