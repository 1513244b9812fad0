import { describe, expect, it } from "vitest";
import { readAgentsFlag } from "./agents-flag.ts";
import { UsageError } from "./arguments.ts";

describe("readAgentsFlag", () => {
  it("gives the definitions as they were written", () => {
    expect(readAgentsFlag('\uFEFF{"a":{"description":"d"},"b":3}')).toEqual({
      a: { description: "d" },
      b: 3,
    });
  });

  it("keeps a name that is a trap for assignments", () => {
    const read = readAgentsFlag('{"__proto__":{"description":"d"}}');
    expect(Object.keys(read)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });

  it.each([
    ['{"a":{"description":"d"},}', 'line 1, column 26: unexpected "}"'],
    ['{\n  "a": nope\n}', 'line 2, column 8: unexpected "nope"'],
    ['{"a":', "it ends too early"],
    ["", "it ends too early"],
    ["reviewer.json", "line 1, column 1"],
  ])("says where the JSON is wrong: %s", (text, where) => {
    expect(() => readAgentsFlag(text)).toThrow(UsageError);
    expect(() => readAgentsFlag(text)).toThrow(where);
  });

  it.each(["[]", "null", '"text"', "3"])("wants an object, not %s", (text) => {
    expect(() => readAgentsFlag(text)).toThrow("must be a JSON object");
  });
});
