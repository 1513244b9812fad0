import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/prove.ts";
import { createScope } from "../base/cancellation.ts";
import { isCancelled } from "../base/errors.ts";
import { createSimulatedProvider, type SimulatedAnswer } from "../testing/simulated-provider.ts";
import { createSeededRandom } from "../testing/test-world.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { createGateway } from "./gateway.ts";
import type { Model, ModelRequest } from "./model.ts";
import { ModelError } from "./model-error.ts";

const refusal = (status: number, retryAfterMs?: number) =>
  new ModelError({
    kind: status === 500 ? "unavailable" : "overloaded",
    message: "no",
    status,
    retryAfterMs,
  });

const answers: fc.Arbitrary<SimulatedAnswer> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<SimulatedAnswer>("ok") },
  fc.integer({ min: 0, max: 90_000 }).map((ms) => refusal(429, ms)),
  fc.constantFrom<SimulatedAnswer>(
    refusal(529),
    refusal(500),
    new ModelError({ kind: "unavailable", message: "ECONNREFUSED" }),
    new ModelError({ kind: "cut", message: "silent" }),
    new ModelError({ kind: "rejected", message: "bad request", status: 400 }),
    "cut",
    "hang",
    "hang-after-start",
  ),
);

/** Weather: for a while everybody gets the same answer. Or each sending has its own. */
const schedules = fc.record({
  seed: fc.nat(),
  startConcurrency: fc.integer({ min: 1, max: 8 }),
  patienceMs: fc.constantFrom(20_000, 600_000),
  weather: fc.array(fc.record({ forMs: fc.integer({ min: 1, max: 120_000 }), answer: answers }), {
    maxLength: 5,
  }),
  ownAnswers: fc.array(answers, { maxLength: 30 }),
  callers: fc.array(
    fc.record({
      startMs: fc.nat(60_000),
      requests: fc.integer({ min: 1, max: 3 }),
      model: fc.constantFrom("a", "a", "a", "b"),
      cancelAfterMs: fc.option(fc.nat(200_000), { nil: undefined }),
      leaves: fc.boolean(),
      patience: fc.constantFrom<ModelRequest["patience"]>(undefined, undefined, undefined, "none"),
    }),
    { minLength: 1, maxLength: 25 },
  ),
});

/** After this everybody who still hangs is cancelled. */
const endMs = 24 * 3_600_000;

describe("whatever a provider answers and whoever is cancelled", () => {
  it("all callers end, no slot is lost, the limit and the bound on retries hold at every sending", async () => {
    await fc.assert(
      fc.asyncProperty(schedules, async (schedule) => {
        const clock = createVirtualClock();
        const provider = createSimulatedProvider({
          clock,
          answer: (sending, nowMs) =>
            schedule.ownAnswers[sending.index] ?? weatherAt(schedule.weather, nowMs),
        });
        const { startConcurrency, patienceMs } = schedule;
        const gateway = createGateway({
          clock,
          random: createSeededRandom(schedule.seed),
          limits: { startConcurrency, maxConcurrency: startConcurrency, patienceMs },
        });
        // Those that give way go beside the others, who do not see them.
        const givesWay = schedule.callers.some(({ patience }) => patience === "none");
        const mostActive = givesWay ? 2 * startConcurrency : startConcurrency;
        const check = () => {
          const state = gateway.state();
          expect(state.active).toBeLessThanOrEqual(mostActive);
          expect(state.limit).toBeGreaterThanOrEqual(1);
          expect(state.retries).toBeLessThanOrEqual(1.2 * state.admitted);
        };
        const watched = (id: string): Model => {
          const model = provider.model(id);
          return gateway.connect({
            ...model,
            stream(request) {
              check();
              return model.stream(request);
            },
          });
        };
        const models: Readonly<Record<string, Model>> = { a: watched("a"), b: watched("b") };
        const work = schedule.callers.map((caller) =>
          runCaller({ ...caller, clock, model: models[caller.model] ?? watched("c") }),
        );
        await clock.runUntil(Promise.all(work));
        const { active, waiting, retries, probes, admitted } = gateway.state();
        expect({ active, waiting, provider: provider.active }).toEqual({
          active: 0,
          waiting: 0,
          provider: 0,
        });
        expect(admitted + retries + probes).toBe(provider.sendings.length);
        expect(provider.peak).toBeLessThanOrEqual(mostActive);
        expect(clock.pendingMs()).toEqual([]);
      }),
      { numRuns: runs({ sample: 150, full: 5_000 }) },
    );
  });
});

function weatherAt(
  weather: readonly { forMs: number; answer: SimulatedAnswer }[],
  nowMs: number,
): SimulatedAnswer {
  let untilMs = 0;
  for (const { forMs, answer } of weather) {
    untilMs += forMs;
    if (nowMs < untilMs) return answer;
  }
  return "ok";
}

async function runCaller(caller: {
  clock: ReturnType<typeof createVirtualClock>;
  model: Model;
  startMs: number;
  requests: number;
  cancelAfterMs: number | undefined;
  leaves: boolean;
  patience: ModelRequest["patience"];
}): Promise<void> {
  const { clock } = caller;
  await new Promise<void>((resolve) => clock.setTimer(caller.startMs, resolve));
  const scope = createScope();
  const alarm = clock.setTimer(caller.cancelAfterMs ?? endMs, () => scope.cancel("enough"));
  const request = { system: "", tools: [], messages: [], cacheMarks: [], maxOutputTokens: 1 };
  let isRetry = false;
  try {
    for (let asked = 0; asked < caller.requests && !scope.cancelled; asked++) {
      try {
        for await (const _ of caller.model.stream({
          ...request,
          scope: createScope(scope.signal),
          isRetry,
          patience: caller.patience,
        })) {
          if (caller.leaves) break;
        }
        isRetry = false;
      } catch (error) {
        if (!isCancelled(error)) expect(error).toBeInstanceOf(ModelError);
        isRetry = error instanceof ModelError && error.kind === "cut";
      }
    }
  } finally {
    alarm.cancel();
    scope.release();
  }
}
