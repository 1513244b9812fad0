import { describe, expect, it } from "vitest";
import { createScope } from "../base/cancellation.ts";
import { isCancelled } from "../base/errors.ts";
import { parseSettings } from "../config/settings-sources.ts";
import type { Settings } from "../contracts/settings.ts";
import { totalTokensOf } from "../contracts/usage.ts";
import { createBudget } from "../loop/budget.ts";
import type { BudgetLimits } from "../loop/budget-limit.ts";
import { createHistory } from "../loop/history.ts";
import { createInterrupt } from "../loop/interrupt.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import { createQueue } from "../tasks/queue.ts";
import { createTestAgent } from "../testing/loop-harness.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createScriptedModel, type Reply } from "../testing/scripted-model.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createUnkeptTranscript } from "../transcript/writer.ts";
import { createServiceHost, type IdleService, type ServiceRun } from "./service-host.ts";
import { servicePrompt } from "./service-prompt.ts";
import { serviceSetting } from "./service-settings.ts";

const question = { prompt: servicePrompt("suggest", "what next?"), maxOutputTokens: 100 };

/** A host without a session around it. */
function scene(
  replies: readonly Reply[],
  options: {
    settings?: Settings;
    isWatched?: boolean;
    limits?: BudgetLimits;
    price?: () => number | undefined;
  } = {},
) {
  const clock = createManualClock();
  const world = createTestWorld({ clock });
  const model = createScriptedModel(replies, { clock });
  const transcript = createUnkeptTranscript();
  const history = createHistory({ world, transcript });
  history.append({ role: "user", content: [{ type: "text", text: "hello" }] });
  history.append({ role: "assistant", content: [{ type: "text", text: "hi" }] });
  const scope = createScope();
  const budget = createBudget(options.limits ?? {}, { clock });
  const problems: string[] = [];
  const loop: LoopOptions = {
    world,
    agent: createTestAgent(world.tempFolder),
    model,
    prefix: { system: "You are under test.", tools: [] },
    tools: [],
    history,
    transcript,
    scope,
    listener: { emit() {} },
    interrupt: createInterrupt(),
    limits: { concurrency: { tool: 10, agent: 64 }, startCallsWhileStreaming: true },
    budget,
    priceOf: options.price ?? (() => 0),
    gate: async () => ({ allowed: true }),
    queue: createQueue({ record: async () => {} }),
  };
  const answers: (string | undefined)[] = [];
  const ends: string[] = [];
  const service = (more: Partial<IdleService> = {}): IdleService => ({
    name: "suggest",
    idleMs: 1_000,
    isDue: () => true,
    async run({ ask }: ServiceRun) {
      try {
        answers.push(await ask(question));
      } catch (error) {
        ends.push(isCancelled(error) ? "cancelled" : "failed");
        throw error;
      }
    },
    ...more,
  });
  const host = (services: readonly IdleService[]) =>
    createServiceHost(
      {
        world,
        settings: options.settings ?? {},
        isWatched: options.isWatched ?? true,
        budget,
        scope,
        conversation: () => loop,
        onProblem: (message) => problems.push(message),
      },
      services,
    );
  return { clock, model, history, scope, budget, problems, answers, ends, service, host, loop };
}

describe("the switch of a service", () => {
  it.each([
    ["suggest", {}, true, true],
    ["suggest", {}, false, false],
    ["suggest", { services: { suggest: true } }, false, true],
    ["suggest", { services: { suggest: false } }, true, false],
    ["suggest", { services: { suggest: { tokens: 5 } } }, true, true],
    ["suggest", { services: { suggest: { tokens: 5 } } }, false, false],
    ["suggest", { services: { suggest: { enabled: false } } }, true, false],
    ["suggest", { services: { suggest: { tokens: 0 } } }, true, false],
    ["suggest", { services: { suggest: { enabled: true, usd: 0 } } }, true, false],
    ["sideQuestion", { services: { sideQuestion: { tokens: 0 } } }, false, false],
    ["speculate", {}, true, false],
    ["speculate", { services: { speculate: { enabled: true } } }, false, true],
    ["sideQuestion", {}, false, true],
    ["agentSummary", {}, false, true],
    ["sessionMemory", {}, false, false],
    ["extractMemories", {}, false, false],
    ["consolidateMemories", {}, false, false],
  ] as const)("%s with %j, watched %s: %s", (name, settings, isWatched, enabled) => {
    expect(serviceSetting(name, { settings, isWatched }).enabled).toBe(enabled);
  });

  it("comes with a budget, which settings change", () => {
    const settings = { services: { suggest: { tokens: 5, usd: 2 } } };
    expect(serviceSetting("suggest", { settings, isWatched: true }).limits).toEqual({
      maxTokens: 5,
      maxCostUsd: 2,
    });
    expect(serviceSetting("suggest", { settings: {}, isWatched: true }).limits.maxTokens).toBeGreaterThan(0);
  });
});

describe("the settings of services", () => {
  const parse = (services: unknown) => parseSettings(JSON.stringify({ services }), "f");

  it("are read in each of their forms, and a name that is no service is told", () => {
    const services = { suggest: false, speculate: { tokens: 5 }, sideQuestion: { enabled: true, usd: 0.5 } };
    expect(parse(services)).toMatchObject({ settings: { services }, warnings: [] });
    expect(parse({ suggest: { tokens: 0 } }).warnings).toEqual([]);
    expect(parse({ sugest: true }).warnings[0]).toContain("services.sugest");
  });

  it.each([{ suggest: "yes" }, { suggest: { tokens: -1 } }, { suggest: { usd: "1" } }])(
    "say what is expected instead of %j",
    (services) => {
      expect(() => parse(services)).toThrow(/services\.suggest.*expected/);
    },
  );
});

describe("a service for idle times", () => {
  it("begins when nobody has asked for anything for a while, and not before", async () => {
    const { clock, host, service, answers, history, model } = scene(["one thing"]);
    const hosted = host([service()]);
    hosted.runBegan();
    hosted.runEnded();
    await clock.advance(999);
    expect(answers).toEqual([]);
    await clock.advance(1);
    await hosted.close({ graceMs: 0 });
    expect(answers).toEqual(["one thing"]);
    expect(model.requests).toHaveLength(1);
    expect(history.messages).toHaveLength(2);
  });

  it("does not begin when the conversation goes on, when it is off, or when nothing is due", async () => {
    const { clock, host, service, answers } = scene([]);
    const gone = host([service()]);
    gone.runEnded();
    gone.runBegan();
    await clock.advance(5_000);
    const off = host([service({ name: "speculate" })]);
    off.runEnded();
    await clock.advance(5_000);
    const idle = host([service({ isDue: () => false })]);
    idle.runEnded();
    await clock.advance(5_000);
    expect(answers).toEqual([]);
  });

  it("ends when the conversation goes on, and is done another time", async () => {
    const { clock, host, service, ends, answers, problems, model } = scene([{ hang: true }, "later"]);
    const hosted = host([service()]);
    hosted.runEnded();
    await clock.advance(1_000);
    expect(model.requests).toHaveLength(1);
    hosted.runBegan();
    await clock.advance(0);
    expect(ends).toEqual(["cancelled"]);
    expect(problems).toEqual([]);
    hosted.runEnded();
    await clock.advance(1_000);
    await hosted.close({ graceMs: 0 });
    expect(answers).toEqual(["later"]);
  });

  it("is done once at a time", async () => {
    const { clock, host, service, model } = scene([{ hang: true }]);
    const hosted = host([service()]);
    hosted.runEnded();
    await clock.advance(1_000);
    hosted.runEnded();
    await clock.advance(1_000);
    expect(model.requests).toHaveLength(1);
    await hosted.close({ graceMs: 0 });
  });

  it("is a problem for nobody but once, and rests after it failed three times", async () => {
    const failures = Array.from({ length: 9 }, () => ({ error: new Error("broken model") }));
    const { clock, host, service, problems, model } = scene(failures);
    const hosted = host([service()]);
    for (let round = 0; round < 9; round++) {
      hosted.runEnded();
      await clock.advance(1_000);
      await clock.advance(0);
    }
    await hosted.close({ graceMs: 0 });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/suggest failed: broken model.*services\.suggest/);
    expect(model.requests).toHaveLength(3);
    expect(hosted.costs).toMatchObject([{ name: "suggest", requests: 3, resting: true }]);
  });

  it("gets a moment at the end if it keeps something, and then no more", async () => {
    const quick = scene(["kept"]);
    const hosted = quick.host([quick.service({ keeps: true })]);
    hosted.runEnded();
    await hosted.close({ graceMs: 5_000 });
    expect(quick.answers).toEqual(["kept"]);
    const slow = scene([{ hang: true }]);
    const other = slow.host([slow.service({ keeps: true })]);
    other.runEnded();
    const closing = other.close({ graceMs: 5_000 });
    await slow.clock.advance(5_000);
    await closing;
    expect(slow.ends).toEqual(["cancelled"]);
    const during = scene([]);
    const busy = during.host([during.service({ keeps: true })]);
    busy.runBegan();
    await busy.close({ graceMs: 5_000 });
    expect(during.model.requests).toEqual([]);
  });

  it("ends with the session, whatever it does", async () => {
    const { clock, host, service, ends, scope } = scene([{ hang: true }]);
    const hosted = host([service()]);
    hosted.runEnded();
    await clock.advance(1_000);
    scope.cancel("the session was closed");
    await hosted.close({ graceMs: 5_000 });
    expect(ends).toEqual(["cancelled"]);
    hosted.runEnded();
    expect(clock.pendingMs()).toEqual([]);
  });
});

describe("what a service uses", () => {
  const usage = { inputTokens: 70, outputTokens: 30 };

  it("is counted by itself and for the session", async () => {
    const { clock, host, service, budget } = scene(
      [
        { text: "a", usage },
        { text: "b", usage },
      ],
      { price: () => 0.5 },
    );
    const hosted = host([service()]);
    for (let round = 0; round < 2; round++) {
      hosted.runEnded();
      await clock.advance(1_000);
    }
    await hosted.close({ graceMs: 0 });
    expect(hosted.costs).toMatchObject([
      { name: "suggest", requests: 2, usage: { inputTokens: 140 }, costUsd: 1 },
    ]);
    expect(totalTokensOf(budget.usage)).toBe(200);
    expect(budget.costUsd).toBe(1);
  });

  it("is limited: then it rests, and that is no problem", async () => {
    const settings = { services: { suggest: { tokens: 150 } } };
    const replies = Array.from({ length: 5 }, () => ({ text: "a", usage }));
    const { clock, host, service, problems, model } = scene(replies, { settings });
    const hosted = host([service()]);
    for (let round = 0; round < 5; round++) {
      hosted.runEnded();
      await clock.advance(1_000);
    }
    await hosted.close({ graceMs: 0 });
    expect(model.requests).toHaveLength(2);
    expect(hosted.costs).toMatchObject([{ resting: true }]);
    expect(problems).toEqual([]);
  });

  it("takes no room from the main loop, and nothing once the session's budget is used up", async () => {
    const { clock, host, service, budget, model } = scene([{ hang: true }], { limits: { maxTokens: 1_000 } });
    const hosted = host([service()]);
    hosted.runEnded();
    await clock.advance(1_000);
    expect(model.requests).toHaveLength(1);
    expect(budget.reserved.requests).toBe(0);
    hosted.runBegan();
    await clock.advance(0);
    const spent = { inputTokens: 1_000, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    budget.charge({ modelId: "scripted", usage: spent, costUsd: 0 });
    hosted.runEnded();
    await clock.advance(1_000);
    await hosted.close({ graceMs: 0 });
    expect(model.requests).toHaveLength(1);
  });

  it("is not asked for at a price that nobody knows", async () => {
    const settings = { services: { suggest: { usd: 1 } } };
    const { clock, host, service, problems, model } = scene([], { settings, price: () => undefined });
    const hosted = host([service()]);
    hosted.runEnded();
    await clock.advance(1_000);
    await hosted.close({ graceMs: 0 });
    expect(model.requests).toEqual([]);
    expect(problems[0]).toContain("services.suggest.tokens");
  });
});

describe("what somebody waits for", () => {
  it("goes on beside a run, and ends with its signal", async () => {
    const { clock, host } = scene(["an answer", { hang: true }]);
    const hosted = host([]);
    hosted.runBegan();
    expect(await hosted.perform("sideQuestion", ({ ask }) => ask(question))).toBe("an answer");
    const controller = new AbortController();
    const asking = hosted.perform("sideQuestion", ({ ask }) => ask(question), { signal: controller.signal });
    const ended = expect(asking).rejects.toThrow("Cancelled");
    await clock.advance(0);
    controller.abort();
    await ended;
    await hosted.close({ graceMs: 0 });
  });
});
