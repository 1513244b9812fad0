import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeText, encodeText, looksBinary } from "./text-file.ts";

describe("text files", () => {
  it("come back byte for byte, whatever they hold", () => {
    const marks = fc.constantFrom([], [0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff]);
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.string({ unit: "binary" }).map((text) => new Uint8Array(Buffer.from(text))),
      fc.uint8Array({ min: 0x20, maxLength: 40 }),
    );
    fc.assert(
      fc.property(marks, body, (mark, rest) => {
        const bytes = Buffer.from([...mark, ...rest]);
        const decoded = decodeText(bytes);
        if (decoded !== undefined)
          expect(Buffer.from(encodeText(decoded.text, decoded.format))).toEqual(bytes);
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ["utf-8", Buffer.from("grün 🎉")],
    ["utf-8", Buffer.from("\uFEFFgrün")],
    ["utf-16le", Buffer.from("\uFEFFgrün", "utf16le")],
    ["utf-16be", Buffer.from("\uFEFFgrün", "utf16le").swap16()],
    ["latin-1", Buffer.from("grün", "latin1")],
  ] as const)("are told apart: %s", (encoding, bytes) => {
    const decoded = decodeText(bytes);
    expect(decoded?.format.encoding).toBe(encoding);
    expect(decoded?.text.startsWith("grün")).toBe(true);
  });

  it.each([
    ["NUL bytes", Buffer.from("ab\0cd")],
    ["UTF-16 without a mark", Buffer.from("ab", "utf16le")],
    ["UTF-32 with a mark", Buffer.from([0xff, 0xfe, 0, 0, 65, 0, 0, 0])],
    ["half a UTF-16 character", Buffer.from([0xff, 0xfe, 65, 0, 66])],
    ["control characters that are not UTF-8", Buffer.from([0x80, 1, 2, 3, 4, 0xff])],
  ])("do not have %s", (_, bytes) => {
    expect(decodeText(bytes)).toBeUndefined();
  });

  it("may have a character cut at the end of the sample", () => {
    expect(looksBinary(Buffer.from("grün ü").subarray(0, -1))).toBe(false);
  });
});
