/** The pieces of a command line that are judged. */
import type { Folders } from "./shell-folders.ts";
import type { ShellWord } from "./shell-words.ts";

export interface CommandPart {
  /** As it was written. */
  readonly text: string;
  /** The name first. Empty for assignments alone. */
  readonly words: readonly ShellWord[];
  /** The name by its last part; undefined when only the shell knows it. */
  readonly program: string | undefined;
  /** Set in front of it: `A=1`. */
  readonly assignments: readonly string[];
  readonly folders: Folders;
  /** What it starts. */
  readonly carried: readonly CarriedPart[];
  /** It does nothing but start them. */
  readonly transparent: boolean;
  /** Why its words do not say what it does. */
  readonly hidden: string | undefined;
}

export interface CarriedPart {
  readonly part: CommandPart;
  /** Where it begins among the words of what starts it. */
  readonly start: number;
}

export interface FilePart {
  readonly text: string;
  readonly word: ShellWord | undefined;
  readonly access: "read" | "write";
  readonly folders: Folders;
}

export interface UnknownPart {
  readonly text: string;
  readonly why: string;
  /** Commands may stand in it that were not found. */
  readonly hides: boolean;
}

export interface ShellParts {
  /** In source order; carried commands stand inside their carriers. */
  readonly commands: readonly CommandPart[];
  readonly files: readonly FilePart[];
  /** What is not understood, with the piece of text it is about. */
  readonly unknown: readonly UnknownPart[];
  /** May be run, or may be data: only good for finding what is denied. */
  readonly suspects: readonly CommandPart[];
  readonly suspectFiles: readonly FilePart[];
  /** Those that surely call a function of the command line; what it does is among the commands. */
  readonly functionCalls: ReadonlySet<CommandPart>;
  /** There is nothing to run. */
  readonly empty: boolean;
}

/** Nothing is kept there. */
export function isDevice(file: FilePart): boolean {
  return (
    file.word?.kind === "literal" &&
    /^\/dev\/(null|stdin|stdout|stderr|fd\/\d+|zero|tty)$/.test(file.word.text)
  );
}

/** Long enough to recognise, short enough for a prompt. */
export function shorten(text: string): string {
  const line = text.trim();
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`;
}
