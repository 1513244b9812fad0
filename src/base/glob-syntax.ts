/** From the text of a glob pattern to what it is made of. */
import { CadreError } from "./errors.ts";

export type GlobNode =
  /** One character. */
  | { readonly kind: "one"; readonly accepts: (character: string) => boolean }
  /** `*`: any characters of a segment. */
  | { readonly kind: "within" }
  /** A double star and a slash: any number of whole segments. */
  | { readonly kind: "segments" }
  /** A double star at the end: everything. */
  | { readonly kind: "everything" }
  | {
      readonly kind: "choice";
      readonly options: readonly (readonly GlobNode[])[];
      readonly times: "once" | "optional" | "any" | "some";
    };

const maxPatternChars = 4096;
const maxDepth = 50;
const maxRange = 1000;

export function parseGlob(pattern: string): readonly GlobNode[] {
  if (pattern.length > maxPatternChars) throw unusableGlob("it is too long");
  const characters = [...pattern];
  let at = 0;

  /** Up to the end, or to one of the characters in `until` that stands in no part of its own. */
  function sequence(until: string, depth: number): GlobNode[] {
    if (depth > maxDepth) throw unusableGlob("it is nested too deeply");
    const nodes: GlobNode[] = [];
    while (at < characters.length && !until.includes(characters[at] ?? "")) nodes.push(...piece(depth));
    return nodes;
  }

  function piece(depth: number): GlobNode[] {
    const character = characters[at] ?? "";
    const times = groupTimes.get(character);
    if ((times !== undefined || character === "!") && characters[at + 1] === "(") {
      at += 2;
      if (!isClosed("(", ")")) return literal(`${character}(`);
      if (times === undefined) throw unusableGlob("!( ) is not supported");
      return choice({ separator: "|", close: ")", times, depth });
    }
    if (character === "*") return [stars()];
    at++;
    if (character === "?") return [{ kind: "one", accepts: isNotSlash }];
    if (character === "[") return characterClass();
    if (character === "{") return braces(depth);
    if (character !== "\\" || at >= characters.length) return literal(character);
    return literal(characters[at++] ?? "");
  }

  function stars(): GlobNode {
    const from = at;
    const beginsSegment = at === 0 || characters[at - 1] === "/";
    while (characters[at] === "*" && characters[at + 1] !== "(") at++;
    if (!beginsSegment || at - from < 2) return { kind: "within" };
    if (at >= characters.length) return { kind: "everything" };
    if (characters[at] !== "/") return { kind: "within" };
    at++;
    return { kind: "segments" };
  }

  function characterClass(): GlobNode[] {
    const negated = characters[at] === "!" || characters[at] === "^";
    const from = negated ? at + 1 : at;
    // A closing bracket at the very beginning is one of the characters.
    const end = characters.indexOf("]", from + 1);
    if (end < 0) return literal("[");
    at = end + 1;
    return [{ kind: "one", accepts: classOf(characters.slice(from, end), negated) }];
  }

  function braces(depth: number): GlobNode[] {
    const range = /^(-?\d{1,9})\.\.(-?\d{1,9})\}/.exec(characters.slice(at, at + 24).join(""));
    if (range) {
      at += range[0].length;
      return numbers(Number(range[1]), Number(range[2]));
    }
    if (!isClosed("{", "}")) return literal("{");
    return choice({ separator: ",", close: "}", times: "once", depth });
  }

  function choice(options: {
    separator: string;
    close: string;
    times: Extract<GlobNode, { kind: "choice" }>["times"];
    depth: number;
  }): GlobNode[] {
    const found: GlobNode[][] = [];
    do {
      found.push(sequence(options.separator + options.close, options.depth + 1));
      at++;
    } while (characters[at - 1] === options.separator);
    return [{ kind: "choice", options: found, times: options.times }];
  }

  /** Whether what was opened just before is closed further on. */
  function isClosed(open: string, close: string): boolean {
    let depth = 1;
    for (let index = at; index < characters.length; index++) {
      if (characters[index] === "\\") index++;
      else if (characters[index] === open) depth++;
      else if (characters[index] === close && --depth === 0) return true;
    }
    return false;
  }

  return sequence("", 0);
}

const groupTimes = new Map([
  ["@", "once" as const],
  ["?", "optional" as const],
  ["*", "any" as const],
  ["+", "some" as const],
]);

export function isNotSlash(character: string): boolean {
  return character !== "/";
}

function literal(text: string): GlobNode[] {
  return [...text].map((wanted) => ({ kind: "one", accepts: (character) => character === wanted }));
}

function numbers(first: number, last: number): GlobNode[] {
  const low = Math.min(first, last);
  const count = Math.abs(last - first) + 1;
  if (count > maxRange) throw unusableGlob(`{${first}..${last}} stands for too many numbers`);
  const options = Array.from({ length: count }, (_, index) => literal(String(low + index)));
  return [{ kind: "choice", options, times: "once" }];
}

function classOf(members: readonly string[], negated: boolean): (character: string) => boolean {
  const ranges: (readonly [string, string])[] = [];
  for (let index = 0; index < members.length; index++) {
    const member = members[index] === "\\" ? members[++index] : members[index];
    if (member === undefined) continue;
    const last = members[index + 1] === "-" ? members[index + 2] : undefined;
    ranges.push([member, last ?? member]);
    if (last !== undefined) index += 2;
  }
  return (character) =>
    character !== "/" && ranges.some(([low, high]) => character >= low && character <= high) !== negated;
}

export function unusableGlob(why: string): CadreError {
  return new CadreError({
    code: "glob-unusable",
    message: `The glob pattern cannot be used: ${why}. Write it shorter, or search for the parts one by one.`,
  });
}
