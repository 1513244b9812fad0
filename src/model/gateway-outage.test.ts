import { describe, expect, it } from "vitest";
import { createScope } from "../base/cancellation.ts";
import { createSimulatedProvider } from "../testing/simulated-provider.ts";
import { createSeededRandom } from "../testing/test-world.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import type { RequestEnd } from "./gated-answer.ts";
import { createGateway, type GatewayLimits } from "./gateway.ts";
import type { Model, ModelRequest, RetryNotice } from "./model.ts";
import { ModelError } from "./model-error.ts";

const minute = 60_000;
const wall = new ModelError({ kind: "overloaded", message: "overloaded", status: 529 });
const broken = new ModelError({ kind: "unavailable", message: "bad gateway", status: 502 });
const refused = new ModelError({ kind: "unavailable", message: "Could not reach it: ECONNREFUSED" });

function setUp(
  answer: Parameters<typeof createSimulatedProvider>[0]["answer"],
  options: { limits?: Partial<GatewayLimits>; seed?: number; latencyMs?: number; streamMs?: number } = {},
) {
  const clock = createVirtualClock(Date.parse("2026-01-01T00:00:00Z"));
  const { limits, seed = 3, ...rest } = options;
  const provider = createSimulatedProvider({ clock, answer, ...rest });
  const ends: RequestEnd[] = [];
  const gateway = createGateway({
    clock,
    random: createSeededRandom(seed),
    ...(limits && { limits }),
    onRequestEnd: (end) => ends.push(end),
  });
  const model = gateway.connect(provider.model());
  /** Resends, of whatever kind, against requests. */
  const resends = () => gateway.state().retries + gateway.state().probes;
  return { clock, provider, gateway, model, resends, ends };
}

async function ask(model: Model, more: Partial<ModelRequest> = {}): Promise<void> {
  const request = { system: "", tools: [], messages: [], cacheMarks: [], maxOutputTokens: 1 };
  const { signal } = new AbortController();
  for await (const _ of model.stream({ ...request, scope: createScope(signal), ...more }));
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i));

describe("an outage", () => {
  it.each([
    ["overload", wall, 100],
    ["5xx", broken, 1_000],
    ["overload, with slow answers", wall, 4_000],
  ])("of 15 minutes (%s) loses none of a hundred callers and makes no storm", async (_, error, latencyMs) => {
    const endMs = 15 * minute;
    const { clock, model, provider, gateway, resends } = setUp(
      (_sending, nowMs) => (nowMs < endMs ? error : "ok"),
      {
        latencyMs,
      },
    );
    await clock.runUntil(Promise.all(times(100, () => ask(model))));
    expect(clock.monotonicMs() - endMs).toBeLessThan(60_000);
    const state = gateway.state();
    expect(state).toMatchObject({ active: 0, waiting: 0, admitted: 100 });
    expect(state.retries).toBeLessThanOrEqual(120);
    expect(state.probes).toBeLessThan(50);
    // Even with the probes in.
    expect(resends()).toBeLessThanOrEqual(120);
    const during = provider.sendings.filter(({ atMs }) => atMs > 5_000 && atMs < endMs - latencyMs);
    expect(during.length).toBeLessThan(50);
    expect(clock.pendingMs()).toEqual([]);
  });

  it.each([1, 2, 5, 64])(
    "of 15 minutes is over for %i callers within a probe's distance",
    async (callers) => {
      const endMs = 15 * minute;
      const { clock, model, gateway } = setUp((_sending, nowMs) => (nowMs < endMs ? wall : "ok"), {
        latencyMs: 500,
      });
      await clock.runUntil(Promise.all(times(callers, () => ask(model))));
      expect(clock.monotonicMs() - endMs).toBeLessThan(35_000);
      expect(gateway.state().retries).toBeLessThanOrEqual(1.2 * callers);
      expect(gateway.state().probes).toBeLessThan(50);
    },
  );

  it("in the middle of the work, with arrivals all along, is waited for", async () => {
    const isDown = (nowMs: number) => nowMs > minute && nowMs < 10 * minute;
    const { clock, model, gateway } = setUp((_, nowMs) => (isDown(nowMs) ? broken : "ok"));
    const work = times(300, async (index) => {
      await new Promise<void>((resolve) => clock.setTimer(index * 1_000, resolve));
      for (let turn = 0; turn < 5; turn++) await ask(model);
    });
    await clock.runUntil(Promise.all(work));
    expect(clock.monotonicMs()).toBeLessThan(11 * minute);
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0, admitted: 1_500 });
    expect(gateway.state().retries).toBeLessThan(50);
  });

  it("ends gently: each answer lets a few more try", async () => {
    const { clock, model, provider } = setUp((_, nowMs) => (nowMs < minute ? wall : "ok"), {
      latencyMs: 1_000,
      streamMs: 30_000,
    });
    await clock.runUntil(Promise.all(times(60, () => ask(model))));
    const perMoment = new Map<number, number>();
    for (const { atMs } of provider.sendings)
      if (atMs >= minute) perMoment.set(atMs, (perMoment.get(atMs) ?? 0) + 1);
    expect([...perMoment.values()].slice(0, 3)).toEqual([1, 3, 9]);
    const [firstMs = 0, ...laterMs] = perMoment.keys();
    expect(laterMs.slice(0, 2).map((atMs) => atMs - firstMs)).toEqual([1_000, 2_000]);
  });

  it("that comes back in the middle of the recovery is not a storm either", async () => {
    // Up for half a second every 20 seconds.
    const { clock, model, gateway } = setUp((_, nowMs) => (nowMs % 20_000 < 500 ? "ok" : wall), {
      limits: { patienceMs: 600 * minute },
    });
    await clock.runUntil(Promise.all(times(64, () => ask(model))));
    const { retries, probes, admitted } = gateway.state();
    expect(admitted).toBe(64);
    expect(retries).toBeLessThanOrEqual(1.2 * 64);
    expect(probes).toBeLessThan(5 + clock.monotonicMs() / 1_000);
  });

  it("that only seemed to end is probed on with patience, one that did end is forgotten", async () => {
    const blipMs = 5 * minute;
    let blips = 0;
    const { clock, model, provider } = setUp((_, nowMs) => {
      if (nowMs > blipMs && blips++ === 0) return "ok";
      return nowMs < 15 * minute || (nowMs > 20 * minute && nowMs < 22 * minute) ? wall : "ok";
    });
    await clock.runUntil(Promise.all(times(60, () => ask(model))));
    const sentBetween = (fromMs: number, toMs: number) =>
      provider.sendings.filter(({ atMs }) => atMs >= fromMs && atMs < toMs).length;
    // The blip lets three try; then it goes on as before.
    expect(sentBetween(blipMs, blipMs + 2 * minute)).toBeLessThan(12);

    await clock.runUntil(
      new Promise<void>((resolve) => clock.setTimer(20 * minute - clock.monotonicMs(), resolve)),
    );
    const work = Promise.all(times(10, () => ask(model)));
    await clock.runUntil(work);
    expect(sentBetween(20 * minute + 200, 20 * minute + 5_000)).toBeGreaterThan(2);
  });

  it("is over for those who failed together in the order in which they came", async () => {
    const { clock, model, provider } = setUp((_, nowMs) => (nowMs < 10_000 ? wall : "ok"));
    await clock.runUntil(Promise.all(times(30, (index) => ask(model, { maxOutputTokens: index }))));
    const order = provider.sendings
      .filter(({ atMs }) => atMs >= 10_000)
      .map((s) => s.request.maxOutputTokens);
    // The first two did not know yet that it was an outage, and those that probed stood in line again.
    const patient = order.filter((index) => index > 12);
    expect(patient).toEqual(times(17, (index) => index + 13));
  });

  it("in whose recovery the first requests hang does not stop there", async () => {
    /** Cancelled soon, the hanging ones make room at once; else one more may try after a while. */
    for (const { cancelMs, restWithinMs } of [
      { cancelMs: 40_000, restWithinMs: 45_000 },
      { cancelMs: 10 * minute, restWithinMs: 5 * minute },
    ]) {
      const hanging: number[] = [];
      let answers = 0;
      const { clock, model, gateway } = setUp(({ request }, nowMs) => {
        if (nowMs < minute) return wall;
        if (answers++ === 0 || hanging.length === 3) return "ok";
        hanging.push(request.maxOutputTokens);
        return "hang";
      });
      const scopes = times(12, () => createScope());
      const endedMs: number[] = [];
      const work = scopes.map(async ({ signal }, index) => {
        await failureOf(ask(model, { scope: createScope(signal), maxOutputTokens: index }));
        endedMs.push(clock.monotonicMs());
      });
      clock.setTimer(minute + cancelMs, () => {
        for (const index of hanging) scopes[index]?.cancel("enough");
      });
      await clock.runUntil(Promise.all(work));
      expect(hanging).toHaveLength(3);
      expect(endedMs.filter((ms) => ms < minute + restWithinMs).length).toBeGreaterThanOrEqual(9);
      expect(gateway.state()).toMatchObject({ active: 0, waiting: 0 });
    }
  });

  it("is told to those who wait, also to those who were never sent", async () => {
    const { clock, model } = setUp((_, nowMs) => (nowMs < minute ? wall : "ok"), {
      limits: { startConcurrency: 3 },
    });
    const told = times(5, (): RetryNotice[] => []);
    await clock.runUntil(
      Promise.all(told.map((notices) => ask(model, { onRetry: (notice) => notices.push(notice) }))),
    );
    for (const notices of told) {
      expect(notices[0]).toMatchObject({ kind: "overloaded", reason: "overloaded" });
      expect(notices[0]?.delayMs).toBeGreaterThan(0);
    }
    expect(told.map((notices) => notices[0]?.attempt)).toEqual([1, 1, 1, 0, 0]);
    // Once for every try, and once that it is an outage.
    for (const notices of told)
      expect(new Set(notices.map(({ attempt, paused }) => `${attempt} ${paused}`)).size).toBe(notices.length);
  });

  it("is told at once to whoever comes while it lasts", async () => {
    const { clock, model } = setUp((_, nowMs) => (nowMs < minute ? wall : "ok"));
    const early = Promise.all(times(5, () => ask(model)));
    const toldAtMs: number[] = [];
    const late = (async () => {
      await new Promise<void>((resolve) => clock.setTimer(20_000, resolve));
      await ask(model, { onRetry: () => toldAtMs.push(clock.monotonicMs()) });
    })();
    await clock.runUntil(Promise.all([early, late]));
    expect(toldAtMs[0]).toBe(20_000);
  });

  it("is waited for no longer than the patience lasts, then says what was down, since when, how often tried", async () => {
    const { clock, model, gateway, ends } = setUp(() => broken, { limits: { patienceMs: 10 * minute } });
    const failures = await clock.runUntil(Promise.all(times(100, () => failureOf(ask(model)))));
    expect(failures).toHaveLength(100);
    for (const error of failures) {
      expect(error).toBeInstanceOf(ModelError);
      expect(String(error)).toMatch(
        /^ModelError: simulated has not answered for 1\d minutes \(since 2026-01-01T00:00:00.*, \d+ tries\)/,
      );
      expect(String(error)).toContain("bad gateway");
    }
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(10 * minute);
    expect(clock.monotonicMs()).toBeLessThan(11 * minute);
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0 });
    expect(clock.pendingMs()).toEqual([]);
    expect(ends.map((end) => end.outcome)).toEqual(times(100, () => "failed"));
    // Whoever comes later has patience of its own.
    const later = failureOf(ask(model));
    const startedMs = clock.monotonicMs();
    expect(await clock.runUntil(later)).toBeInstanceOf(ModelError);
    expect(clock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(10 * minute);
  });

  it("does not count for patience while a request only waits for its turn", async () => {
    const { clock, model } = setUp(({ index }, nowMs) => (index > 0 && nowMs < 35 * minute ? wall : "ok"), {
      limits: { startConcurrency: 1 },
      streamMs: 20 * minute,
    });
    await clock.runUntil(Promise.all([ask(model), ask(model)]));
    expect(clock.monotonicMs()).toBeGreaterThan(50 * minute);
  });

  it("that the provider wants to be waited for longer than the patience lasts is given up at once", async () => {
    const busy = new ModelError({
      kind: "overloaded",
      message: "busy",
      status: 429,
      retryAfterMs: 20 * minute,
    });
    const { clock, model } = setUp(() => busy);
    expect(String(await clock.runUntil(failureOf(ask(model))))).toContain("has not answered for 20 minutes");
    expect(clock.monotonicMs()).toBeLessThan(21 * minute);
  });

  it("in which a probe hangs goes on with the next one", async () => {
    const { clock, model, gateway } = setUp(({ index }, nowMs) => {
      if (index === 6) return "hang";
      return nowMs < 2 * minute ? wall : "ok";
    });
    const scope = createScope();
    const work = times(6, () => failureOf(ask(model, { scope: createScope(scope.signal) })));
    clock.setTimer(5 * minute, () => scope.cancel("enough"));
    const ends = await clock.runUntil(Promise.all(work));
    expect(ends.filter((error) => error !== undefined)).toHaveLength(1);
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0 });
  });

  it("whose probe is cancelled is probed by the next in line at once", async () => {
    const { clock, model, provider } = setUp(({ index }) => (index < 3 ? wall : "hang"));
    const scopes = times(3, () => createScope());
    const work = scopes.map((scope, index) =>
      failureOf(ask(model, { scope: createScope(scope.signal), maxOutputTokens: index })),
    );
    clock.setTimer(10_000, () =>
      scopes[provider.sendings.at(-1)?.request.maxOutputTokens ?? 0]?.cancel("enough"),
    );
    clock.setTimer(10_001, () => {
      for (const scope of scopes) scope.cancel("enough");
    });
    await clock.runUntil(Promise.all(work));
    expect(provider.sendings.map(({ atMs }) => atMs).slice(3)).toHaveLength(2);
    expect(provider.sendings.at(-1)?.atMs).toBe(10_000);
  });

  it("of one model leaves the account's other models alone", async () => {
    const { clock, model, provider, gateway } = setUp(({ modelId }, nowMs) =>
      modelId === "simulated" && nowMs < 5 * minute ? wall : "ok",
    );
    const other = gateway.connect(provider.model("other"));
    const down = Promise.all(times(20, () => ask(model)));
    const finishedMs = (async () => {
      for (let turn = 0; turn < 10; turn++) await ask(other);
      return clock.monotonicMs();
    })();
    expect(await clock.runUntil(finishedMs)).toBe(2_000);
    await clock.runUntil(down);
    expect(clock.monotonicMs()).toBeLessThan(6 * minute);
  });
});

describe("retries", () => {
  it("are never more than 1.2 for each request, also of a provider that answers every third time only", async () => {
    const { clock, gateway, provider } = setUp(({ index }) => (index % 3 === 2 ? "ok" : wall), {
      limits: { startConcurrency: 4 },
    });
    const plain = provider.model();
    const model = gateway.connect({
      ...plain,
      stream(request) {
        const { retries, admitted } = gateway.state();
        expect(retries).toBeLessThanOrEqual(1.2 * admitted);
        return plain.stream(request);
      },
    });
    await clock.runUntil(Promise.all(times(40, () => ask(model))));
    const { admitted, probes } = gateway.state();
    expect(admitted).toBe(40);
    expect(probes).toBeGreaterThan(20);
    // What is beyond comes one at a time.
    expect(probes).toBeLessThan(3 + clock.monotonicMs() / 500);
  });
});

describe("a host that cannot be reached", () => {
  it("fails after four tries within seconds, for one caller and for a hundred", async () => {
    for (const callers of [1, 2, 100]) {
      const { clock, model, provider, gateway } = setUp(() => refused, { latencyMs: 1 });
      const failures = await clock.runUntil(Promise.all(times(callers, () => failureOf(ask(model)))));
      expect(new Set(failures)).toEqual(new Set([refused]));
      expect(clock.monotonicMs()).toBeLessThan(10_000);
      expect(provider.sendings.length).toBeLessThanOrEqual(Math.min(callers, 64) * 2 + 4);
      if (callers === 1) expect(provider.sendings).toHaveLength(4);
      expect(gateway.state()).toMatchObject({ active: 0, waiting: 0 });
      expect(clock.pendingMs()).toEqual([]);
    }
  });

  it("gets the same number of tries when it is asked again later", async () => {
    const { clock, model, provider } = setUp(() => refused);
    await clock.runUntil(failureOf(ask(model)));
    await clock.runUntil(failureOf(ask(model)));
    expect(provider.sendings).toHaveLength(8);
  });

  it("is waited for when it has answered before: then it is an outage", async () => {
    const isDown = (nowMs: number) => nowMs > 1_000 && nowMs < 10 * minute;
    for (const firstWord of ["ok", wall] as const) {
      const { clock, model } = setUp(({ index }, nowMs) => {
        if (index === 0) return firstWord;
        return isDown(nowMs) ? refused : "ok";
      });
      await clock.runUntil(ask(model));
      await clock.runUntil(new Promise<void>((resolve) => clock.setTimer(1_000, resolve)));
      await clock.runUntil(Promise.all(times(10, () => ask(model))));
      expect(clock.monotonicMs()).toBeGreaterThan(10 * minute);
    }
  });
});
