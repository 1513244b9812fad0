import { describe, expect, it } from "vitest";
import { correctSpelling } from "./spelling.ts";

describe("correctSpelling", () => {
  it.each([
    ["describe this repositry", "describe this repository"],
    ["waht chnaged recntly", "what changed recently"],
    ["Reveiw my changes", "review my changes"],
    ["tets", "test"],
  ])("mends %s", (typed, meant) => {
    expect(correctSpelling(typed)).toBe(meant);
  });

  it.each([
    "explain the parser",
    "who uses tset2",
    "explain src/reveiw.ts",
    "find `repositry`",
    'find "chnages"',
    "explain Folderr.open",
    "how about that form",
  ])("leaves alone: %s", (typed) => {
    expect(correctSpelling(typed)).toBe(typed);
  });

  it("never touches the names that something is done to", () => {
    expect(correctSpelling("renmae functoin to metohd")).toBe("rename functoin to metohd");
  });
});
