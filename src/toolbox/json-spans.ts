/** Where values stand in a JSON text, so that one can be replaced without touching the others. */
import type { Span } from "./replace-text.ts";

export interface ArraySpan extends Span {
  readonly elements: readonly Span[];
}

/** The array under `key` of the object that `json` holds. The text must have been parsed before: it is not checked. */
export function findArray(json: string, key: string): ArraySpan | undefined {
  let found: ArraySpan | undefined;
  visitChildren(json, skipBlanks(json, 0), (child) => {
    // The last of several equal keys counts, as for JSON.parse.
    if (child.key === key && json[child.start] === "[") found = readArray(json, child);
  });
  return found;
}

function readArray(json: string, span: Span): ArraySpan {
  const elements: Span[] = [];
  visitChildren(json, span.start, ({ start, end }) => elements.push({ start, end }));
  return { start: span.start, end: span.end, elements };
}

interface Child extends Span {
  readonly key: string | undefined;
}

/** Calls back for each direct child of the object or array at `start`; answers with its end. */
function visitChildren(json: string, start: number, visit: (child: Child) => void): number {
  const isObject = json[start] === "{";
  let at = skipBlanks(json, start + 1);
  while (at < json.length && json[at] !== "}" && json[at] !== "]") {
    let key: string | undefined;
    if (isObject) {
      const keyEnd = endOfString(json, at);
      key = String(JSON.parse(json.slice(at, keyEnd)));
      at = skipBlanks(json, skipBlanks(json, keyEnd) + 1);
    }
    const end = endOfValue(json, at);
    visit({ key, start: at, end });
    at = skipBlanks(json, end);
    if (json[at] === ",") at = skipBlanks(json, at + 1);
  }
  return at + 1;
}

function endOfValue(json: string, start: number): number {
  const first = json[start];
  if (first === '"') return endOfString(json, start);
  if (first !== "{" && first !== "[") return endOfMatch(json, start, /[^\s,\]}]*/y);
  let depth = 0;
  for (let at = start; at < json.length; at += 1) {
    const character = json[at];
    if (character === '"') at = endOfString(json, at) - 1;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return json.length;
}

function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    if (json[at] === "\\") at += 1;
    else if (json[at] === '"') return at + 1;
  }
  return json.length;
}

function skipBlanks(json: string, start: number): number {
  return endOfMatch(json, start, /\s*/y);
}

function endOfMatch(json: string, start: number, pattern: RegExp): number {
  pattern.lastIndex = start;
  return start + (pattern.exec(json)?.[0].length ?? 0);
}
