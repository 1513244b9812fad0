/** Requests that nobody needs: whatever becomes of them, all others fare as if they were not there. */
import { describe, expect, it } from "vitest";
import { createScope } from "../base/cancellation.ts";
import { isCancelled } from "../base/errors.ts";
import { createSimulatedProvider } from "../testing/simulated-provider.ts";
import { createSeededRandom } from "../testing/test-world.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { withFallback } from "./fallback.ts";
import { createGateway, type GatewayLimits } from "./gateway.ts";
import type { Model, ModelRequest } from "./model.ts";
import { ModelError } from "./model-error.ts";

const overloaded = (retryAfterMs?: number) =>
  new ModelError({ kind: "overloaded", message: "no capacity", status: 529, retryAfterMs });
const broken = new ModelError({ kind: "unavailable", message: "bad gateway", status: 502 });
const unreachable = new ModelError({ kind: "unavailable", message: "ECONNREFUSED" });

function setUp(
  answer: Parameters<typeof createSimulatedProvider>[0]["answer"],
  limits: Partial<GatewayLimits> = {},
) {
  const clock = createVirtualClock();
  const provider = createSimulatedProvider({ clock, answer });
  const gateway = createGateway({ clock, random: createSeededRandom(3), limits });
  const model = gateway.connect(provider.model());
  /** Who was sent, in order. */
  const sent = () => provider.sendings.map(({ request }) => request.patience ?? "patient");
  return { clock, provider, gateway, model, sent };
}

const isService = ({ request }: { request: ModelRequest }) => request.patience === "none";

async function ask(model: Model, more: Partial<ModelRequest> = {}): Promise<string> {
  const request = { system: "", tools: [], messages: [], cacheMarks: [], maxOutputTokens: 1 };
  let answeredBy = "nobody";
  for await (const event of model.stream({ ...request, scope: createScope(), ...more }))
    if (event.type === "message-start") answeredBy = event.model;
  return answeredBy;
}
const askAside = (model: Model, more: Partial<ModelRequest> = {}) =>
  ask(model, { patience: "none", ...more });

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a request without patience that fails", () => {
  it.each([
    ["overload", overloaded()],
    ["overload that asks for time", overloaded(8_000)],
    ["a failure of the server", broken],
    ["a server that cannot be reached", unreachable],
  ])("with %s is not sent again, and the next one does not feel it", async (_, error) => {
    const { clock, model, gateway, sent } = setUp((sending) => (isService(sending) ? error : "ok"));
    // Often enough to pause a model.
    for (let count = 0; count < 6; count++)
      expect(await clock.runUntil(failureOf(askAside(model)))).toBe(error);
    const beganMs = clock.monotonicMs();
    const { limit } = gateway.state();
    await clock.runUntil(ask(model));
    expect(clock.monotonicMs() - beganMs).toBe(200);
    expect(sent()).toEqual([...Array.from({ length: 6 }, () => "none"), "patient"]);
    expect(limit).toBe(64);
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0, retries: 0, probes: 0 });
    expect(clock.pendingMs()).toEqual([]);
  });

  it("in the middle of its answer leaves the limit as it is", async () => {
    const { clock, model, gateway } = setUp(() => "cut");
    await clock.runUntil(failureOf(askAside(model)));
    expect(gateway.state()).toMatchObject({ active: 0, limit: 64, cuts: 1 });
  });

  it("does not send others to the fallback model", async () => {
    const { clock, provider, gateway } = setUp((sending) => (isService(sending) ? overloaded() : "ok"));
    const model = withFallback({
      primary: gateway.connect(provider.model("first")),
      fallback: gateway.connect(provider.model("second")),
      clock,
    });
    expect(await clock.runUntil(failureOf(askAside(model)))).toBeInstanceOf(ModelError);
    expect(await clock.runUntil(ask(model))).toBe("first");
  });
});

describe("a request without patience", () => {
  it("takes nobody's place: with a limit of one, another goes beside it", async () => {
    const { clock, model, gateway } = setUp((sending) => (isService(sending) ? "hang" : "ok"), {
      startConcurrency: 1,
      maxConcurrency: 1,
    });
    const scope = createScope();
    const aside = failureOf(askAside(model, { scope }));
    await clock.runUntil(ask(model));
    expect(clock.monotonicMs()).toBe(200);
    expect(gateway.state().active).toBe(1);
    scope.cancel("enough");
    expect(isCancelled(await clock.runUntil(aside))).toBe(true);
    expect(gateway.state().active).toBe(0);
  });

  it("leaves no more room for others than there was, and no less", async () => {
    const { clock, model, provider } = setUp(() => "ok", { startConcurrency: 1, maxConcurrency: 1 });
    for (let count = 0; count < 3; count++) await clock.runUntil(askAside(model));
    await clock.runUntil(Promise.all([ask(model), ask(model), ask(model)]));
    expect(provider.peak).toBe(1);
  });

  it("says nothing about what the account bears, also when it is answered", async () => {
    const { clock, model, gateway } = setUp(({ index }) => (index === 0 ? overloaded() : "ok"));
    await clock.runUntil(ask(model));
    expect(gateway.state().limit).toBe(32);
    for (let count = 0; count < 20; count++) await clock.runUntil(askAside(model));
    expect(gateway.state().limit).toBe(32);
  });

  it("goes after those that came later", async () => {
    const { clock, model, sent } = setUp(() => "ok", { startConcurrency: 1, maxConcurrency: 1 });
    const all = [ask(model), askAside(model), ask(model), ask(model)];
    await clock.runUntil(Promise.all(all));
    expect(sent()).toEqual(["patient", "patient", "patient", "none"]);
  });

  it("waits as long as the provider has asked others to, and can be cancelled meanwhile", async () => {
    const { clock, model, provider, gateway } = setUp(({ index }) =>
      index === 0 ? overloaded(8_000) : "ok",
    );
    const scope = createScope();
    const main = ask(model);
    await clock.runUntil(new Promise<void>((resolve) => clock.setTimer(1_000, resolve)));
    const cancelled = failureOf(askAside(model, { scope }));
    const aside = askAside(model);
    await Promise.resolve();
    expect(gateway.state().waiting).toBeGreaterThanOrEqual(2);
    scope.cancel("enough");
    await clock.runUntil(Promise.all([main, aside, cancelled]));
    expect(isCancelled(await cancelled)).toBe(true);
    expect(provider.sendings.map(({ atMs }) => atMs >= 8_000)).toEqual([false, true, true]);
    expect(clock.pendingMs()).toEqual([]);
  });

  it("does not wait for a model that answers nobody, and is no probe of it", async () => {
    const { clock, model, sent } = setUp((_sending, nowMs) => (nowMs < 600_000 ? overloaded() : "ok"));
    const main = ask(model);
    await clock.runUntil(new Promise<void>((resolve) => clock.setTimer(60_000, resolve)));
    const before = sent().length;
    expect(await clock.runUntil(failureOf(askAside(model)))).toMatchObject({ kind: "overloaded" });
    expect(sent()).toHaveLength(before);
    await clock.runUntil(main);
    expect(await clock.runUntil(askAside(model))).toBe("simulated");
  });
});
