/** What stands between the parentheses of a Bash rule, and which simple commands it means. */
import { programName } from "./read-only-command.ts";
import type { ShellWord } from "./shell-words.ts";

export interface CommandRule {
  /**
   * `exact`: these words and no others. `prefix`: these words first. `pattern`: `*` stands for anything.
   * `script`: more than one simple command, only meant as a whole.
   */
  readonly kind: "exact" | "prefix" | "pattern" | "script";
  /** After quotes are removed; of a pattern those before its first `*`. */
  readonly words: readonly string[];
  readonly content: string;
  /** Of a pattern: what stands between its stars, joined as `joinWords` does. */
  readonly chunks: readonly string[];
}

/** `maybe`: a word that only the shell knows could make it match. */
export type Match = "yes" | "maybe" | "no";

/** Parses `git diff:*`, `npm run *` or `npm test`; answers with the problem when it can not be. */
export function parseCommandRule(given: string): CommandRule | string {
  const content = given.trim();
  if (content === "") return "there is no command between the parentheses";
  const isPrefix = content.endsWith(":*");
  const body = isPrefix ? content.slice(0, -2).trimEnd() : content;
  if (/:\*(\s|$)/.test(body)) return '":*" can only stand at the end';
  const tokens = splitWords(body);
  if (typeof tokens === "string") return tokens;
  if (tokens.operators)
    return isPrefix
      ? '":*" follows one simple command, without pipes, lists or redirects'
      : { kind: "script", words: [], content, chunks: [] };
  const { words } = tokens;
  if (words.length === 0) return "there is no command between the parentheses";
  const firstStar = words.findIndex((word) => word.stars.length > 0);
  if (firstStar < 0)
    return {
      kind: isPrefix ? "prefix" : "exact",
      words: words.map((word) => word.text),
      content,
      chunks: [],
    };
  if (isPrefix) return '"*" and ":*" can not stand in the same rule';
  const chunks = chunksOf(words);
  return { kind: "pattern", words: words.slice(0, firstStar).map((word) => word.text), content, chunks };
}

/** Whether a rule that allows means this command: word by word, options where they stand. */
export function matchesExactly(rule: CommandRule, words: readonly ShellWord[]): boolean {
  const [name, ...args] = words;
  if (name === undefined || name.kind !== "literal" || rule.kind === "script") return false;
  const texts = [programName(name.text), ...args.map((word) => word.text)];
  const isKnown = (count: number) => words.slice(0, count).every((word) => word.kind === "literal");
  if (rule.kind === "pattern") {
    // A word that becomes many or none could end the match elsewhere than it seems.
    const sure = isKnown(rule.words.length) && (isTail(rule) || isKnown(words.length));
    return sure && matchesStars(rule, texts);
  }
  const [ruleName = "", ...ruleArgs] = rule.words;
  if (rule.kind === "exact" && (rule.words.length !== words.length || !isKnown(words.length))) return false;
  return (
    isKnown(rule.words.length) &&
    programName(ruleName) === texts[0] &&
    ruleArgs.every((word, index) => word === texts[index + 1])
  );
}

/** How many of the words a matching rule names itself: what they start is meant, too. */
export function namedWords(rule: CommandRule): number {
  return rule.kind === "exact" ? Number.POSITIVE_INFINITY : rule.words.length;
}

/**
 * Whether a rule that forbids means this command. Wider than `matchesExactly`: by the last part of the name,
 * with options in other places or run together, and `maybe` where words are not known.
 */
export function matchesLoosely(rule: CommandRule, words: readonly ShellWord[]): Match {
  const [name, ...args] = words;
  if (name === undefined || rule.kind === "script") return "no";
  const unknownAt = words.findIndex((word) => word.kind !== "literal");
  if (rule.kind === "pattern") return matchesPattern(rule, words, unknownAt);
  if (name.kind !== "literal") return "maybe";
  const [ruleName = "", ...ruleArgs] = rule.words;
  if (lastPart(ruleName) !== lastPart(name.text)) return "no";
  if (startsWith(args, ruleArgs) && (rule.kind === "prefix" || args.length === ruleArgs.length)) return "yes";
  const wanted = sortOptions(ruleArgs);
  let best: Match = "no";
  for (const start of possibleStarts(args)) {
    const match = matchSorted(rule, wanted, args, start);
    if (match === "yes") return "yes";
    if (match === "maybe") best = "maybe";
  }
  return best;
}

interface RuleWord {
  readonly text: string;
  /** Where in `text` an unquoted `*` stands. */
  readonly stars: readonly number[];
}

/** Words with quotes removed. Everything but quotes, backslashes and `*` stands for itself. */
function splitWords(text: string): { words: RuleWord[]; operators: boolean } | string {
  const words: RuleWord[] = [];
  let word: { text: string; stars: number[] } | undefined;
  let operators = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (/\s/.test(char)) {
      if (char === "\n") operators = true;
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word ??= { text: "", stars: [] };
    if (char === "'" || char === '"') {
      const end = endOfQuotes(text, at + 1, char);
      if (end < 0) return `the quote ${char} is not closed`;
      const inside = text.slice(at + 1, end);
      word.text += char === '"' ? inside.replace(/\\(["\\$`])/g, "$1") : inside;
      at = end;
    } else if (char === "\\" && at + 1 < text.length) {
      at += 1;
      word.text += text.charAt(at);
    } else {
      if (char === "*") word.stars.push(word.text.length);
      if (/[;&|<>()`]/.test(char)) operators = true;
      word.text += char;
    }
  }
  if (word !== undefined) words.push(word);
  return { words, operators };
}

function endOfQuotes(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at += 1) {
    if (text.charAt(at) === quote) return at;
    if (text.charAt(at) === "\\" && quote === '"') at += 1;
  }
  return -1;
}

/** Blanks inside a word must not look like the blank between two. */
export function joinWords(words: readonly string[]): string {
  return words.map((word) => word.replace(/\s/g, "\u0001")).join(" ");
}

/** What stands between the stars, in order. */
function chunksOf(words: readonly RuleWord[]): string[] {
  const chunks = [""];
  for (const [index, { text, stars }] of words.entries()) {
    if (index > 0) chunks.push(`${chunks.pop() ?? ""} `);
    for (let at = 0; at < text.length; at += 1) {
      if (stars.includes(at)) chunks.push("");
      else chunks.push((chunks.pop() ?? "") + joinWords([text.charAt(at)]));
    }
  }
  return chunks;
}

/** In one pass, however many stars there are: no pattern and no command makes it slow. */
export function matchesChunks(chunks: readonly string[], text: string): boolean {
  const first = chunks[0] ?? "";
  const last = chunks.at(-1) ?? "";
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const chunk of chunks.slice(1, -1)) {
    const found = text.indexOf(chunk, at);
    if (found < 0) return false;
    at = found + chunk.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** `npm run *` means `npm run`, too. */
function matchesStars(rule: CommandRule, words: readonly string[]): boolean {
  const text = joinWords(words);
  return matchesChunks(rule.chunks, text) || (isOpenEnded(rule) && matchesChunks(rule.chunks, `${text} `));
}

/** Its only star is at the end: whatever the rest becomes, it matches. */
function isTail({ chunks }: CommandRule): boolean {
  return chunks.length === 2 && chunks[1] === "";
}

function isOpenEnded({ chunks }: CommandRule): boolean {
  return chunks.at(-1) === "" && chunks.at(-2)?.endsWith(" ") === true;
}

function matchesPattern(rule: CommandRule, words: readonly ShellWord[], unknownAt: number): Match {
  const texts = words.map((word) => word.text);
  const byLastPart = [lastPart(texts[0] ?? ""), ...texts.slice(1)];
  const matches = [texts, byLastPart].some((each) => matchesStars(rule, each));
  if (matches) return unknownAt === -1 || isTail(rule) ? "yes" : "maybe";
  if (unknownAt === -1) return "no";
  const fixed = joinWords(rule.words);
  const known = joinWords(byLastPart.slice(0, unknownAt));
  return fixed.startsWith(known) || known.startsWith(fixed) ? "maybe" : "no";
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1).toLowerCase();
}

function startsWith(args: readonly ShellWord[], wanted: readonly string[]): boolean {
  return wanted.every((word, index) => args[index]?.kind === "literal" && args[index].text === word);
}

interface Sorted {
  readonly letters: ReadonlySet<string>;
  readonly long: readonly string[];
  readonly operands: readonly string[];
}

function sortOptions(words: readonly string[]): Sorted {
  const letters = new Set<string>();
  const long: string[] = [];
  const operands: string[] = [];
  for (const word of words) {
    if (word.startsWith("--") && word !== "--") long.push(word);
    else if (/^-[A-Za-z0-9]/.test(word)) for (const letter of word.slice(1)) letters.add(letter);
    else if (word !== "--") operands.push(word);
  }
  return { letters, long, operands };
}

/** Where the operands can begin: each option before them may have the next word as its value. */
function possibleStarts(args: readonly ShellWord[]): number[] {
  const reachable = new Set([0]);
  for (const start of reachable) {
    if (args[start]?.mayBeOption !== true) continue;
    reachable.add(start + 1);
    if (start + 1 < args.length) reachable.add(start + 2);
  }
  return [...reachable];
}

function matchSorted(rule: CommandRule, wanted: Sorted, args: readonly ShellWord[], start: number): Match {
  const rest = args.slice(start).filter((word) => word.kind !== "literal" || !/^-./.test(word.text));
  const given = sortOptions(args.filter((word) => word.kind === "literal").map((word) => word.text));
  const unknown = args.some((word) => word.kind !== "literal");
  const hasOptions =
    [...wanted.letters].every((letter) => hasLetter(given, letter)) &&
    wanted.long.every(
      (option) =>
        given.long.some((each) => isSameOption(each, option)) ||
        given.letters.has(lettersOfNames.get(option) ?? ""),
    );
  if (!hasOptions && !unknown) return "no";
  for (const [index, operand] of wanted.operands.entries()) {
    const word = rest[index];
    if (word === undefined) return "no";
    if (word.kind !== "literal") return "maybe";
    if (word.text !== operand) return "no";
  }
  if (!hasOptions) return "maybe";
  return rule.kind === "prefix" || rest.length === wanted.operands.length ? "yes" : "no";
}

/** The two whose other spelling makes the difference between a denied command and an allowed one. */
const lettersOfNames = new Map([
  ["--recursive", "r"],
  ["--force", "f"],
]);

function hasLetter(given: Sorted, letter: string): boolean {
  if (given.letters.has(letter) || (letter === "r" && given.letters.has("R"))) return true;
  return given.long.some((option) =>
    [...lettersOfNames].some(([name, short]) => short === letter && isSameOption(option, name)),
  );
}

/** Many programs accept shortened names of options. */
function isSameOption(given: string, wanted: string): boolean {
  const [name = ""] = wanted.includes("=") ? [given] : given.split("=", 1);
  return name === wanted || (name.length > 3 && wanted.startsWith(name));
}
