import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseLine } from "./journal-line.ts";

const parse = (text: string) => parseLine(Buffer.from(text));

describe("a journal's line", () => {
  it.each([
    ['{"a":1}', [{ a: 1 }], false],
    ["", [], false],
    ["  \r", [], false],
    ['\0\0\0{"a":1}', [{ a: 1 }], true],
    ['{"a":1}\0\0', [{ a: 1 }], true],
    ["\0\0\0\0", [], true],
    ['{"a":1}\0\0{"b":2}', [{ a: 1 }, { b: 2 }], true],
    ['{"a":1}{"b":"}{"}', [{ a: 1 }, { b: "}{" }], false],
    ['{"a":1}{"b":', [{ a: 1 }], true],
    // Cut inside a string, a name, a number, a word, an escape; then a whole record.
    ['{"a":"hello{"b":{"c":2}}', [{ b: { c: 2 } }], true],
    ['{"a{"b":2}', [{ b: 2 }], true],
    ['{"a":12{"b":2}', [{ b: 2 }], true],
    ['{"a":tr{"b":2}', [{ b: 2 }], true],
    ['{"a":"x\\{"b":2}', [{ b: 2 }], true],
    ['{"a":{"n":1}{"b":2}', [{ b: 2 }], true],
    ['{"a":"hel{"b":1}{"c":2}', [{ b: 1 }, { c: 2 }], true],
    // One cut record: an object inside must not pass for a record.
    ['{"type":"x","message":{"role":"user"}', [], true],
    ['{"a":[{"b":1},{"c":2}', [], true],
    ["not json", [], true],
    ['{"a":#}', [], true],
  ])("%j gives %j", (text, records, damaged) => {
    expect(parse(text)).toEqual({ records, damaged });
  });

  it("gives both records back, or the second, wherever the first was cut", () => {
    const second = { type: "message", content: [{ text: 'a "quoted" {brace}' }], n: -1.5e3, ok: true };
    const first = JSON.stringify({
      type: "first",
      text: 'with "quotes" and \\ and {',
      list: [1, { x: null }],
      last: false,
    });
    for (let cut = 1; cut <= first.length; cut++) {
      const { records } = parse(first.slice(0, cut) + JSON.stringify(second));
      if (cut === first.length) expect(records).toHaveLength(2);
      // Where the second could be a value inside the first, there is more than one way to read the line.
      else if (/[:[]$|\[1,$/.test(first.slice(0, cut)) && records.length === 0) continue;
      else expect({ cut, last: records.at(-1) }).toEqual({ cut, last: second });
    }
  });

  it("never invents a record: a cut one gives nothing, whatever it held", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (record, at) => {
        const json = JSON.stringify(record);
        const cut = json.slice(0, at % json.length);
        expect(parse(cut).records).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  it("splits records that stand on one line", () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue()), { minLength: 1 }), (records) => {
        const line = records.map((record) => JSON.stringify(record)).join("");
        expect(parse(line).records).toEqual(
          records.map((record) => JSON.parse(JSON.stringify(record)) as unknown),
        );
      }),
    );
  });
});
