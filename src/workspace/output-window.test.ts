import fc from "fast-check";
import { expect, test } from "vitest";
import { createOutputWindow } from "./output-window.ts";

test("short output is whole, however it was cut into chunks", () => {
  const window = createOutputWindow({ headBytes: 4, tailBytes: 8 });
  for (const byte of Buffer.from("aé😀z")) window.add(Uint8Array.of(byte));
  expect(window.read()).toEqual({ head: "aé😀z", tail: "", omittedBytes: 0, totalBytes: 8 });
});

test("long output keeps its ends and counts what is between them", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 30 }), { maxLength: 40 }),
      (chunks) => {
        const window = createOutputWindow({ headBytes: 10, tailBytes: 20 });
        for (const chunk of chunks) window.add(Buffer.from(chunk));
        const whole = chunks.join("");
        const ends = window.read();
        expect(ends.totalBytes).toBe(whole.length);
        expect(ends.omittedBytes).toBe(Math.max(0, whole.length - 30));
        if (whole.length <= 30) expect(ends.head + ends.tail).toBe(whole);
        else expect([ends.head, ends.tail]).toEqual([whole.slice(0, 10), whole.slice(-20)]);
        // Reading changes nothing.
        expect(window.read()).toEqual(ends);
      },
    ),
  );
});

test("a character that the gap cuts in two is left out", () => {
  const window = createOutputWindow({ headBytes: 2, tailBytes: 2 });
  window.add(Buffer.from("a😀😀b"));
  expect(window.read()).toMatchObject({ head: "a", tail: "b", omittedBytes: 6 });
});
