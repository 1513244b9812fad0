import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linesOf, toJsonLine } from "./json-lines.ts";

async function collect(chunks: (Uint8Array | string)[]) {
  async function* input() {
    yield* chunks;
  }
  const lines: { number: number; text: string }[] = [];
  for await (const line of linesOf(input())) lines.push(line);
  return lines;
}

describe("toJsonLine", () => {
  it("is one line for every reader, and says the same", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const line = toJsonLine({ text });
        expect(line.slice(0, -1)).not.toMatch(/[\n\r\u0085\u2028\u2029]/);
        expect(JSON.parse(line)).toEqual({ text });
      }),
    );
    expect(toJsonLine("a\u2028b\u2029c\u0085d")).toBe('"a\\u2028b\\u2029c\\u0085d"\n');
  });
});

describe("linesOf", () => {
  it("gives the same lines however the bytes are cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "grapheme" })), fc.nat(7), async (texts, size) => {
        const lines = texts.map((text) => text.replace(/[\n\uFEFF]/g, ""));
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
        const chunks: Uint8Array[] = [];
        for (let at = 0; at < bytes.length; at += size + 1) chunks.push(bytes.subarray(at, at + size + 1));
        expect(await collect(chunks)).toEqual(lines.map((text, index) => ({ number: index + 1, text })));
      }),
    );
  });

  it("gives a last line that has no end, and does not split at other separators", async () => {
    expect(await collect(["a\u2028b\nc", "d"])).toEqual([
      { number: 1, text: "a\u2028b" },
      { number: 2, text: "cd" },
    ]);
  });
});
