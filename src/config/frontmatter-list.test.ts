import { describe, expect, it } from "vitest";
import { readList, splitList } from "./frontmatter-list.ts";

describe("a list", () => {
  it.each([
    ["a row", "Read, Grep,Glob", ["Read", "Grep", "Glob"]],
    [
      "brackets that are kept together",
      "Bash(git diff:*, git log:*), Agent(Explore, Plan)",
      ["Bash(git diff:*, git log:*)", "Agent(Explore, Plan)"],
    ],
    ["a list of YAML", ["Read", "Grep"], ["Read", "Grep"]],
    ["rows within a list", ["Read, Grep", ["Glob"]], ["Read", "Grep", "Glob"]],
    ["brackets that YAML took apart", ["Agent(Explore", "Plan)", "Read"], ["Agent(Explore, Plan)", "Read"]],
    ["a colon that YAML took for a map", [{ "Bash(git log": "*)" }, "Read"], ["Bash(git log: *)", "Read"]],
    ["JSON in a string", '["Read", "Grep"]', ["Read", "Grep"]],
    ["JSON that is not closed", '["Read", "Grep"', ["Read", "Grep"]],
    ["one a line", "- Read\n- 'Grep'\n", ["Read", "Grep"]],
    ["dashes that YAML took for text", ["Read - Grep"], ["Read", "Grep"]],
    ["quotes and back quotes", '`Read`, "Grep"', ["Read", "Grep"]],
    ["nothing between commas", "Read,, ,Read", ["Read"]],
    ["a number", 5, ["5"]],
    ["no item", [], []],
    ["an empty text", "", []],
  ])("is read from %s", (_, value, items) => {
    expect(readList(value)).toEqual(items);
  });

  it("is not there where nothing is said", () => {
    expect([readList(null), readList(undefined)]).toEqual([undefined, undefined]);
  });

  it("is split at spaces outside of brackets only where that is asked for", () => {
    expect(splitList("Read Bash(git diff:*) Grep", { atSpaces: true })).toEqual([
      "Read",
      "Bash(git diff:*)",
      "Grep",
    ]);
    expect(splitList("two words, one")).toEqual(["two words", "one"]);
  });

  it("with a bracket that is never closed ends", () => {
    expect(splitList("Read, Bash(git, Grep")).toEqual(["Read", "Bash(git, Grep"]);
  });
});
