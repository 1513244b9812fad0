import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findMatches, replaceSpans, withoutOverlaps } from "./replace-text.ts";

const piece = fc.constantFrom("\n", "\r\n", "\r", "a", "b", ".", "$", "🎉");
const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
const wanted = fc
  .array(fc.constantFrom("\n", "a", "b", "."), { minLength: 1, maxLength: 4 })
  .map((x) => x.join(""));

describe("replacing text", () => {
  it("finds what is there when every CRLF is read as LF, and nothing else", () => {
    fc.assert(
      fc.property(text, wanted, (whole, old) => {
        const found = findMatches(whole, old).map(({ start, end }) => whole.slice(start, end));
        expect(found.every((match) => match.replaceAll("\r\n", "\n") === old)).toBe(true);
        expect(found.length > 0).toBe(whole.replaceAll("\r\n", "\n").includes(old));
      }),
      { numRuns: 2000 },
    );
  });

  it("keeps everything outside of the matches, whichever are replaced", () => {
    fc.assert(
      fc.property(text, wanted, text, (whole, old, newText) => {
        const spans = withoutOverlaps(findMatches(whole, old));
        const replaced = replaceSpans({ text: whole, spans, oldText: old, newText });
        const outside = (value: string, cuts: readonly { start: number; end: number }[]) => {
          let at = 0;
          const parts = cuts.map((cut) => {
            const part = value.slice(at, cut.start);
            at = cut.end;
            return part;
          });
          return [...parts, value.slice(at)];
        };
        expect(outside(replaced.text, replaced.spans)).toEqual(outside(whole, spans));
      }),
      { numRuns: 2000 },
    );
  });
});
