/**
 * What can be had from one line of a journal. A healthy line is one record. After a crash a line may begin with
 * NULs (space that the system had reserved but not filled), or hold the cut end of one record and, behind it,
 * whole ones. Whole records are recovered where there is only one way to read the line.
 */
export interface LineContent {
  readonly records: readonly unknown[];
  /** Something on the line could not be used. */
  readonly damaged: boolean;
}

export function parseLine(bytes: Uint8Array): LineContent {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const record = tryParse(text);
  if (record !== undefined) return { records: [record.value], damaged: false };
  const records: unknown[] = [];
  const pieces = text.split(/\0+/).map((piece) => piece.trim());
  let damaged = pieces.length > 1;
  for (const piece of pieces) {
    if (piece === "") continue;
    const content = recover(piece);
    records.push(...content.records);
    damaged ||= content.damaged;
  }
  return { records, damaged };
}

function tryParse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Whole records one after the other; behind a record that was cut, the whole ones that were written after it. */
function recover(text: string): LineContent {
  const first = wholeObjects(text, 0);
  if (first.rest.kind === "end") return { records: first.records, damaged: false };
  // Text that could still go on is one cut record: an object inside it must not pass for a record.
  if (first.rest.kind === "unfinished") return { records: first.records, damaged: true };
  const { from, nonsenseAt } = first.rest;
  // The next record begins no later than where the cut one stopped making sense, and close to it.
  const earliest = Math.max(from + 1, nonsenseAt - longestLookBack);
  for (let at = text.lastIndexOf("{", nonsenseAt); at >= earliest; at = text.lastIndexOf("{", at - 1)) {
    const next = wholeObjects(text, at);
    if (next.rest.kind === "end") return { records: [...first.records, ...next.records], damaged: true };
  }
  return { records: first.records, damaged: true };
}

/** Bounds the work on a hostile line. */
const longestLookBack = 1024;

interface WholeObjects {
  readonly records: unknown[];
  readonly rest:
    | { readonly kind: "end" }
    | { readonly kind: "unfinished" }
    | { readonly kind: "nonsense"; readonly from: number; readonly nonsenseAt: number };
}

function wholeObjects(text: string, start: number): WholeObjects {
  const records: unknown[] = [];
  let at = start;
  for (;;) {
    at = skipBlanks(text, at);
    if (at >= text.length) return { records, rest: { kind: "end" } };
    const scan = scanObject(text, at);
    if (scan.kind === "unfinished") return { records, rest: scan };
    const record = scan.kind === "whole" ? tryParse(text.slice(at, scan.end)) : undefined;
    if (scan.kind === "nonsense" || record === undefined) {
      return {
        records,
        rest: { kind: "nonsense", from: at, nonsenseAt: scan.kind === "nonsense" ? scan.at : at },
      };
    }
    records.push(record.value);
    at = scan.end;
  }
}

type Scan =
  | { readonly kind: "whole"; readonly end: number }
  | { readonly kind: "unfinished" }
  | { readonly kind: "nonsense"; readonly at: number };

/** What the grammar allows next inside an object or a list. */
type Expected = "value" | "value-or-end" | "name" | "name-or-end" | "colon" | "comma-or-end";

/** Walks over one object without building it, to learn where it ends or stops making sense. */
function scanObject(text: string, from: number): Scan {
  if (text[from] !== "{") return { kind: "nonsense", at: from };
  const closers = ["}"];
  let expected: Expected = "name-or-end";
  let at = from + 1;
  while (closers.length > 0) {
    at = skipBlanks(text, at);
    const character = text[at];
    if (character === undefined) return { kind: "unfinished" };
    const takesValue: boolean = expected === "value" || expected === "value-or-end";
    if (character === closers.at(-1) && expected.endsWith("-or-end")) {
      closers.pop();
      expected = "comma-or-end";
      at++;
    } else if (character === '"' && (takesValue || expected === "name" || expected === "name-or-end")) {
      at = endOfString(text, at);
      if (at === -1) return { kind: "unfinished" };
      expected = takesValue ? "comma-or-end" : "colon";
    } else if ((character === "{" || character === "[") && takesValue) {
      closers.push(character === "{" ? "}" : "]");
      expected = character === "{" ? "name-or-end" : "value-or-end";
      at++;
    } else if (character === ":" && expected === "colon") {
      expected = "value";
      at++;
    } else if (character === "," && expected === "comma-or-end") {
      expected = closers.at(-1) === "}" ? "name" : "value";
      at++;
    } else {
      const end = takesValue ? endOfLiteral(text, at) : at;
      if (end === at) return { kind: "nonsense", at };
      expected = "comma-or-end";
      at = end;
    }
  }
  return { kind: "whole", end: at };
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t" || text[at] === "\r") at++;
  return at;
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at === -1) return -1;
    let backslashes = 0;
    while (text[at - 1 - backslashes] === "\\") backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
}

/** Words that were cut count too: the next record may follow right behind one. */
const literal = /-?\d[\d.eE+-]*|[a-z]+|-/y;

function endOfLiteral(text: string, from: number): number {
  literal.lastIndex = from;
  const match = literal.exec(text);
  return match === null ? from : from + match[0].length;
}
