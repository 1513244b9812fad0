/**
 * permissions/ owns the judgement of who may do what. It starts no process, knows no tool's code, and of files
 * only where their paths lead (locate-path.ts); everything else is pure.
 *
 * This file turns a command line into words whose meaning is known before the shell runs it, and says of
 * every other word what can not be known about it.
 */
import {
  type Command,
  forEachChild,
  type ParsedScript,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
} from "unbash";

export type ShellScript = ParsedScript;
export type ShellNode = SyntaxNode;

/** What is not understood still has a script, as far as one was found: to look for what is denied. */
export type ParsedShell =
  | { readonly understood: true; readonly script: ShellScript }
  | { readonly understood: false; readonly why: string; readonly script: ShellScript };

export interface ShellWord {
  /** After quotes are removed. Where `kind` is not `literal`, the shell will put something else in its place. */
  readonly text: string;
  /** As it was written. */
  readonly source: string;
  /** `pattern`: file names decide what it becomes. `computed`: variables, substitutions or braces do. */
  readonly kind: "literal" | "pattern" | "computed";
  /** It will be exactly one word: nothing splits it or multiplies it. */
  readonly single: boolean;
  /** It is, or could become, a word that starts with a dash. */
  readonly mayBeOption: boolean;
  /** What it will most likely become: the variables in it were set to plain texts before. Proves nothing. */
  readonly likely?: string;
}

export interface SimpleCommand {
  readonly name: ShellWord | undefined;
  /** Assignments among the arguments (`export A=1`) stand here as words too. */
  readonly args: readonly ShellWord[];
  /** Names of the variables set in front of the command. */
  readonly assignments: readonly string[];
  readonly redirects: readonly Redirection[];
}

const maxCommandChars = 20_000;

/** Parses `command`, and everything nested in it, and says why if it was not understood. */
export function parseShell(command: string): ParsedShell {
  const script = parse(command);
  const why = textProblemOf(command) ?? findParseError(script);
  return why === undefined ? { understood: true, script } : { understood: false, why, script };
}

function textProblemOf(command: string): string | undefined {
  if (command.length > maxCommandChars) return "the command is too long to judge";
  if (/[\0-\x08\x0b-\x1f\x7f]/.test(command)) return "the command contains control characters";
  // What a person can not see in a prompt must not decide what runs.
  if (/[\u0085\u00a0\u061c\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/.test(command))
    return "the command contains invisible characters";
  return undefined;
}

export function simpleCommandOf(node: Command): SimpleCommand {
  return {
    name: node.name === undefined ? undefined : wordOf(node.name),
    args: node.args.map((arg) => (arg.type === "Word" ? wordOf(arg) : unknownWord(arg.text))),
    assignments: node.prefix.flatMap((part) => (part.type === "Assignment" ? [part.name] : [])),
    redirects: node.redirects,
  };
}

/** Every simple command anywhere in the script, in source order. */
export function simpleCommandsOf(node: ShellNode): SimpleCommand[] {
  const found: SimpleCommand[] = [];
  const visit = (child: ShellNode): void => {
    if (child.type === "Command") found.push(simpleCommandOf(child));
    forEachChild(child, visit);
  };
  visit(node);
  return found;
}

/** The name a command is known by: its last path part, quotes removed; undefined when only the shell knows it. */
export function programOf(command: SimpleCommand): string | undefined {
  const name = command.name;
  if (name === undefined || name.kind !== "literal") return undefined;
  return name.text.slice(name.text.lastIndexOf("/") + 1);
}

export function wordOf(word: Word): ShellWord {
  const parts = word.parts ?? [];
  const traits: Traits = { computed: false, pattern: false, splits: false };
  for (const part of parts) addTraits(part, traits, false);
  const kind = traits.computed ? "computed" : traits.pattern ? "pattern" : "literal";
  const single = kind === "literal" || (kind === "computed" && !traits.splits && !traits.pattern);
  return {
    text: word.value,
    source: word.text,
    kind,
    single,
    mayBeOption:
      kind === "literal" ? word.value.startsWith("-") : traits.splits || mayStartWithDash(parts[0]),
  };
}

function unknownWord(source: string): ShellWord {
  return { text: source, source, kind: "computed", single: false, mayBeOption: true };
}

function findParseError(node: ShellNode): string | undefined {
  if (node.type === "Script" && node.errors !== undefined && node.errors.length > 0)
    return `the command does not parse: ${node.errors[0]?.message ?? "unknown error"}`;
  if ((node.type === "CommandExpansion" || node.type === "ProcessSubstitution") && node.script === undefined)
    return "a substitution in the command does not parse";
  let found: string | undefined;
  forEachChild(node, (child) => {
    found ??= findParseError(child);
  });
  return found;
}

interface Traits {
  computed: boolean;
  pattern: boolean;
  splits: boolean;
}

function addTraits(part: ShellNode, traits: Traits, quoted: boolean): void {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return;
    case "DoubleQuoted":
      for (const child of part.parts) addTraits(child, traits, true);
      return;
    case "Glob":
    case "ExtendedGlob":
      traits.pattern = true;
      for (const child of part.parts ?? []) addTraits(child, traits, false);
      return;
    case "ProcessSubstitution":
      traits.computed = true;
      return;
    default:
      traits.computed = true;
      // "$@" and "${list[@]}" become many words although they are quoted.
      if (!quoted || /^\$(?:@|\{.*[@*])/s.test("text" in part ? part.text : "")) traits.splits = true;
  }
}

function mayStartWithDash(first: ShellNode | undefined): boolean {
  if (first === undefined) return true;
  switch (first.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return first.value === "" || first.value.startsWith("-");
    case "DoubleQuoted":
      return mayStartWithDash(first.parts[0]);
    case "ProcessSubstitution":
      return false;
    default:
      return true;
  }
}
