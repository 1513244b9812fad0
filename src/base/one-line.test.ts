import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutAtCharacter, toOneLine } from "./one-line.ts";

describe("text as one line", () => {
  it("stays as it is when there is nothing to do", () => {
    expect(toOneLine("npm test -- src/a.ts", 40)).toBe("npm test -- src/a.ts");
  });

  it("shows what would break the line, or act on a terminal", () => {
    expect(toOneLine("a\nb\r\nc\td\re\u001b[2Jf\u2028g\u202eh", 80)).toBe(
      "a\\nb\\nc\\td^Me^[[2Jf<U+2028>g<U+202E>h",
    );
  });

  it("is never longer than asked for, nor cut through a character", () => {
    expect(toOneLine("x".repeat(50), 10)).toBe("xxxxxxx...");
    expect(toOneLine("\u{1f600}".repeat(9), 10)).toBe("\u{1f600}\u{1f600}\u{1f600}...");
    expect(cutAtCharacter("ab\u{1f600}", 3)).toBe("ab");
    expect(cutAtCharacter("ab\u{1f600}", 4)).toBe("ab\u{1f600}");
  });

  it("holds for any text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.integer({ min: 3, max: 50 }),
        (text, most) => {
          const line = toOneLine(text, most);
          expect(line.length).toBeLessThanOrEqual(most);
          expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
        },
      ),
    );
  });
});
