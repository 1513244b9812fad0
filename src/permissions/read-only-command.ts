/**
 * Whether a shell command only reads. Errs on the side of "no": everything in it, however deeply nested, must
 * be known to only read. A "yes" lets the command run without a question and side by side with others.
 */
import { isAbsolute, normalize, relative } from "node:path";
import {
  type ArithmeticExpansionPart,
  forEachChild,
  type ParameterExpansionPart,
  type Redirect,
} from "unbash";
import { judgeGit } from "./read-only-git.ts";
import { findProgramJudge } from "./read-only-programs.ts";
import {
  parseShell,
  type ShellNode,
  type ShellWord,
  type SimpleCommand,
  simpleCommandOf,
  wordOf,
} from "./shell-words.ts";

export type Classification =
  | {
      readonly readOnly: true;
      /** It contains `cd`, so that what runs beside or after it may see another folder. */
      readonly movesFolder: boolean;
    }
  | { readonly readOnly: false; readonly why: string };

export interface ClassifyOptions {
  /** Folders that count as the agent's own; absolute paths are outside when they are in none of them. */
  readonly roots?: readonly string[];
}

export function isReadOnlyCommand(command: string): boolean {
  return classifyCommand(command).readOnly;
}

export function classifyCommand(command: string, options: ClassifyOptions = {}): Classification {
  // Continued lines and escaped dashes only make a reader see other words than the shell does.
  if (command.includes("\\\n")) return no("a line is continued with a backslash");
  const parsed = parseShell(command);
  if (!parsed.understood) return no(parsed.why);
  if (parsed.script.commands.length === 0) return no("there is no command");
  const state: Walk = { roots: options.roots ?? [], why: undefined, moved: undefined, usesGit: false };
  visit(parsed.script, state);
  if (state.why !== undefined) return no(state.why);
  if (state.moved === "outside" && state.usesGit) return no("git would read a repository in another folder");
  return { readOnly: true, movesFolder: state.moved !== undefined };
}

interface Walk {
  readonly roots: readonly string[];
  why: string | undefined;
  moved: "inside" | "outside" | undefined;
  usesGit: boolean;
}

function no(why: string): Classification {
  return { readOnly: false, why };
}

function visit(node: ShellNode, state: Walk): void {
  if (state.why !== undefined) return;
  state.why = judgeNode(node, state);
  if (state.why === undefined) forEachChild(node, (child) => visit(child, state));
}

function judgeNode(node: ShellNode, state: Walk): string | undefined {
  return node.type === "Command" ? judgeCommand(simpleCommandOf(node), state) : judgeConstruct(node);
}

/**
 * Why a piece of shell that is no command does more than read. What is not listed here is refused: a new kind
 * of node must be thought about first.
 */
export function judgeConstruct(node: ShellNode): string | undefined {
  switch (node.type) {
    case "Redirect":
      return judgeRedirect(node);
    case "Statement":
      return node.background === true ? "it leaves a command running in the background" : undefined;
    case "For":
      // Names in capitals mean something to the shell and to programs: PATH, IFS, LD_PRELOAD.
      return /^[a-z_][a-z0-9_]*$/.test(node.name.text) ? undefined : `it sets the variable ${node.name.text}`;
    case "ParameterExpansion":
      return judgeParameter(node);
    case "ArithmeticExpansion":
      return judgeArithmetic(node);
    case "TestUnary":
      return /^-[vR]$/.test(node.operator) ? "the test evaluates its operand" : undefined;
    case "TestBinary":
      return judgeTestBinary(node.operator, [wordOf(node.left), wordOf(node.right)]);
    case "ProcessSubstitution":
      return node.operator === ">" ? "it writes to another command" : undefined;
    case "Assignment":
      return `it sets the variable ${node.name}`;
    case "HereDoc":
      return "it contains a here-document";
    case "Function":
      return "it defines a function";
    default:
      return plainNodes.has(node.type)
        ? undefined
        : `it contains what is not known to be read-only (${node.type})`;
  }
}

const plainNodes = new Set<ShellNode["type"]>([
  "Script",
  "CompoundList",
  "Pipeline",
  "Negation",
  "Time",
  "AndOr",
  "If",
  "Elif",
  "While",
  "Case",
  "CaseItem",
  "Subshell",
  "BraceGroup",
  "Redirected",
  "TestCommand",
  "TestLogical",
  "TestNot",
  "TestGroup",
  "HereString",
  "FileDescriptor",
  "Word",
  "Literal",
  "SingleQuoted",
  "DoubleQuoted",
  "AnsiCQuoted",
  "Glob",
  "ExtendedGlob",
  "BraceExpansion",
  "SimpleExpansion",
  "CommandExpansion",
  "ArithmeticBinary",
  "ArithmeticUnary",
  "ArithmeticTernary",
  "ArithmeticGroup",
  "ArithmeticWord",
  "Default",
  "Remove",
  "Replace",
  "CaseModification",
]);

function judgeCommand(command: SimpleCommand, state: Walk): string | undefined {
  if (command.name?.kind === "literal" && command.name.text === "cd") return judgeCd(command.args, state);
  if (command.name?.kind === "literal" && programName(command.name.text) === "git") state.usesGit = true;
  return judgeReading(command, (path) => isInside(path, state.roots));
}

/** Why a simple command, taken alone, is not known to only read. `isInside`: the folder is the agent's own. */
export function judgeReading(
  command: SimpleCommand,
  isInside: (folder: ShellWord) => boolean,
): string | undefined {
  const program = knownProgramOf(command);
  if (typeof program !== "string") return program.why;
  for (const word of command.args) {
    if (word.source.startsWith("\\-")) return `${word.source} hides an option`;
    // The environment of the runtime, and with it its keys, can be read there.
    if (/(^|\.\.)\/(\.{0,2}\/)*proc(\/|$)/.test(word.text)) return "it reads what other processes hold";
  }
  if (program === "git") return judgeGit(command.args, isInside);
  const judge = findProgramJudge(program);
  return judge === undefined ? `${program} is not known to be read-only` : judge(command.args);
}

/** A program with a path is only known where the system keeps its own: `./ls` can be anything. */
function knownProgramOf(command: SimpleCommand): string | { why: string } {
  const { name } = command;
  if (name === undefined) return { why: "there is no command name" };
  if (name.kind !== "literal") return { why: `${name.source} hides which command it runs` };
  return programName(name.text);
}

/** The system's own folders can be left out; any other path makes it another program. */
export function programName(name: string): string {
  return name.replace(/^\/(usr\/)?bin\/(?=[^/]+$)/, "");
}

function judgeCd(words: readonly ShellWord[], state: Walk): string | undefined {
  const [folder] = words;
  if (words.length > 1 || folder?.kind !== "literal" || folder.text.startsWith("-"))
    return "it moves to a folder that is not known";
  const inside = isInside(folder, state.roots);
  state.moved = inside && state.moved !== "outside" ? "inside" : "outside";
  return undefined;
}

function isInside(path: ShellWord, roots: readonly string[]): boolean {
  if (path.kind !== "literal" || path.text.startsWith("~")) return false;
  if (!isAbsolute(path.text)) return !normalize(path.text).startsWith("..") && !path.text.includes("/..");
  return roots.some((root) => {
    const rest = relative(root, normalize(path.text));
    return rest === "" || (!rest.startsWith("..") && !isAbsolute(rest));
  });
}

function judgeRedirect(redirect: Redirect): string | undefined {
  const target = redirect.target === undefined ? undefined : wordOf(redirect.target);
  if (target === undefined || target.kind !== "literal") return "it redirects to or from what is not known";
  if (redirect.descriptor?.type === "FileDescriptorVariable") return "it sets a variable";
  switch (redirect.operator) {
    case "<":
      // The shell opens network connections for these names.
      return /^\/+dev\/+(tcp|udp)(\/|$)/.test(target.text) ? "it opens a network connection" : undefined;
    case ">&":
    case "<&":
      return /^(\d+-?|-)$/.test(target.text) ? undefined : `it writes ${target.text}`;
    case "<>":
      return `it writes ${target.text}`;
    default:
      return target.text === "/dev/null" ? undefined : `it writes ${target.text}`;
  }
}

/** Some expansions assign, evaluate or execute what is in the variable. */
function judgeParameter(part: ParameterExpansionPart): string | undefined {
  const { operation } = part;
  const assigns = operation?.type === "Default" && operation.operator.endsWith("=");
  if (part.prefix === "!" || part.index !== undefined || assigns)
    return `${part.text} does more than read a variable`;
  return undefined;
}

/** The shell evaluates variables inside arithmetic as arithmetic again, substitutions included. */
function judgeArithmetic(part: ArithmeticExpansionPart): string | undefined {
  const isNumeric = (node: ShellNode): boolean => {
    if (node.type === "ArithmeticWord") return /^\d+$/.test(node.value);
    let numeric = true;
    forEachChild(node, (child) => {
      numeric &&= isNumeric(child);
    });
    return numeric;
  };
  return part.expression !== undefined && isNumeric(part.expression)
    ? undefined
    : `${part.text} evaluates what is not known`;
}

function judgeTestBinary(operator: string, operands: readonly ShellWord[]): string | undefined {
  const arithmetic = /^-(eq|ne|lt|le|gt|ge)$/.test(operator);
  const numeric = operands.every((word) => word.kind === "literal" && /^\d+$/.test(word.text));
  return arithmetic && !numeric ? "the test evaluates its operands" : undefined;
}
