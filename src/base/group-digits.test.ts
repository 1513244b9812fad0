import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { groupDigits } from "./group-digits.ts";

describe("groupDigits", () => {
  it("puts a comma before every three digits", () => {
    expect([0, 7, 999, 1000, 12_345, 1_234_567, -1000].map(groupDigits)).toEqual([
      "0",
      "7",
      "999",
      "1,000",
      "12,345",
      "1,234,567",
      "-1,000",
    ]);
  });

  it("says what English says, for every whole number", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (count) => {
        expect(groupDigits(count)).toBe(count.toLocaleString("en-US"));
      }),
    );
  });
});
