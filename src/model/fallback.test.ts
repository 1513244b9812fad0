import { describe, expect, it } from "vitest";
import { createScope } from "../base/cancellation.ts";
import { isCancelled } from "../base/errors.ts";
import type { ModelEvent } from "../contracts/event.ts";
import type { Block, Message } from "../contracts/message.ts";
import { noUsage } from "../contracts/usage.ts";
import { createSimulatedProvider } from "../testing/simulated-provider.ts";
import { createSeededRandom } from "../testing/test-world.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { createWatchedScope } from "../testing/watched-scope.ts";
import { withFallback } from "./fallback.ts";
import { createGateway } from "./gateway.ts";
import type { Model, ModelRequest, RetryNotice } from "./model.ts";
import { ModelError } from "./model-error.ts";

const opus = "claude-opus-4-5";
const haiku = "claude-haiku-4-5";
const overloaded = new ModelError({ kind: "overloaded", message: "no capacity", status: 529 });
const broken = new ModelError({ kind: "unavailable", message: "it broke", status: 500 });

/** Both models behind one account, as is usual. */
function setUp(
  answer: Parameters<typeof createSimulatedProvider>[0]["answer"],
  fallback: Partial<Model> = {},
) {
  const clock = createVirtualClock();
  const provider = createSimulatedProvider({ clock, answer });
  const gateway = createGateway({ clock, random: createSeededRandom(5) });
  const model = withFallback({
    primary: gateway.connect(provider.model(opus)),
    fallback: gateway.connect({ ...provider.model(haiku), ...fallback }),
    clock,
    stayMs: 60_000,
  });
  const askedOf = () => provider.sendings.map((sending) => sending.modelId);
  return { clock, provider, gateway, model, askedOf };
}

async function ask(model: Model, more: Partial<ModelRequest> = {}): Promise<string> {
  const request = { system: "", tools: [], messages: [], cacheMarks: [], maxOutputTokens: 8_000 };
  const { signal } = new AbortController();
  const events: ModelEvent[] = [];
  for await (const event of model.stream({ ...request, scope: createScope(signal), ...more }))
    events.push(event);
  const [start] = events;
  return start?.type === "message-start" ? start.model : "nobody";
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    (value) => value,
    (error: unknown) => error,
  );

describe("a fallback model", () => {
  it("answers after repeated overload, says so, and stays for a while", async () => {
    const { clock, model, askedOf } = setUp(({ modelId }, nowMs) =>
      modelId === opus && nowMs < 70_000 ? overloaded : "ok",
    );
    const notices: RetryNotice[] = [];
    const onRetry = (notice: RetryNotice) => notices.push(notice);
    const { scope, held } = createWatchedScope();
    expect(await clock.runUntil(ask(model, { onRetry, scope }))).toBe(haiku);
    expect(held()).toBe(0);
    expect(askedOf()).toEqual([opus, opus, opus, haiku]);
    expect(notices.map((notice) => notice.reason)).toEqual([
      "no capacity",
      "no capacity",
      `Answered by ${haiku} because ${opus} is overloaded.`,
    ]);
    await clock.runUntil(new Promise<void>((resolve) => clock.setTimer(40_000, resolve)));
    expect(await clock.runUntil(ask(model))).toBe(haiku);
    expect(askedOf()).toHaveLength(5);
    await clock.runUntil(new Promise<void>((resolve) => clock.setTimer(40_000, resolve)));
    expect(await clock.runUntil(ask(model))).toBe(opus);
    expect(askedOf()).toHaveLength(6);
  });

  it("takes over all who wait, when the primary answers nobody", async () => {
    const { clock, model, gateway, askedOf } = setUp(({ modelId }) => (modelId === opus ? overloaded : "ok"));
    const answers = Array.from({ length: 100 }, () => ask(model));
    expect(new Set(await clock.runUntil(Promise.all(answers)))).toEqual(new Set([haiku]));
    expect(clock.monotonicMs()).toBeLessThan(10_000);
    expect(askedOf().filter((id) => id === opus).length).toBeLessThan(70);
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0 });
  });

  it("does not keep the primary from being asked again, however busy the account is", async () => {
    const clock = createVirtualClock();
    const provider = createSimulatedProvider({
      clock,
      answer: ({ modelId }, nowMs) => (modelId !== haiku && nowMs < 90_000 ? overloaded : "ok"),
    });
    const gateway = createGateway({ clock, random: createSeededRandom(5) });
    const primary = gateway.connect(provider.model(opus));
    const model = withFallback({
      primary,
      fallback: gateway.connect(provider.model(haiku)),
      clock,
      stayMs: 60_000,
    });
    expect(await clock.runUntil(ask(model))).toBe(haiku);
    // Somebody else's requests wait all along, for a third model that is down.
    const waiting = Promise.all(
      Array.from({ length: 5 }, () => ask(gateway.connect(provider.model("third")))),
    );
    await clock.runUntil(new Promise<void>((resolve) => clock.setTimer(85_000, resolve)));
    expect(gateway.state().waiting).toBeGreaterThan(0);
    const sentBefore = provider.sendings.length;
    await clock.runUntil(ask(model));
    expect(provider.sendings[sentBefore]?.modelId).toBe(opus);
    await clock.runUntil(waiting);
  });

  it("is asked at once when the primary has no gateway that would wait", async () => {
    const clock = createVirtualClock();
    const provider = createSimulatedProvider({
      clock,
      answer: ({ modelId }) => (modelId === opus ? overloaded : "ok"),
    });
    const model = withFallback({ primary: provider.model(opus), fallback: provider.model(haiku), clock });
    expect(await clock.runUntil(ask(model))).toBe(haiku);
  });

  it("never replaces an answer that has begun", async () => {
    const { clock, model, askedOf } = setUp(() => "cut");
    expect(await clock.runUntil(failureOf(ask(model)))).toMatchObject({ kind: "cut" });
    const clock2 = createVirtualClock();
    const begun: Model = {
      ...createSimulatedProvider({ clock: clock2, answer: () => "ok" }).model(opus),
      async *stream() {
        yield { type: "block-stop", index: 0 };
        throw overloaded;
      },
    };
    const fallback = createSimulatedProvider({ clock: clock2, answer: () => "ok" });
    const guarded = withFallback({ primary: begun, fallback: fallback.model(haiku), clock: clock2 });
    expect(await clock2.runUntil(failureOf(ask(guarded)))).toBe(overloaded);
    expect(fallback.sendings).toHaveLength(0);
    expect(askedOf()).toEqual([opus]);
  });

  it("is not asked for other failures, nor when the caller cancels", async () => {
    const failing = setUp(({ modelId }, nowMs) => (modelId === opus && nowMs < 20_000 ? broken : "ok"));
    expect(await failing.clock.runUntil(ask(failing.model))).toBe(opus);
    expect(failing.askedOf()).not.toContain(haiku);

    const wrong = new ModelError({ kind: "rejected", message: "bad request", status: 400 });
    const rejected = setUp(() => wrong);
    expect(await rejected.clock.runUntil(failureOf(ask(rejected.model)))).toBe(wrong);
    expect(rejected.askedOf()).toEqual([opus]);

    const cancelled = setUp(() => "hang");
    const scope = createScope();
    cancelled.clock.setTimer(1_000, () => scope.cancel("enough"));
    const end = await cancelled.clock.runUntil(
      failureOf(ask(cancelled.model, { scope: createScope(scope.signal) })),
    );
    expect(isCancelled(end)).toBe(true);
    expect(cancelled.askedOf()).toEqual([opus]);
  });

  it("is not asked for more than it can say", async () => {
    const { clock, model, provider } = setUp(({ modelId }) => (modelId === opus ? overloaded : "ok"), {
      maxOutputTokens: 4_000,
    });
    await clock.runUntil(ask(model));
    expect(provider.sendings.at(-1)?.request.maxOutputTokens).toBe(4_000);
  });
});

describe("what one model has thought", () => {
  const thought: Block = { type: "thinking", thinking: "hm", signature: "s" };
  const call: Block = { type: "tool_use", id: "t", name: "Do", input: {} };
  let nextId = 0;
  const said = (model: string, content: Block[]): Message => ({
    uuid: `u${nextId++}`,
    parentUuid: null,
    timestamp: "",
    role: "assistant",
    content,
    response: { id: "m", model, stopReason: "end_turn", usage: noUsage },
  });
  const heard = (content: Block[]): Message => ({ ...said("", content), role: "user", response: undefined });
  const prompt = () => heard([{ type: "text", text: "go" }]);
  const result = () => heard([{ type: "tool_result", tool_use_id: "t", content: "done" }]);
  const thinking = { budgetTokens: 2_000 };
  const typesIn = (request: ModelRequest | undefined) =>
    request?.messages.map((message) => message.content.map((block) => block.type).join("+"));

  it("is not sent to the other, in either direction, and the same copy is sent every time", async () => {
    let opusIsDown = true;
    const { clock, model, provider } = setUp(({ modelId }) =>
      modelId === opus && opusIsDown ? overloaded : "ok",
    );
    const text: Block = { type: "text", text: "so" };
    const messages = [
      prompt(),
      said("claude-opus-4-5-20251101", [thought, text]),
      prompt(),
      said("claude-haiku-4-5-20251001", [{ type: "redacted_thinking", data: "x" }, text]),
      prompt(),
    ];
    await clock.runUntil(ask(model, { messages, thinking }));
    await clock.runUntil(ask(model, { messages: [...messages], thinking }));
    const [first, second] = provider.sendings.filter(({ modelId }) => modelId === haiku);
    expect(typesIn(first?.request)).toEqual(["text", "text", "text", "redacted_thinking+text", "text"]);
    expect(first?.request.thinking).toEqual(thinking);
    expect(second?.request.messages).toEqual(first?.request.messages);
    expect(second?.request.messages[1]).toBe(first?.request.messages[1]);
    opusIsDown = false;
    await clock.runUntil(new Promise<void>((resolve) => clock.setTimer(120_000, resolve)));
    await clock.runUntil(ask(model, { messages, thinking }));
    const back = provider.sendings.at(-1);
    expect(back?.modelId).toBe(opus);
    expect(typesIn(back?.request)).toEqual(["text", "thinking+text", "text", "text", "text"]);
  });

  it("is not asked for in the middle of a round of calls that began with the other's", async () => {
    const { clock, model, provider } = setUp(({ modelId }) => (modelId === opus ? overloaded : "ok"));
    const messages = [prompt(), said(opus, [thought, call]), result()];
    await clock.runUntil(ask(model, { messages, thinking }));
    expect(provider.sendings.at(-1)?.request.thinking).toBeUndefined();
    expect(typesIn(provider.sendings.at(-1)?.request)).toEqual(["text", "tool_use", "tool_result"]);
  });

  it("leaves a request without any of it as it is", async () => {
    const { clock, model, provider } = setUp(() => "ok");
    const messages = [prompt(), said(opus, [thought, call]), result()];
    await clock.runUntil(ask(model, { messages, thinking }));
    expect(provider.sendings[0]?.request.messages).toBe(messages);
  });
});
