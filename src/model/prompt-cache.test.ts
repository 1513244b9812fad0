import { describe, expect, test } from "vitest";
import type { Block } from "../contracts/message.ts";
import {
  assumedChance,
  cacheMarkJson,
  isLongPause,
  isMarkable,
  isWithinLookBack,
  learnedChance,
  longCachePays,
  placeCacheMarks,
} from "./prompt-cache.ts";

test("marks the end of the previous request and the end of this one", () => {
  expect(placeCacheMarks({ messageCount: 5, previousMessageCount: 3 })).toEqual([2, 4]);
});

test("marks only the end when there was no previous request", () => {
  expect(placeCacheMarks({ messageCount: 1 })).toEqual([0]);
  expect(placeCacheMarks({ messageCount: 4, previousMessageCount: 0 })).toEqual([3]);
});

test("marks one message once when the same history is sent again", () => {
  expect(placeCacheMarks({ messageCount: 3, previousMessageCount: 3 })).toEqual([2]);
});

test("forgets the previous end when the history became shorter", () => {
  expect(placeCacheMarks({ messageCount: 2, previousMessageCount: 9 })).toEqual([1]);
});

test("marks nothing in an empty history", () => {
  expect(placeCacheMarks({ messageCount: 0, previousMessageCount: 0 })).toEqual([]);
});

test("never marks thinking", () => {
  expect(isMarkable({ type: "thinking", thinking: "hm", signature: "s" })).toBe(false);
  expect(isMarkable({ type: "redacted_thinking", data: "x" })).toBe(false);
  expect(isMarkable({ type: "tool_use", id: "1", name: "Read", input: {} })).toBe(true);
});

test("names the time to live only when it is not the usual one", () => {
  expect(JSON.parse(`{${cacheMarkJson("5m")}}`)).toEqual({ cache_control: { type: "ephemeral" } });
  expect(JSON.parse(`{${cacheMarkJson("1h")}}`)).toEqual({ cache_control: { type: "ephemeral", ttl: "1h" } });
});

describe("an hour in the cache", () => {
  test("pays when what it may save is worth more than what it costs", () => {
    const atRiskTokens = 100_000;
    // 0.75 prices for each new token, against 1.15 for each that would be lost.
    expect(longCachePays({ newTokens: 15_333, atRiskTokens, chance: 0.1 })).toBe(true);
    expect(longCachePays({ newTokens: 15_334, atRiskTokens, chance: 0.1 })).toBe(false);
  });

  test("pays for a request that writes everything only if a long pause is more likely than not", () => {
    const whole = { newTokens: 50_000, atRiskTokens: 50_000 };
    expect(longCachePays({ ...whole, chance: 0.6 })).toBe(false);
    expect(longCachePays({ ...whole, chance: 0.7 })).toBe(true);
  });

  test("never pays where nothing is at risk", () => {
    expect(longCachePays({ newTokens: 0, atRiskTokens: 0, chance: 1 })).toBe(false);
    expect(longCachePays({ newTokens: 10, atRiskTokens: 100_000, chance: 0 })).toBe(false);
  });
});

describe("the chance of a long pause", () => {
  const chanceAfter = (...pauses: boolean[]) => pauses.reduce(learnedChance, assumedChance.pausing);

  test("is small before anything is known, and larger while something runs in the background", () => {
    expect(assumedChance.pausing).toBeLessThan(assumedChance.awaiting);
  });

  test("grows with every long pause, and is forgotten over short ones", () => {
    expect(chanceAfter(true)).toBeCloseTo(0.34);
    expect(chanceAfter(true, true, true)).toBeGreaterThan(0.7);
    expect(chanceAfter(true, true, true, false)).toBeLessThan(0.5);
    expect(chanceAfter(true, ...Array<boolean>(20).fill(false))).toBe(assumedChance.pausing);
  });

  test("counts what the shorter cache does not outlast, but the longer does", () => {
    const minuteMs = 60_000;
    expect([4.9, 5, 59.9, 60].map((minutes) => isLongPause(minutes * minuteMs))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});

test("an entry is found up to 19 blocks before a mark", () => {
  const message = (blocks: number) => ({
    content: Array.from({ length: blocks }, (): Block => ({ type: "text", text: "x" })),
  });
  const messages = [message(3), message(1), message(18), message(1)];
  expect(isWithinLookBack(messages, { from: 4, to: 4 })).toBe(true);
  expect(isWithinLookBack(messages, { from: 1, to: 3 })).toBe(true);
  expect(isWithinLookBack(messages, { from: 1, to: 4 })).toBe(false);
});
