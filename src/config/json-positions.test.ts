import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineAndColumn, locateJson } from "./json-positions.ts";

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("locateJson", () => {
  it("finds no error in any JSON, however it is spaced", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2, "\t"), (value, indent) => {
        expect(locateJson(JSON.stringify(value, null, indent)).errorAt).toBeUndefined();
      }),
    );
  });

  it("agrees with the engine's parser about texts that someone damaged", () => {
    const damaged = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "}", '"', "\\", "\n", "0", "-", "x", "\u0000"))
      .map(([text, at, what]) => {
        const position = at % (text.length + 1);
        return text.slice(0, position) + what + text.slice(position + 1);
      });
    fc.assert(
      fc.property(damaged, (text) => {
        expect(locateJson(text).errorAt === undefined).toBe(parses(text));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['{"a": 1,}', 8],
    ["{'a': 1}", 1],
    ['{"a": 1} x', 9],
    ['{"a": ', 6],
    ["[1, 02]", 4],
    ['{"a" 1}', 5],
    ["// no\n{}", 0],
    ["", 0],
  ])("points at the place where %j stops being JSON", (text, offset) => {
    expect(locateJson(text).errorAt).toBe(offset);
  });

  it.each(["[", '{"a":'])(
    "ends at a depth that nobody means, instead of exhausting the stack: %s",
    (opening) => {
      expect(locateJson(opening.repeat(100_000)).errorAt).toBe(201 * opening.length);
    },
  );

  it("knows where a value stands, and falls back to what is around it", () => {
    const text = '{\n  "a": { "b.c": [1,\n 22] }\n}';
    const positions = locateJson(text);
    expect(text.slice(positions.offsetOf(["a", "b.c", 1])).startsWith("22")).toBe(true);
    expect(lineAndColumn(text, positions.offsetOf(["a", "b.c", 1]))).toEqual({ line: 3, column: 2 });
    expect(lineAndColumn(text, positions.offsetOf(["a", "missing", "deep"]))).toEqual({ line: 2, column: 8 });
  });
});
