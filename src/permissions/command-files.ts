/** Which files a simple command reads and writes, as far as its words say so. */
import { basename } from "node:path";
import type { CommandPart } from "./shell-parts.ts";
import type { ShellWord } from "./shell-words.ts";

export interface CommandFiles {
  readonly writes: readonly ShellWord[];
  readonly reads: readonly ShellWord[];
  /** It goes through whole folders, or through names that the shell fills in. */
  readonly readsMany: boolean;
  /** Words that may name files, for finding what is denied. */
  readonly mentions: readonly ShellWord[];
  /** Without a path, it looks at the folder it runs in. */
  readonly looksAround: boolean;
}

const none: CommandFiles = { writes: [], reads: [], mentions: [], readsMany: false, looksAround: false };

export function filesOfCommand(part: CommandPart): CommandFiles {
  const { program } = part;
  if (program === undefined) return none;
  const args = part.words.slice(1);
  // Whatever the command is, the shell puts the names of files in the place of a pattern.
  if (withoutFiles.has(program)) return { ...none, reads: args.filter((word) => word.kind === "pattern") };
  const { operands, values } = splitArguments(args);
  const writes = writesOf(program, args, operands);
  if (writes !== undefined) {
    const copies = copying.has(program);
    const source = program === "dd" ? (valuesOf(args, /^(?!)/, /^if=(.+)$/s) ?? []) : [];
    const reads = copies ? operands.slice(0, -1) : showing.has(program) ? operands : source;
    return { ...none, writes, reads };
  }
  if (program === "git")
    return {
      ...none,
      reads: gitReads(args, operands),
      // `HEAD:a` is the file `a` as it once was.
      mentions: operands.map((word) => wordWith(word, word.text.replace(/^[^:]*:(?=.)/, ""))),
    };
  const named = searching.has(program) && !hasPattern(program, args) ? operands.slice(1) : operands;
  const reads = [...named, ...values];
  const mentions = operands.flatMap((word) =>
    word.text.startsWith("@") ? [wordWith(word, word.text.slice(1))] : [],
  );
  return {
    writes: [],
    reads,
    mentions,
    readsMany: readsMany(program, args),
    looksAround: reads.length === 0,
  };
}

/** Their words are no paths, or nothing of the files is shown. */
const withoutFiles = new Set(
  `echo printf : true false pwd which whereis type uname whoami groups arch nproc seq expr date hostname basename
  dirname exit break continue test [ [[ command ps cd tr sleep export`.split(/\s+/),
);

/** All their operands are changed, or go away. */
const changing = new Set(
  `rm rmdir unlink shred truncate touch mkdir tee mkfifo mv chmod chown chgrp setfacl patch ed ex vi vim nvim
  nano emacs pico sponge split csplit`.split(/\s+/),
);

/** What they change they can show, too. */
const showing = new Set("sed perl patch ed ex vi vim nvim nano emacs pico split csplit".split(" "));

const copying = new Set(["cp", "install", "rsync", "scp", "ln", "mv"]);

/** Their first operand is what to look for. */
const searching = new Set(["grep", "egrep", "fgrep", "rg", "jq", "sed", "awk", "gawk"]);

interface Arguments {
  readonly operands: readonly ShellWord[];
  /** Paths inside options: `--file=/etc/x`, `-f/etc/x`. */
  readonly values: readonly ShellWord[];
}

function splitArguments(args: readonly ShellWord[]): Arguments {
  const end = args.findIndex((word) => word.kind === "literal" && word.text === "--");
  const before = end < 0 ? args : args.slice(0, end);
  const isOption = (word: ShellWord) => word.text.startsWith("-") && word.text !== "-";
  const values = before.flatMap((word) => {
    if (!isOption(word)) return [];
    const path =
      /^--?[\w-]*?=(.+)$/s.exec(word.text)?.[1] ?? /^-[A-Za-z]+?((~|\.{0,2})\/.*)$/s.exec(word.text)?.[1];
    return path === undefined ? [] : [wordWith(word, path)];
  });
  const operands = [...before.filter((word) => !isOption(word)), ...(end < 0 ? [] : args.slice(end + 1))];
  return { operands: operands.filter((word) => word.text !== "-" || word.kind !== "literal"), values };
}

function wordWith(word: ShellWord, text: string): ShellWord {
  return { ...word, text, source: word.source.startsWith("~") ? text : word.source };
}

function writesOf(
  program: string,
  args: readonly ShellWord[],
  operands: readonly ShellWord[],
): readonly ShellWord[] | undefined {
  if (copying.has(program)) return copyTargets(program, args, operands);
  if (changing.has(program)) return operands;
  switch (program) {
    case "dd":
      return args.flatMap((word) =>
        word.text.startsWith("of=") ? [wordWith(word, word.text.slice(3))] : [],
      );
    case "sed":
    case "perl":
      return args.some((word) => /^(-[a-zA-Z]*i|--in-place)/.test(word.text)) ? operands : undefined;
    case "sort":
      return valuesOf(args, /^(-[a-zA-Z]*o|--o[utp]*)$/, /^(?:-[a-zA-Z]*?o|--o[utp]*=)(.+)$/s);
    case "uniq":
    case "xxd":
      return operands.length > 1 ? operands.slice(-1) : undefined;
    case "tree":
      return valuesOf(args, /^-[a-zA-Z]*o$/, /^--output=(.+)$/s);
    case "find":
      return valuesOf(args, /^-(fprint|fprint0|fprintf|fls)$/, /^(?!)()/);
    case "curl":
      return valuesOf(
        args,
        /^(-[a-zA-Z#]*o|--output|--output-dir)$/,
        /^(?:-[a-zA-Z#]*?o|--output=|--output-dir=)(.+)$/s,
      );
    case "wget":
      return valuesOf(
        args,
        /^(-[a-zA-Z]*[OPoa]|--output-document|--output-file|--directory-prefix)$/,
        /^(?:-[a-zA-Z]*?[OPoa]|--output-document=|--directory-prefix=)(.+)$/s,
      );
    case "tar":
    case "bsdtar":
      return valuesOf(args, /^(-C|--directory)$/, /^(?:-C|--directory=)(.+)$/s);
    case "unzip":
      return valuesOf(args, /^-d$/, /^-d(.+)$/s);
    case "git":
      return gitWrites(args) ?? valuesOf(args, /^--outp?u?t?$/, /^--outp?u?t?=(.+)$/s);
    default:
      return undefined;
  }
}

/** The target, and the target as a folder with the names of what is put into it. */
function copyTargets(
  program: string,
  args: readonly ShellWord[],
  operands: readonly ShellWord[],
): readonly ShellWord[] {
  const named = valuesOf(args, /^(-t|--target-directory)$/, /^(?:-t|--target-directory=)(.+)$/s) ?? [];
  const last = operands.length > 1 ? operands.at(-1) : undefined;
  const targets = last === undefined ? named : [...named, last];
  const inTargets = targets.flatMap((target) =>
    operands
      .filter((source) => source !== target)
      .map((source) => {
        if (source.kind === "pattern")
          return { ...target, text: `${target.text}/*`, kind: "pattern" as const };
        // `cp -r a/. b` puts what is in `a` into `b`: nobody knows the names.
        const known = source.kind === "literal" && !/(^|\/)\.{0,2}\/*$/.test(source.text);
        if (!known) return { ...target, text: `${target.text}/*`, kind: "computed" as const };
        return { ...target, text: `${target.text}/${basename(source.text)}` };
      }),
  );
  return [...targets, ...inTargets, ...(program === "mv" ? operands.slice(0, -1) : [])];
}

function valuesOf(
  args: readonly ShellWord[],
  apart: RegExp,
  joined: RegExp,
): readonly ShellWord[] | undefined {
  const found = args.flatMap((word, index) => {
    const next = args[index + 1];
    if (apart.test(word.text)) return next === undefined ? [] : [next];
    const value = joined.exec(word.text)?.[1];
    return value === undefined ? [] : [wordWith(word, value)];
  });
  return found.length === 0 ? undefined : found;
}

/** Outside a repository, or given paths outside of it, git compares and searches any files. */
function gitReads(args: readonly ShellWord[], operands: readonly ShellWord[]): readonly ShellWord[] {
  const isAnywhere = args.some((word) => /^--no-i/.test(word.text));
  const folders = valuesOf(args, /^-C$/, /^(?!)/) ?? [];
  return isAnywhere || operands.some((word) => word.text === "diff") ? [...folders, ...operands] : folders;
}

/** `git config` changes what git runs. */
function gitWrites(args: readonly ShellWord[]): readonly ShellWord[] | undefined {
  let at = 0;
  while (args[at]?.text.startsWith("-")) at += gitValued.has(args[at]?.text ?? "") ? 2 : 1;
  if (args[at]?.text !== "config") return undefined;
  const words = args.slice(at + 1);
  const { operands } = splitArguments(words);
  const reads = words.some((word) => /^(--get.*|-l|--list|get|list)$/.test(word.text));
  const changes = words.some((word) => /^(--(un|re|ad|ed)|-e$)/.test(word.text));
  if (reads || (operands.length < 2 && !changes)) return undefined;
  const ofUser = words.some((word) => /^--(global|system)$/.test(word.text));
  const target = ofUser ? "~/.gitconfig" : ".git/config";
  const base: ShellWord = { text: target, source: target, kind: "literal", single: true, mayBeOption: false };
  return [base];
}

const gitValued = new Set(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"]);

function hasPattern(program: string, args: readonly ShellWord[]): boolean {
  if (program === "rg" && args.some((word) => /^--(files|type-list)$/.test(word.text))) return true;
  return args.some((word) =>
    // Names can be shortened, and the pattern can stand in the same word.
    /^(-[a-zA-Z0-9]*[ef]|--(re|fi|ex|from-f)[a-z-]*(=|$))/.test(word.text),
  );
}

function readsMany(program: string, args: readonly ShellWord[]): boolean {
  if (program === "rg")
    return args.some((word) => /^(-[a-zA-Z]*[u.]|--hidden|--no-ignore|--unres)/.test(word.text));
  return (
    /grep$/.test(program) &&
    args.some((word) => /^(-[a-zA-Z]*[rR]|--recursive|--dereference-rec)/.test(word.text))
  );
}
