import { afterEach, describe, expect, it } from "vitest";
import { createScope, type Scope } from "../base/cancellation.ts";
import { isCancelled } from "../base/errors.ts";
import { createNodeWorld } from "../base/world/node-world.ts";
import type { ModelEvent } from "../contracts/event.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { startMockProvider } from "../testing/mock-provider.ts";
import { createSimulatedProvider, type SimulatedAnswer } from "../testing/simulated-provider.ts";
import { createSeededRandom } from "../testing/test-world.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { createWatchedScope } from "../testing/watched-scope.ts";
import { createAnthropicModel } from "./anthropic.ts";
import type { RequestEnd } from "./gated-answer.ts";
import { createGateway, type GatewayLimits } from "./gateway.ts";
import type { Model, ModelRequest, RetryNotice } from "./model.ts";
import { ModelError } from "./model-error.ts";

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

const overloaded = (retryAfterMs?: number) =>
  new ModelError({ kind: "overloaded", message: "too much", status: 429, retryAfterMs });
const broken = new ModelError({ kind: "unavailable", message: "it broke", status: 500 });

function setUp(
  answer: Parameters<typeof createSimulatedProvider>[0]["answer"],
  options: { limits?: Partial<GatewayLimits>; latencyMs?: number; streamMs?: number } = {},
) {
  const clock = createVirtualClock();
  const { limits, ...rest } = options;
  const provider = createSimulatedProvider({ clock, answer, ...rest });
  const ends: RequestEnd[] = [];
  const gateway = createGateway({
    clock,
    random: createSeededRandom(7),
    ...(limits && { limits }),
    onRequestEnd: (end) => ends.push(end),
  });
  return { clock, provider, gateway, ends, model: gateway.connect(provider.model()) };
}

function requestOf(more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: "",
    tools: [],
    messages: [],
    cacheMarks: [],
    maxOutputTokens: 100,
    scope: createScope(),
    ...more,
  };
}

async function ask(model: Model, more: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream(requestOf(more))) events.push(event);
  return events;
}

const outcomeOf = (work: Promise<unknown>) =>
  work.then(
    () => "ok",
    (error: unknown) => (isCancelled(error) ? "cancelled" : error),
  );
const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i));
/** The first `count` sendings get `answer`, the others go well. */
const first = (count: number, answer: SimulatedAnswer) => (sending: { index: number }) =>
  sending.index < count ? answer : "ok";

describe("a request", () => {
  it("passes through without a timer of the gateway's own, and is told at its end", async () => {
    const clock = createManualClock();
    const ends: RequestEnd[] = [];
    const gateway = createGateway({
      clock,
      random: createSeededRandom(1),
      onRequestEnd: (e) => ends.push(e),
    });
    const provider = createSimulatedProvider({ clock, answer: () => "ok" });
    const work = ask(gateway.connect(provider.model("m")));
    await clock.advance(50);
    expect(clock.pendingMs()).toEqual([50]);
    expect(gateway.state()).toMatchObject({ active: 1, admitted: 1 });
    await clock.advance(150);
    expect((await work).map((event) => event.type)).toEqual(["message-start", "message-stop"]);
    expect(clock.pendingMs()).toEqual([]);
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0, retries: 0, probes: 0 });
    const usage = { inputTokens: 3, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
    expect(ends).toEqual([{ modelId: "m", usage, outcome: "completed", ms: 200, tries: 1 }]);
  });

  it("is made again when it failed before anything was streamed, and says so", async () => {
    const { clock, model, provider, ends } = setUp(first(2, broken));
    const notices: RetryNotice[] = [];
    const events = await clock.runUntil(ask(model, { onRetry: (notice) => notices.push(notice) }));
    expect(events.map((event) => event.type)).toEqual(["message-start", "message-stop"]);
    expect(provider.sendings).toHaveLength(3);
    expect(notices.map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, "it broke"],
      [2, "it broke"],
    ]);
    expect(ends).toMatchObject([{ outcome: "completed", tries: 3 }]);
  });

  it("that waiting cannot help fails at once with the provider's own words", async () => {
    const wrongKey = new ModelError({ kind: "unauthorized", message: "wrong key", status: 401 });
    const { clock, model, provider, gateway } = setUp(() => wrongKey);
    expect(await clock.runUntil(outcomeOf(ask(model)))).toBe(wrongKey);
    const outOfQuota = overloaded(3 * 3_600_000);
    const quota = setUp(() => outOfQuota);
    expect(await quota.clock.runUntil(outcomeOf(ask(quota.model)))).toBe(outOfQuota);
    expect(quota.clock.monotonicMs()).toBeLessThan(1_000);
    expect(provider.sendings).toHaveLength(1);
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0 });
  });

  it("whose answer breaks off is not made again here: the caller knows what has come of it", async () => {
    const { clock, model, provider, gateway, ends } = setUp(first(1, "cut"));
    expect(await clock.runUntil(outcomeOf(ask(model)))).toMatchObject({ kind: "cut" });
    expect(provider.sendings).toHaveLength(1);
    expect(gateway.state()).toMatchObject({ active: 0, cuts: 1, retries: 0 });
    await clock.runUntil(ask(model, { isRetry: true }));
    expect(gateway.state()).toMatchObject({ admitted: 1, retries: 1 });
    expect(ends.map((end) => end.outcome)).toEqual(["cut", "completed"]);
  });

  it("with an empty answer is made again", async () => {
    const clock = createVirtualClock();
    let asked = 0;
    const silent: Model = {
      ...createSimulatedProvider({ clock, answer: () => "ok" }).model(),
      async *stream() {
        asked += 1;
        if (asked > 1) yield { type: "block-stop", index: 0 };
      },
    };
    const model = createGateway({ clock, random: createSeededRandom(1) }).connect(silent);
    expect(await clock.runUntil(ask(model))).toHaveLength(1);
    expect(asked).toBe(2);
  });

  it("that alone fails while others go well is given up after some tries, and keeps nobody waiting", async () => {
    const { clock, provider, gateway } = setUp((sending) => (sending.modelId === "poison" ? broken : "ok"));
    // Of the same model for the gateway, so that it must tell the requests apart.
    const poison = gateway.connect({ ...provider.model("poison"), id: "simulated" });
    const fine = gateway.connect(provider.model());
    const others = (async () => {
      for (let asked = 0; asked < 600; asked++) await ask(fine);
      return clock.monotonicMs();
    })();
    expect(await clock.runUntil(outcomeOf(ask(poison)))).toBe(broken);
    expect(await clock.runUntil(others)).toBe(600 * 200);
    const sent = provider.sendings.filter((sending) => sending.modelId === "poison");
    expect(sent.length).toBeGreaterThanOrEqual(10);
    expect(sent.length).toBeLessThan(14);
  });

  it("is asked through the real client, too", async () => {
    const refusal = {
      status: 529,
      body: { type: "error", error: { type: "overloaded_error", message: "no" } },
    };
    const mock = await startMockProvider({
      answer: (_, index) => (index < 4 ? refusal : [{ type: "text", text: "hello" }]),
    });
    const world = createNodeWorld({ env: {} });
    cleanUps.push(
      () => mock.close(),
      () => world.network.close(),
    );
    const gateway = createGateway({ ...world, limits: { firstDelayMs: 2, maxDelayMs: 20 } });
    const model = gateway.connect(
      createAnthropicModel({ world, id: "claude-haiku-4-5", apiKey: "k", baseUrl: mock.url }),
    );
    const notices: RetryNotice[] = [];
    const messages: ModelRequest["messages"] = [
      { uuid: "u", parentUuid: null, timestamp: "", role: "user", content: [{ type: "text", text: "hi" }] },
    ];
    const answers = await Promise.all(
      times(2, () => ask(model, { messages, onRetry: (notice) => notices.push(notice) })),
    );
    for (const events of answers) expect(events.at(-1)?.type).toBe("message-stop");
    expect(mock.requests).toHaveLength(6);
    expect(notices[0]?.reason).toContain("529");
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0, admitted: 2 });
  });
});

describe("the number of requests at a time", () => {
  it("never exceeds the limit, and those who wait go in the order in which they came", async () => {
    const { clock, model, provider } = setUp(() => "ok", {
      limits: { startConcurrency: 3, maxConcurrency: 3 },
    });
    const started: number[] = [];
    const work = times(20, (index) => ask(model, { maxOutputTokens: index }));
    await clock.runUntil(Promise.all(work));
    for (const sending of provider.sendings) started.push(sending.request.maxOutputTokens);
    expect(provider.peak).toBe(3);
    expect(started).toEqual(times(20, (index) => index));
  });

  it("is not open to a newcomer before those who wait already", async () => {
    const { clock, model, provider } = setUp(first(1, overloaded(20_000)), {
      limits: { startConcurrency: 1 },
    });
    // Comes in the very moment in which the others may go, and before they have noticed.
    const newcomer = new Promise<void>((resolve) => clock.setTimer(20_100, resolve)).then(() =>
      ask(model, { maxOutputTokens: 3 }),
    );
    const work = [ask(model, { maxOutputTokens: 1 }), ask(model, { maxOutputTokens: 2 }), newcomer];
    await clock.runUntil(Promise.all(work));
    expect(provider.sendings.map(({ request }) => request.maxOutputTokens)).toEqual([1, 2, 1, 3]);
  });

  it("is halved once for all that were on their way together, and grows slowly with answers", async () => {
    const { clock, model, gateway } = setUp(first(20, overloaded()), { limits: { startConcurrency: 40 } });
    const burst = Promise.all(times(40, () => ask(model)));
    await clock.runUntil(burst);
    const { limit } = gateway.state();
    expect(limit).toBeGreaterThanOrEqual(20);
    expect(limit).toBeLessThanOrEqual(24);
    for (let asked = 0; asked < 100; asked++) await clock.runUntil(ask(model));
    expect(gateway.state().limit).toBe(limit + 10);
    for (let asked = 0; asked < 500; asked++) await clock.runUntil(ask(model));
    expect(gateway.state().limit).toBe(40);
  });

  it("is at least one, however often the provider complains", async () => {
    let failing = true;
    const { clock, model, gateway } = setUp(() => (failing ? overloaded() : "ok"), {
      limits: { startConcurrency: 4, maxConcurrency: 4, patienceMs: 200 },
    });
    for (let round = 0; round < 12; round++) await clock.runUntil(outcomeOf(ask(model)));
    expect(gateway.state().limit).toBe(1);
    failing = false;
    await clock.runUntil(ask(model));
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0 });
  });

  it("grows beyond the start only while somebody waits, up to the most", async () => {
    const { clock, model, gateway, provider } = setUp(() => "ok", {
      limits: { startConcurrency: 2, maxConcurrency: 5 },
    });
    for (let asked = 0; asked < 50; asked++) await clock.runUntil(ask(model));
    expect(gateway.state().limit).toBe(2);
    await clock.runUntil(Promise.all(times(200, () => ask(model))));
    expect(gateway.state().limit).toBe(5);
    expect(provider.peak).toBe(5);
  });

  it("is halved for an overload that is told in the middle of an answer", async () => {
    const clock = createVirtualClock();
    const model: Model = {
      ...createSimulatedProvider({ clock, answer: () => "ok" }).model(),
      async *stream() {
        yield { type: "block-stop", index: 0 };
        throw overloaded();
      },
    };
    const gateway = createGateway({ clock, random: createSeededRandom(1) });
    expect(await outcomeOf(ask(gateway.connect(model)))).toMatchObject({ kind: "overloaded" });
    expect(gateway.state()).toMatchObject({ limit: 32, active: 0 });
  });
});

describe("retry-after", () => {
  it("holds back all requests of the account, whichever of them was told", async () => {
    const { clock, model, gateway, provider } = setUp(first(1, overloaded(20_000)));
    const other = gateway.connect(provider.model("another"));
    const asked = ask(model);
    const later = (async () => {
      await new Promise<void>((resolve) => clock.setTimer(5_000, resolve));
      await ask(other);
    })();
    await clock.runUntil(Promise.all([asked, later]));
    expect(provider.sendings).toHaveLength(3);
    for (const sending of provider.sendings.slice(1)) expect(sending.atMs).toBeGreaterThanOrEqual(20_100);
  });

  it("for a whole burst is kept, and they do not come back all at once", async () => {
    const { clock, model, provider, gateway } = setUp((_, nowMs) =>
      nowMs < 30_000 ? overloaded(30_000) : "ok",
    );
    await clock.runUntil(Promise.all(times(80, () => ask(model))));
    const late = provider.sendings.filter((sending) => sending.atMs > 200);
    expect(Math.min(...late.map((sending) => sending.atMs))).toBeGreaterThanOrEqual(30_100);
    const firstMoment = late.filter((sending) => sending.atMs === late[0]?.atMs);
    expect(firstMoment).toHaveLength(1);
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0, admitted: 80 });
  });
});

describe("a caller that is cancelled", () => {
  const cancelAt = (clock: ReturnType<typeof createVirtualClock>, scope: Scope, ms: number) =>
    clock.setTimer(ms, () => scope.cancel("enough"));

  it("leaves the line at once, and the others move up", async () => {
    const { clock, model, provider, gateway } = setUp(() => "ok", { limits: { startConcurrency: 1 } });
    const scopes = times(4, () => createScope());
    const work = scopes.map((scope) => outcomeOf(ask(model, { scope })));
    cancelAt(clock, scopes[1] ?? createScope(), 50);
    cancelAt(clock, scopes[2] ?? createScope(), 50);
    expect(await clock.runUntil(Promise.all(work))).toEqual(["ok", "cancelled", "cancelled", "ok"]);
    expect(provider.sendings).toHaveLength(2);
    expect(clock.monotonicMs()).toBe(400);
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0, admitted: 2 });
  });

  it("gives its slot back while it hangs before or within the answer, or waits to be sent again", async () => {
    const answers: SimulatedAnswer[] = ["hang", "hang-after-start", overloaded(60_000)];
    for (const answer of answers) {
      const { clock, model, gateway, ends } = setUp(first(1, answer), { limits: { startConcurrency: 1 } });
      const scope = createScope();
      cancelAt(clock, scope, 5_000);
      const cancelled = outcomeOf(ask(model, { scope }));
      const next = outcomeOf(ask(model));
      expect(await clock.runUntil(cancelled)).toBe("cancelled");
      expect(clock.monotonicMs()).toBe(5_000);
      expect(await clock.runUntil(next)).toBe("ok");
      expect(ends.map((end) => end.outcome)).toEqual(["cancelled", "completed"]);
      expect(gateway.state()).toMatchObject({ active: 0, waiting: 0 });
      expect(clock.pendingMs()).toEqual([]);
    }
  });

  it("or not leaves no listener behind", async () => {
    const { clock, model } = setUp(first(3, overloaded()), { limits: { startConcurrency: 1 } });
    const { scope, held } = createWatchedScope();
    await clock.runUntil(Promise.all(times(5, () => ask(model, { scope }))));
    expect(held()).toBe(0);
  });

  it("before it began is never sent", async () => {
    const { clock, model, provider, gateway } = setUp(() => "ok");
    const scope = createScope();
    scope.cancel("too late");
    expect(await clock.runUntil(outcomeOf(ask(model, { scope })))).toBe("cancelled");
    expect(provider.sendings).toHaveLength(0);
    expect(gateway.state()).toMatchObject({ active: 0, admitted: 0 });
  });

  it("or that stops reading gives its slot back", async () => {
    const { clock, model, gateway, ends } = setUp(() => "ok", { limits: { startConcurrency: 1 } });
    const leave = async () => {
      for await (const event of model.stream(requestOf())) if (event.type === "message-start") return;
    };
    await clock.runUntil(Promise.all([leave(), ask(model)]));
    expect(ends.map((end) => end.outcome)).toEqual(["cancelled", "completed"]);
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0 });
  });
});
