import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noUsage, totalTokensOf } from "../contracts/usage.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { assertPriceKnown, type Budget, createBudget, type Reservation } from "./budget.ts";
import type { BudgetEnd, BudgetLimits, Estimate } from "./budget-limit.ts";

const charge = (tokens: number, costUsd = 0, modelId = "m") => ({
  modelId,
  usage: { ...noUsage, inputTokens: tokens },
  costUsd,
});

function reserve(budget: Budget, tokens: number, costUsd = 0, beginsTurn = true): Reservation | BudgetEnd {
  return budget.reserve({ beginsTurn, estimate: () => ({ tokens, costUsd }) });
}

function admitted(room: Reservation | BudgetEnd): Reservation {
  if ("reason" in room) throw new Error(room.message);
  return room;
}

describe("a budget", () => {
  it("is charged for all that its parts use, and ends them when it is used up", () => {
    const session = createBudget({ maxTokens: 100 });
    const first = session.child({ maxTokens: 80 });
    const second = session.child({});
    first.charge(charge(60));
    expect(second.exhausted()).toBeUndefined();
    second.charge(charge(50));
    expect(first.exhausted()).toEqual({
      reason: "budget_exhausted",
      budget: "tokens",
      message: "The token budget of the session is used up: 110 of 100 tokens.",
    });
    expect(session.usage.inputTokens).toBe(110);
  });

  it("says whose it is", () => {
    const agent = createBudget({}).child({ maxCostUsd: 0.5 }, { whose: "the agent a1" });
    const below = agent.child({ maxTokens: 10 }).child({});
    below.charge(charge(5, 0.75));
    expect(below.exhausted()?.message).toBe("The cost budget of the agent a1 is used up: $0.7500 of $0.5.");
    below.charge(charge(5));
    expect(below.exhausted()?.message).toBe("The token budget of this agent is used up: 10 of 10 tokens.");
  });

  it("sums usage and cost by model, and does not know a sum of which a part is unknown", () => {
    const budget = createBudget({});
    budget.charge(charge(10, 0.5, "a"));
    budget.charge(charge(20, 0.25, "b"));
    budget.charge(charge(5, 0.25, "a"));
    expect(budget.usageByModel).toMatchObject({ a: { inputTokens: 15 }, b: { inputTokens: 20 } });
    expect(budget.costUsd).toBe(1);
    budget.charge({ ...charge(1, 0, "c"), costUsd: undefined });
    expect(budget.costUsd).toBeUndefined();
  });

  it("of dollars ends when they can no longer be counted", () => {
    const session = createBudget({ maxCostUsd: 1 });
    const agent = session.child({});
    agent.charge({ ...charge(1), costUsd: undefined });
    expect(agent.exhausted()).toMatchObject({ budget: "cost", message: expect.stringMatching(/not known/) });
  });

  it("of turns counts those of all its parts, and not one more begins", () => {
    const session = createBudget({ maxTurns: 3 });
    const agents = [session.child({}), session.child({}).child({}), session];
    for (const agent of agents) admitted(reserve(agent, 1_000));
    for (const agent of agents) {
      expect(agent.exhausted()?.message).toBe("The turn budget of the session is used up: 3 of 3 turns.");
      expect(reserve(agent, 0)).toMatchObject({ budget: "turns" });
    }
    // A request that is made again belongs to a turn that has begun.
    admitted(reserve(session, 0, 0, false));
  });

  it("that has no limit is not asked what a request will take", () => {
    const budget = createBudget({}).child({});
    const estimate = (): Estimate => {
      throw new Error("asked");
    };
    expect(budget.limited).toBe(false);
    admitted(budget.reserve({ beginsTurn: true, estimate })).release();
    admitted(createBudget({ maxTurns: 1 }).reserve({ beginsTurn: true, estimate }));
  });

  it("needs a clock for a limit of time, and its parts have the same one", () => {
    expect(() => createBudget({ maxMinutes: 1 })).toThrow(/clock/);
    expect(() => createBudget({}).child({ maxMinutes: 1 })).toThrow(/clock/);
    const agent = createBudget({}, { clock: createManualClock() }).child({}).child({ maxMinutes: 1 });
    expect(agent.exhausted()).toBeUndefined();
  });

  it("refuses a cost limit for a model whose price is not known, wherever above the limit is", () => {
    const unknown = { modelId: "mystery", priceKnown: false };
    expect(() => assertPriceKnown({ ...unknown, limits: { maxCostUsd: 1 } })).toThrow(/mystery.*--max-cost/);
    const session = createBudget({ maxCostUsd: 1 });
    const agent = session.child({ maxTokens: 5 }).child({});
    expect(() => assertPriceKnown({ ...unknown, limits: agent })).toThrow(/mystery.*--max-cost/);
    expect(agent.child({ maxCostUsd: 0.5 }).maxCostUsd).toBe(0.5);
    expect(agent.child({ maxCostUsd: 2 }).maxCostUsd).toBe(1);
    expect(() => assertPriceKnown({ ...unknown, limits: createBudget({}) })).not.toThrow();
    expect(() => assertPriceKnown({ ...unknown, priceKnown: true, limits: agent })).not.toThrow();
  });
});

describe("room for a request", () => {
  it("is there for one that is alone, as long as the budget is not used up", () => {
    const session = createBudget({ maxTokens: 100 });
    const agent = session.child({});
    agent.charge(charge(99));
    const room = admitted(reserve(agent, 5_000));
    room.release();
    agent.charge(charge(1));
    expect(reserve(agent, 1)).toMatchObject({ budget: "tokens", message: expect.stringMatching(/used up/) });
  });

  it("is there beside others only for what fits, and the refusal says how much is left for whom", () => {
    const session = createBudget({ maxTokens: 1_000, maxCostUsd: 1 });
    const [one, two, three] = [session.child({}), session.child({}), session.child({})];
    one.charge(charge(100, 0.25));
    admitted(reserve(one, 300, 0.25));
    const room = admitted(reserve(two, 600, 0.25));
    expect(reserve(three, 1)).toEqual({
      reason: "budget_exhausted",
      budget: "tokens",
      message:
        "The token budget of the session has no room for another request: of 1000 tokens 100 are used, 900 are reserved for 2 requests of other agents, and this one needs about 1.",
    });
    room.release();
    expect(reserve(three, 1, 0.75)).toMatchObject({
      budget: "cost",
      message:
        "The cost budget of the session has no room for another request: of $1 $0.2500 is used, $0.2500 is reserved for a request of other agents, and this one needs about $0.7500.",
    });
    admitted(reserve(three, 600, 0.5));
  });

  it("is needed above as well, whatever is limited below", () => {
    const session = createBudget({ maxTokens: 100 });
    admitted(reserve(session.child({ maxTurns: 5 }), 60));
    expect(session.reserved).toEqual({ requests: 1, tokens: 60, costUsd: 0 });
    expect(reserve(session.child({ maxTurns: 5 }), 60)).toMatchObject({ budget: "tokens" });
  });

  it("leaves nothing behind, although fractions do not add up", () => {
    const session = createBudget({ maxCostUsd: 1 });
    const rooms = [0.1, 0.2, 0.3].map((costUsd) => admitted(reserve(session, 0, costUsd)));
    for (const room of rooms) room.release();
    expect(session.reserved.costUsd).toBe(0);
  });

  it("is given back once", () => {
    const session = createBudget({ maxTokens: 100 });
    const first = admitted(reserve(session, 10));
    admitted(reserve(session, 10));
    first.release();
    first.release();
    expect(session.reserved).toEqual({ requests: 1, tokens: 10, costUsd: 0 });
  });

  it("that is refused is not reserved anywhere, and no turn is counted for it", () => {
    const session = createBudget({ maxTokens: 100, maxTurns: 2 });
    const agent = session.child({ maxTokens: 1_000 });
    admitted(reserve(session, 60));
    expect(reserve(agent, 60)).toMatchObject({ budget: "tokens" });
    expect(agent.reserved.requests).toBe(0);
    expect(session.reserved.requests).toBe(1);
    expect(session.exhausted()).toBeUndefined();
  });
});

interface Node {
  readonly budget: Budget;
  readonly limits: BudgetLimits;
  /** From itself up to the root. */
  readonly path: Node[];
  tokens: number;
  costUsd: number;
  readonly reserved: Set<Estimate>;
}

// Whole dollars, so that no sum depends on its order.
const limit = fc.option(fc.integer({ min: 1, max: 500 }), { nil: undefined });
const nodeLimits = fc.record({ maxTokens: limit, maxCostUsd: limit });
/** By number, wrapped around what there is: who asks, for what, which request ends, and with what. */
const step = fc.record({
  kind: fc.constantFrom("ask", "ask", "end", "fail"),
  which: fc.nat(),
  tokens: fc.integer({ min: 0, max: 200 }),
  costUsd: fc.integer({ min: 0, max: 200 }),
});

function grow(tree: readonly { limits: BudgetLimits; parent: number }[]): Node[] {
  const nodes: Node[] = [];
  for (const { limits, parent } of tree) {
    const above = nodes[parent % Math.max(1, nodes.length)];
    const budget = above ? above.budget.child(limits) : createBudget(limits);
    const node: Node = { budget, limits, path: [], tokens: 0, costUsd: 0, reserved: new Set() };
    node.path.push(node, ...(above?.path ?? []));
    nodes.push(node);
  }
  return nodes;
}

const sumOf = (estimates: Iterable<Estimate>, kind: keyof Estimate) =>
  [...estimates].reduce((sum, each) => sum + each[kind], 0);

function mayGo(node: Node, estimate: Estimate): boolean {
  return node.path.every(({ limits, tokens, costUsd, reserved }) => {
    const { maxTokens = Number.POSITIVE_INFINITY, maxCostUsd = Number.POSITIVE_INFINITY } = limits;
    if (tokens >= maxTokens || costUsd >= maxCostUsd) return false;
    if (reserved.size === 0) return true;
    return (
      tokens + sumOf(reserved, "tokens") + estimate.tokens <= maxTokens &&
      costUsd + sumOf(reserved, "costUsd") + estimate.costUsd <= maxCostUsd
    );
  });
}

describe("a tree of budgets", () => {
  it("counts all that is used, keeps no reservation, and admits what fits, in whatever order things happen", () => {
    const trees = fc.array(fc.record({ limits: nodeLimits, parent: fc.nat() }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(trees, fc.array(step, { maxLength: 60 }), (tree, steps) => {
        const nodes = grow(tree);
        const running: { node: Node; estimate: Estimate; room: Reservation }[] = [];
        const end = (at: number, used: Estimate | undefined) => {
          const [request] = running.splice(at, 1);
          if (request === undefined) return;
          request.room.release();
          for (const { reserved } of request.node.path) reserved.delete(request.estimate);
          if (used === undefined) return;
          request.node.budget.charge(charge(used.tokens, used.costUsd));
          for (const each of request.node.path) {
            each.tokens += used.tokens;
            each.costUsd += used.costUsd;
          }
        };
        for (const { kind, which, tokens, costUsd } of steps) {
          const amount = { tokens, costUsd };
          const node = nodes[which % nodes.length];
          if (kind !== "ask") end(which % Math.max(1, running.length), kind === "end" ? amount : undefined);
          else if (node) {
            const expected = mayGo(node, amount);
            const room = reserve(node.budget, amount.tokens, amount.costUsd);
            expect("release" in room).toBe(expected);
            if (!("release" in room)) continue;
            running.push({ node, estimate: amount, room });
            for (const { reserved } of node.path) reserved.add(amount);
          }
        }
        while (running.length > 0) end(0, undefined);
        for (const { budget, tokens, costUsd } of nodes) {
          expect(totalTokensOf(budget.usage)).toBe(tokens);
          expect(budget.costUsd).toBe(costUsd);
          expect(budget.reserved).toEqual({ requests: 0, tokens: 0, costUsd: 0 });
        }
      }),
    );
  });
});
