import type { ShellWord } from "./shell-words.ts";

/**
 * Which options of a command neither write nor run anything. Always a list of what is known, never of what
 * is forbidden: programs accept abbreviated options (`--outp=x`), and new versions bring new ones.
 */
export interface OptionRule {
  /** Letters without a value; digits stand for counts such as `-20`. */
  readonly flags: string;
  /** Letters with a value, in the same word or in the next one. */
  readonly valued: string;
  /** Names without the leading dashes. */
  readonly long: ReadonlySet<string>;
  /** Among `long`, those whose value may be the next word. */
  readonly longValued: ReadonlySet<string>;
}

export interface SortedWords {
  /** As written up to a `=` or an attached value: `--sort`, `-n`. */
  readonly options: readonly string[];
  readonly operands: readonly ShellWord[];
}

/** `"any"`: the command has no option that writes or runs something. */
export type Options = OptionRule | "any";

export function optionRule(spec: {
  flags?: string;
  valued?: string;
  long?: string;
  longValued?: string;
}): OptionRule {
  const names = (list: string | undefined) => (list === undefined ? [] : list.trim().split(/\s+/));
  return {
    flags: spec.flags ?? "",
    valued: spec.valued ?? "",
    long: new Set([...names(spec.long), ...names(spec.longValued)]),
    longValued: new Set(names(spec.longValued)),
  };
}

/** Tells options and operands apart; answers with a reason when a word is not known to be harmless. */
export function sortWords(words: readonly ShellWord[], rule: OptionRule): SortedWords | string {
  const options: string[] = [];
  const operands: ShellWord[] = [];
  let valueExpected = false;
  for (const [index, word] of words.entries()) {
    if (word.kind === "literal" && word.text === "--") {
      operands.push(...words.slice(index + 1));
      break;
    }
    if (!word.mayBeOption || (word.kind === "literal" && word.text === "-")) {
      if (!valueExpected) operands.push(word);
      valueExpected = false;
      continue;
    }
    // A value that looks like an option is judged as one: which of the two it is may depend on the platform.
    if (word.kind !== "literal") return `${word.source} could become an option`;
    const known = word.text.startsWith("--") ? readLong(word.text, rule) : readShort(word.text, rule);
    if (known === undefined) return `the option ${word.text} is not known to be read-only`;
    options.push(...known.options);
    valueExpected = known.valueExpected;
  }
  return { options, operands };
}

interface KnownOption {
  readonly options: readonly string[];
  readonly valueExpected: boolean;
}

function readLong(text: string, rule: OptionRule): KnownOption | undefined {
  const [name = ""] = text.slice(2).split("=", 1);
  if (!rule.long.has(name)) return undefined;
  return { options: [`--${name}`], valueExpected: rule.longValued.has(name) && !text.includes("=") };
}

function readShort(text: string, rule: OptionRule): KnownOption | undefined {
  const options: string[] = [];
  for (let index = 1; index < text.length; index += 1) {
    const letter = text.charAt(index);
    options.push(`-${letter}`);
    if (rule.valued.includes(letter)) return { options, valueExpected: index === text.length - 1 };
    if (!rule.flags.includes(letter)) return undefined;
  }
  return { options, valueExpected: false };
}
