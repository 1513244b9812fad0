/** Patterns for one name of a path: `*`, `?`, `[a-z]` and `{a,b}`. */

type Token =
  | { readonly kind: "star" | "any" }
  | { readonly kind: "one"; readonly accepts: (char: string) => boolean };

/** One list of tokens for each alternative between braces. */
export type NamePattern = readonly (readonly Token[])[];

const maxAlternatives = 64;

export function parseNamePattern(text: string): NamePattern | { problem: string } {
  const alternatives = expandBraces(text);
  if (!Array.isArray(alternatives)) return alternatives;
  const pattern: Token[][] = [];
  for (const alternative of alternatives) {
    const tokens = tokensOf(alternative);
    if (!Array.isArray(tokens)) return tokens;
    pattern.push(tokens);
  }
  return pattern;
}

export function matchesName(pattern: NamePattern, name: string): boolean {
  const chars = [...name];
  return pattern.some((tokens) => matchesTokens(tokens, chars));
}

/** Goes back to the last star only: no pattern and no name makes it slow. */
function matchesTokens(tokens: readonly Token[], chars: readonly string[]): boolean {
  let [at, token, star, mark] = [0, 0, -1, 0];
  while (at < chars.length) {
    const next = tokens[token];
    const char = chars[at] ?? "";
    if (next?.kind === "star") {
      star = token;
      mark = at;
      token += 1;
    } else if (next !== undefined && (next.kind === "any" || (next.kind === "one" && next.accepts(char)))) {
      at += 1;
      token += 1;
    } else if (star >= 0) {
      mark += 1;
      at = mark;
      token = star + 1;
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest.kind === "star");
}

function tokensOf(text: string): Token[] | { problem: string } {
  const tokens: Token[] = [];
  const chars = [...text];
  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at] ?? "";
    if (char === "*") tokens.push({ kind: "star" });
    else if (char === "?") tokens.push({ kind: "any" });
    else if (char === "[") {
      const end = chars.indexOf("]", at + 2);
      if (end < 0) return { problem: 'a "[" is not closed' };
      tokens.push({ kind: "one", accepts: classOf(chars.slice(at + 1, end)) });
      at = end;
    } else {
      if (char === "\\") at += 1;
      const literal = chars[at];
      if (literal === undefined) return { problem: "it ends in a backslash" };
      tokens.push({ kind: "one", accepts: (given) => given === literal });
    }
  }
  return tokens;
}

function classOf(chars: readonly string[]): (char: string) => boolean {
  const negated = chars[0] === "!" || chars[0] === "^";
  const members = negated ? chars.slice(1) : chars;
  return (char) => {
    const found = members.some((member, index) => {
      const to = members[index + 2];
      if (members[index + 1] === "-" && to !== undefined) return member <= char && char <= to;
      return member === char;
    });
    return found !== negated;
  };
}

/** `a.{js,ts}` is `a.js` and `a.ts`. */
function expandBraces(text: string): string[] | { problem: string } {
  const done: string[] = [];
  const waiting = [text];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const open = next.search(/(?<!\\)\{/);
    if (open < 0) {
      done.push(next);
      continue;
    }
    const parts = splitBraces(next, open);
    if (parts === undefined) return { problem: 'a "{" is not closed' };
    const [before, rest] = [next.slice(0, open), next.slice(parts.end + 1)];
    waiting.push(...parts.alternatives.map((part) => before + part + rest));
    if (waiting.length + done.length > maxAlternatives)
      return { problem: "it has too many alternatives in braces" };
  }
  return done;
}

function splitBraces(text: string, open: number): { alternatives: string[]; end: number } | undefined {
  const alternatives = [""];
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === "{") depth += 1;
    if (char === "}") depth -= 1;
    if (depth === 0) return { alternatives, end: at };
    if (char === "," && depth === 1) alternatives.push("");
    else if (at > open) alternatives.push((alternatives.pop() ?? "") + char);
  }
  return undefined;
}
