import { expect, test } from "vitest";
import { noUsage } from "../contracts/usage.ts";
import { costOf } from "./pricing.ts";

const million = 1_000_000;

test("each kind of token has its price", () => {
  const id = "claude-sonnet-4-5";
  expect(costOf(id, { ...noUsage, inputTokens: million })).toBeCloseTo(3);
  expect(costOf(id, { ...noUsage, outputTokens: million })).toBeCloseTo(15);
  expect(costOf(id, { ...noUsage, cacheWriteTokens: million })).toBeCloseTo(3.75);
  expect(costOf(id, { ...noUsage, cacheReadTokens: million })).toBeCloseTo(0.3);
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
])("%s costs %d dollars for a million input tokens", (id, dollars) => {
  expect(costOf(id, { ...noUsage, inputTokens: million })).toBeCloseTo(dollars);
});

test.each([
  "claude-opus-4-9",
  "claude-opus-9",
  "gpt-5",
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

test("offline and scripted models cost nothing", () => {
  const usage = { ...noUsage, inputTokens: million };
  expect(costOf("offline", usage)).toBe(0);
  expect(costOf("scripted", usage)).toBe(0);
  expect(costOf("offlinear", usage)).toBeUndefined();
});
