/** Names that are made of given words: `parse` and `config` are in parseConfig, and in config_parser. */
import { escapedPattern } from "./search-patterns.ts";
import type { Match } from "./tool-calls.ts";

/** The part of a word that its forms share: parse, parser and parsing have `pars`. */
export function stemOf(word: string): string {
  const stem = word.toLowerCase().replace(/(?:ations?|ings?|ers?|ors?|ed|es|s|e)$/, "");
  return stem.length >= 3 ? stem : word.toLowerCase();
}

/** For Grep, ignoring case: identifiers that hold all stems, in any order. */
export function namePattern(words: readonly string[]): string {
  const orders = permutations(words.map((word) => escapedPattern(stemOf(word))));
  return `\\b\\w*(?:${orders.map((stems) => stems.join("\\w*")).join("|")})\\w*`;
}

function permutations(items: readonly string[]): string[][] {
  if (items.length <= 1) return [[...items]];
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  );
}

export interface FoundName {
  readonly name: string;
  readonly lines: number;
  /** Where it seems to be defined, else where it first stands. */
  readonly place: Match;
  readonly isDefinition: boolean;
}

/** The names in the matching lines, those with a definition first, then by how often they stand. */
export function namesIn(matches: readonly Match[], pattern: string): FoundName[] {
  const identifier = new RegExp(pattern, "gi");
  const found = new Map<string, FoundName>();
  for (const place of matches) {
    for (const name of new Set(place.text.match(identifier) ?? [])) {
      const known = found.get(name);
      const isDefinition = definesIt(place.text, name);
      found.set(name, {
        name,
        lines: (known?.lines ?? 0) + 1,
        place: known === undefined || (isDefinition && !known.isDefinition) ? place : known.place,
        isDefinition: isDefinition || known?.isDefinition === true,
      });
    }
  }
  return [...found.values()].sort(
    (a, b) =>
      Number(b.isDefinition) - Number(a.isDefinition) || b.lines - a.lines || (a.name < b.name ? -1 : 1),
  );
}

/** A keyword that defines stands right before it. */
function definesIt(text: string, name: string): boolean {
  return new RegExp(
    `\\b(?:class|interface|type|enum|struct|trait|function\\*?|def|func|fn|fun|module|record|object|const|let|var|macro_rules!|define)\\s+(?:\\([^)]*\\)\\s*)?${escapedPattern(name)}\\b`,
  ).test(text);
}

/** Paths that hold all stems. */
export function pathsNamed(paths: readonly string[], words: readonly string[]): string[] {
  const stems = words.map(stemOf);
  return paths.filter((path) => stems.every((stem) => path.toLowerCase().includes(stem))).sort();
}
