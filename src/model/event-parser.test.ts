import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventParser, type ServerSentEvent } from "./event-parser.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function parse(pieces: readonly Uint8Array[]): ServerSentEvent[] {
  const parser = new EventParser();
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
}

describe("server-sent events", () => {
  it.each([
    ["an event with its name", "event: ping\ndata: {}\n\n", [{ event: "ping", data: "{}" }]],
    ["data alone", "data: a\n\n", [{ event: null, data: "a" }]],
    ["data in several lines", "data: a\ndata: b\n\n", [{ event: null, data: "a\nb" }]],
    ["no blank after the colon", "data:a\n\n", [{ event: null, data: "a" }]],
    ["only the first blank taken off", "data:  a\n\n", [{ event: null, data: " a" }]],
    ["comments and other fields", ": hello\nid: 7\nretry: 1\ndata: a\n\n", [{ event: null, data: "a" }]],
    ["blank lines between", "\n\n\ndata: a\n\n\n\n", [{ event: null, data: "a" }]],
    ["a name without data", "event: done\n\n", [{ event: "done", data: "" }]],
    ["the last without its end", "data: a\n\ndata: b", ["a", "b"].map((data) => ({ event: null, data }))],
    ["a CR at the very end", "data: a\r", [{ event: null, data: "a" }]],
    ["nothing", "", []],
  ])("%s", (_, text, events) => {
    expect(parse([bytes(text)])).toEqual(events);
  });

  it("come as soon as their end does, also where that may be half of a line's end", () => {
    const parser = new EventParser();
    expect(parser.push(bytes("data: a\r\n\r"))).toEqual([{ event: null, data: "a" }]);
    expect(parser.push(bytes("\ndata: b\n\n"))).toEqual([{ event: null, data: "b" }]);
  });

  it("of one long line in small pieces are read in one go", () => {
    const parser = new EventParser();
    const piece = bytes("0123456789".repeat(10));
    parser.push(bytes("data: "));
    // Looking at the whole line with every piece would take minutes.
    for (let count = 0; count < 50_000; count += 1) parser.push(piece);
    expect(parser.push(bytes("\n\n"))[0]?.data).toHaveLength(5_000_000);
  });

  it("are the same whatever the ends of their lines, and wherever the bytes are cut", () => {
    const line = fc.constantFrom("event: x", "data: é漢😀", "data: a", "data", ": c", "", 'data: {"k":1}');
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 12 }),
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.array(fc.nat(200), { maxLength: 8 }),
        (lines, lineEnd, cuts) => {
          const whole = parse([bytes(lines.join("\n"))]);
          const other = bytes(lines.join(lineEnd));
          const places = [
            0,
            ...cuts.map((cut) => Math.min(cut, other.length)).sort((a, b) => a - b),
            other.length,
          ];
          const pieces = places.slice(1).map((to, index) => other.subarray(places[index], to));
          expect(parse(pieces)).toEqual(whole);
        },
      ),
    );
  });
});
