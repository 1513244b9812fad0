import { expect, test } from "vitest";
import { claudeFamilyOf, contextWindowOf, maxOutputTokensOf, usesAdaptiveThinking } from "./claude-models.ts";

test.each([
  ["claude-sonnet-4-5-20250929", "claude-sonnet-4-5"],
  ["eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"],
  ["Claude-Sonnet-4.5", "claude-sonnet-4-5"],
  ["claude-opus-4-6[1m]", "claude-opus-4-6"],
  ["claude-3-7-sonnet-latest", "claude-3-7-sonnet"],
  ["mock", undefined],
])("%s is of the family %s", (id, family) => {
  expect(claudeFamilyOf(id)).toBe(family);
});

test.each([
  ["claude-3-7-sonnet-20250219", false],
  ["claude-sonnet-4-20250514", false],
  ["claude-haiku-4-5-20251001", false],
  ["claude-opus-4-6", true],
  ["claude-opus-4-10", true],
  ["claude-sonnet-5", true],
  ["claude-haiku-5-5", true],
  ["claude-instant", false],
  ["mock", false],
])("whether %s decides itself how much to think: %s", (id, adaptive) => {
  expect(usesAdaptiveThinking(id)).toBe(adaptive);
});

test("newer models have more room", () => {
  expect(contextWindowOf("claude-opus-5")).toBe(1_000_000);
  expect(contextWindowOf("claude-haiku-4-5")).toBe(200_000);
  expect(contextWindowOf("mock")).toBe(200_000);
  expect(maxOutputTokensOf("claude-3-haiku-20240307")).toBe(4_096);
  expect(maxOutputTokensOf("claude-opus-5-5")).toBe(64_000);
  expect(maxOutputTokensOf("mock")).toBeUndefined();
});
