import { describe, expect, test } from "vitest";
import { noUsage } from "../contracts/usage.ts";
import { costOf, costOfRequest } from "./pricing.ts";

const million = 1_000_000;

test("each kind of token has its price", () => {
  const id = "claude-sonnet-4-5";
  expect(costOf(id, { ...noUsage, inputTokens: million })).toBeCloseTo(3);
  expect(costOf(id, { ...noUsage, outputTokens: million })).toBeCloseTo(15);
  expect(costOf(id, { ...noUsage, cacheWriteTokens: million })).toBeCloseTo(3.75);
  expect(costOf(id, { ...noUsage, cacheReadTokens: million })).toBeCloseTo(0.3);
});

test("what is written for an hour costs twice the input, and only that part of what is written", () => {
  const cacheWriteTokens = million;
  expect(
    costOf("claude-sonnet-4-5", { ...noUsage, cacheWriteTokens, longCacheWriteTokens: million / 2 }),
  ).toBeCloseTo(3.75 / 2 + 3);
});

test.each([
  ["claude-opus-4-5", 5],
  ["claude-opus-4-5-20251101", 5],
  ["us.anthropic.claude-opus-4-5-20251101-v1:0", 5],
  ["claude-opus-4-5@20251101", 5],
  ["anthropic/claude-opus-4.5", 5],
  ["claude-opus-4-20250514", 15],
  ["claude-opus-4-1", 15],
  ["claude-3-5-haiku-latest", 0.8],
  ["claude-opus-5-5", 4],
  ["gpt-4o", 2.5],
  ["gpt-4o-2024-08-06", 2.5],
  ["gpt-4o-2024-05-13", 5],
  ["openai/gpt-4.1-mini", 0.4],
  ["gpt-5", 1.25],
  ["o3-2025-04-16", 2],
])("%s costs %d dollars for a million input tokens", (id, dollars) => {
  expect(costOf(id, { ...noUsage, inputTokens: million })).toBeCloseTo(dollars);
});

test.each([
  "claude-opus-4-9",
  "claude-opus-9",
  "gpt-9",
  "gpt-oss:20b",
  "mock",
  "",
  "claude-",
  "constructor",
  "claude-toString",
])("the price of %j is unknown, which is not zero", (id) => {
  expect(costOf(id, { ...noUsage, inputTokens: 1 })).toBeUndefined();
});

test("a long prompt can cost more per token", () => {
  const id = "claude-haiku-5-5";
  expect(costOf(id, { ...noUsage, inputTokens: 100_000 })).toBeCloseTo(0.01);
  expect(costOf(id, { ...noUsage, cacheReadTokens: 100_000, outputTokens: million })).toBeCloseTo(0.501);
  expect(costOf(id, { ...noUsage, cacheReadTokens: 100_001, outputTokens: million })).toBeCloseTo(2.505);
});

test("what came from the cache costs less with OpenAI too, and a long prompt more", () => {
  const id = "gpt-6.1-sol";
  expect(costOf(id, { ...noUsage, cacheReadTokens: 200_000 })).toBeCloseTo(0.02);
  expect(costOf(id, { ...noUsage, cacheReadTokens: 300_000 })).toBeCloseTo(0.06);
  expect(costOf(id, { ...noUsage, inputTokens: 300_000, outputTokens: million })).toBeCloseTo(16.2);
});

describe("a request", () => {
  const usage = { ...noUsage, inputTokens: million };
  test("costs what the model that answered costs, or else the one that was asked", () => {
    const model = { provider: "openai", id: "gpt-4o" };
    expect(costOfRequest(model, "gpt-4o-mini", usage)).toBeCloseTo(0.15);
    expect(costOfRequest(model, "my-deployment", usage)).toBeCloseTo(2.5);
    expect(costOfRequest({ ...model, id: "mystery" }, "mystery", usage)).toBeUndefined();
  });

  test("to a server on this machine costs nothing, unless its model has a price", () => {
    const model = { provider: "mine", id: "qwen3", local: true };
    expect(costOfRequest(model, "/models/qwen3.gguf", usage)).toBe(0);
    expect(costOfRequest({ ...model, id: "gpt-4o" }, "gpt-4o", usage)).toBeCloseTo(2.5);
    expect(costOfRequest({ ...model, local: false }, "qwen3", usage)).toBeUndefined();
  });

  test("to a model that is none costs nothing", () => {
    expect(costOfRequest({ provider: "scripted", id: "x" }, "y", usage)).toBe(0);
  });
});

test("offline and scripted models cost nothing", () => {
  const usage = { ...noUsage, inputTokens: million };
  expect(costOf("offline", usage)).toBe(0);
  expect(costOf("scripted", usage)).toBe(0);
  expect(costOf("offlinear", usage)).toBeUndefined();
});
