import { describe, expect, it } from "vitest";
import * as z from "zod";
import { noUsage, totalTokensOf } from "../contracts/usage.ts";
import { createLoopHarness } from "../testing/loop-harness.ts";
import { createScriptedModel, type Script, type ScriptedReply } from "../testing/scripted-model.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createVirtualClock, type VirtualClock } from "../testing/virtual-clock.ts";
import { defineTool } from "../tools/tool.ts";
import { type Budget, createBudget } from "./budget.ts";
import type { BudgetLimits } from "./budget-limit.ts";
import type { LoopOptions } from "./loop-options.ts";

const echo = defineTool({
  name: "Echo",
  description: "Says it again",
  input: z.object({}),
  isReadOnly: () => true,
  call: async () => "again",
  toResult: (text) => text,
});

interface Agent {
  clock: VirtualClock;
  budget: Budget;
  script: Script;
  overrides?: Partial<LoopOptions>;
}

function startAgent({ clock, budget, script, overrides }: Agent) {
  const model = createScriptedModel(script, { clock });
  const world = createTestWorld({ clock, seed: 1 });
  const harness = createLoopHarness({ world, model, tools: [echo], overrides: { budget, ...overrides } });
  return { ...harness, model };
}

const nothing = { requests: 0, tokens: 0, costUsd: 0 };

describe("agents side by side on one budget", () => {
  const prompt = "p".repeat(4 * 3_900);
  const usage = { inputTokens: 4_000, outputTokens: 1_000 };
  /** A power of two: sums of such prices are exact. */
  const tokensPerDollar = 2 ** 17;
  const requestTokens = totalTokensOf({ ...noUsage, ...usage });
  /** Goes on for as long as it is let; the answers of all are on their way at the same time. */
  const restless: Script = function* () {
    for (let delayMs = 1_000; ; delayMs += 70) yield { calls: [{ name: "Echo" }], usage, delayMs };
  };

  // Of the lower limit not even the first requests of all fit.
  describe.each([400_000, 100_000])("of %i tokens", (limit) => {
    it.each<[string, BudgetLimits, BudgetLimits]>([
      ["tokens", { maxTokens: limit }, {}],
      ["dollars", { maxCostUsd: limit / tokensPerDollar }, {}],
      ["tokens of an agent above them", { maxTokens: 100 * limit }, { maxTokens: limit }],
    ])("together exceed their %s by no more than one alone would", async (_, ofSession, ofParent) => {
      const clock = createVirtualClock();
      const session = createBudget(ofSession);
      const parent = session.child(ofParent);
      const priceOf: LoopOptions["priceOf"] = (_model, _id, used) => totalTokensOf(used) / tokensPerDollar;
      const agents = Array.from({ length: 50 }, () =>
        startAgent({ clock, budget: parent.child({}), script: restless, overrides: { priceOf } }),
      );
      const ends = await clock.runUntil(Promise.all(agents.map((agent) => agent.run(prompt))));
      expect(new Set(ends.map((end) => end.reason))).toEqual(new Set(["budget_exhausted"]));
      const used = totalTokensOf(session.usage);
      expect(used).toBeGreaterThanOrEqual(limit);
      expect(used).toBeLessThan(limit + requestTokens);
      expect(used).toBe(agents.reduce((sum, { model }) => sum + model.requests.length, 0) * requestTokens);
      expect(parent.reserved).toEqual(nothing);
    });
  });

  it("are told who had the room, and those who had it go on", async () => {
    const clock = createVirtualClock();
    const session = createBudget({ maxTokens: 3_000 });
    const reply = { text: "done", delayMs: 10, usage: { inputTokens: 100, outputTokens: 10 } };
    const agents = Array.from({ length: 4 }, () =>
      startAgent({ clock, budget: session.child({}), script: [reply] }),
    );
    const ends = await clock.runUntil(Promise.all(agents.map((agent) => agent.run("go"))));
    expect(ends.map((end) => end.reason)).toEqual([
      "completed",
      "completed",
      "budget_exhausted",
      "budget_exhausted",
    ]);
    expect(ends[3]).toMatchObject({
      message: expect.stringMatching(/reserved for 2 requests of other agents/),
    });
    expect(agents[3]?.events.map((event) => event.type)).toEqual(["message-append"]);
    expect(agents[3]?.model.requests).toHaveLength(0);
  });

  it("begin no more turns than there are", async () => {
    const clock = createVirtualClock();
    const session = createBudget({ maxTurns: 20 });
    const agents = Array.from({ length: 7 }, () =>
      startAgent({ clock, budget: session.child({}), script: restless }),
    );
    const ends = await clock.runUntil(Promise.all(agents.map((agent) => agent.run("go"))));
    expect(ends.every((end) => end.reason === "budget_exhausted" && end.budget === "turns")).toBe(true);
    expect(agents.reduce((sum, { model }) => sum + model.requests.length, 0)).toBe(20);
  });
});

describe("what was reserved for a request", () => {
  const reply: ScriptedReply = { text: "half an answer", usage: { inputTokens: 600, outputTokens: 10 } };

  it("is given back when the answer breaks off, and a second one needs room of its own", async () => {
    const clock = createVirtualClock();
    const session = createBudget({ maxTokens: 500 });
    const cut = { ...reply, cutAfterEvents: 3 };
    const agent = startAgent({ clock, budget: session.child({}), script: [cut, "whole"] });
    const end = await clock.runUntil(agent.run("go"));
    expect(end).toMatchObject({ reason: "budget_exhausted", message: expect.stringMatching(/of 500/) });
    expect(agent.events.map((event) => event.type)).not.toContain("model-retry");
    expect(agent.events.at(-1)?.type).toBe("turn-end");
    expect(session.reserved).toEqual(nothing);
  });

  it("is reserved again for the second one, and no further turn is counted", async () => {
    const clock = createVirtualClock();
    const session = createBudget({ maxTokens: 50_000, maxTurns: 1 });
    const agent = startAgent({
      clock,
      budget: session.child({}),
      script: [
        { ...reply, cutAfterEvents: 3 },
        { ...reply, delayMs: 5 },
      ],
    });
    const reserved: number[] = [];
    clock.setTimer(1, () => reserved.push(session.reserved.requests));
    const end = await clock.runUntil(
      agent.run("go", (event) => {
        if (event.type === "model-retry" || event.type === "turn-end")
          reserved.push(session.reserved.requests);
      }),
    );
    expect(end).toMatchObject({ reason: "completed" });
    expect(reserved).toEqual([1, 1, 0]);
  });

  it.each([
    ["fails", { error: new Error("no") }, undefined],
    ["is interrupted", { ...reply, hang: true }, "stop"],
    ["is cancelled", { ...reply, hang: true }, "cancel"],
  ] as const)("is given back when the request %s", async (_, script, action) => {
    const clock = createVirtualClock();
    const session = createBudget({ maxTokens: 50_000 });
    const agent = startAgent({ clock, budget: session.child({}), script: [script] });
    clock.setTimer(10, () => {
      if (action !== undefined) expect(session.reserved.requests).toBe(1);
      if (action === "stop") agent.interrupt.request("stop");
      if (action === "cancel") agent.scope.cancel("enough");
    });
    const end = await clock.runUntil(agent.run("go"));
    expect(end.reason).toBe(action === undefined ? "model_error" : "aborted");
    expect(session.reserved).toEqual(nothing);
  });

  it.each(["prefix-change", "turn-start", "model-event", "turn-end"])(
    "is given back when whoever reads leaves at %s",
    async (type) => {
      const clock = createVirtualClock();
      const session = createBudget({ maxTokens: 50_000 });
      const prefix = { system: "another", tools: [] };
      const agent = startAgent({
        clock,
        budget: session.child({}),
        script: ["done"],
        overrides: { renewPrefix: () => ({ prefix, tools: [], reason: "test" }) },
      });
      const run = agent.run("go", (event) => {
        if (event.type === type) throw new Error("left");
      });
      await expect(clock.runUntil(run)).rejects.toThrow("left");
      expect(session.reserved).toEqual(nothing);
    },
  );

  it("is given back when the disk fails before the request is made", async () => {
    const clock = createVirtualClock();
    const session = createBudget({ maxTokens: 50_000 });
    const transcript: LoopOptions["transcript"] = {
      path: undefined,
      append() {},
      durable: () => Promise.reject(new Error("disk full")),
      close: async () => {},
    };
    const agent = startAgent({
      clock,
      budget: session.child({}),
      script: ["done"],
      overrides: { transcript },
    });
    await expect(clock.runUntil(agent.run("go"))).rejects.toThrow("disk full");
    expect(session.reserved).toEqual(nothing);
  });
});
