import { describe, expect, it } from "vitest";
import { nearestFew } from "./nearest.ts";

const names = ["Explore", "Plan", "code-reviewer", "test-reviewer", "guide"];

describe("nearestFew", () => {
  it.each([
    ["explor", ["Explore"]],
    ["EXPLORE", ["Explore"]],
    ["reviewer", ["code-reviewer", "test-reviewer"]],
    ["paln", ["Plan"]],
    ["xyz", []],
    ["", []],
  ])("for %j gives %j", (word, found) => {
    expect(nearestFew(word, names)).toEqual(found);
  });

  it("gives no more than was asked for, the closest first", () => {
    expect(nearestFew("ab", ["abc", "abcd", "ab", "aa"], 2)).toEqual(["ab", "abc"]);
  });
});
