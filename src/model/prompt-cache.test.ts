import { expect, test } from "vitest";
import { cacheMarkJson, isMarkable, placeCacheMarks } from "./prompt-cache.ts";

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
