import { describe, expect, it } from "vitest";
import { noUsage } from "../contracts/usage.ts";
import { assertPriceKnown, createBudget } from "./budget.ts";

const charge = (tokens: number, costUsd = 0, modelId = "m") => ({
  modelId,
  usage: { ...noUsage, inputTokens: tokens },
  costUsd,
});

describe("a budget", () => {
  it("is charged for all that its parts use, and ends them when it is used up", () => {
    const session = createBudget({ maxTokens: 100 });
    const first = session.child({ maxTokens: 80 });
    const second = session.child({});
    first.charge(charge(60));
    expect(second.exhausted()).toBeUndefined();
    second.charge(charge(50));
    expect(first.exhausted()).toMatchObject({
      budget: "tokens",
      message: expect.stringContaining("110 of 100"),
    });
    expect(session.usage.inputTokens).toBe(110);
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

  it("refuses a cost limit for a model whose price is not known", () => {
    const limits = { maxCostUsd: 1 };
    expect(() => assertPriceKnown({ modelId: "mystery", priceKnown: false, limits })).toThrow(
      /mystery.*--max-cost/,
    );
    expect(() => assertPriceKnown({ modelId: "mystery", priceKnown: false, limits: {} })).not.toThrow();
  });
});
