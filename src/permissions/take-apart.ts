/**
 * Takes a command line apart into what will be judged: every simple command, wherever it stands and whatever
 * starts it, every file that is redirected to or from, and everything whose meaning is not known beforehand.
 */
import { type Command, forEachChild, type Redirection, type Word } from "unbash";
import { judgeConstruct } from "./read-only-command.ts";
import { type Folders, joinFolders, moveFolders } from "./shell-folders.ts";
import type { CommandPart, FilePart, ShellParts, UnknownPart } from "./shell-parts.ts";
import { shorten } from "./shell-parts.ts";
import {
  parseShell,
  programOf,
  type ShellNode,
  type ShellWord,
  simpleCommandOf,
  wordOf,
} from "./shell-words.ts";
import { findCarried, mayRunText, shells, suspectStarts } from "./shell-wrappers.ts";

export function takeApart(command: string, options: { folder: string; homeFolder: string }): ShellParts {
  const walk = new Walk(options.homeFolder);
  walk.readText(command, new Set([options.folder]), { suspect: false });
  return walk;
}

interface After {
  /** Where the shell may stand when the command succeeded, and when it failed. */
  readonly ok: Folders;
  readonly failed: Folders;
}

const maxDepth = 8;
const maxSuspectWords = 64;

class Walk implements ShellParts {
  readonly commands: CommandPart[] = [];
  readonly files: FilePart[] = [];
  readonly unknown: UnknownPart[] = [];
  readonly suspects: CommandPart[] = [];
  readonly suspectFiles: FilePart[] = [];
  readonly functionCalls = new Set<CommandPart>();
  empty = true;
  readonly #homeFolder: string;
  /** Variables that were set to a plain text. */
  readonly #variables = new Map<string, string>();
  /** Whether any `cd` stands in the text: then functions and loops may run anywhere. */
  #moves = false;
  #suspect = false;
  #depth = 0;
  /** Defined for sure, by what was read so far. */
  readonly #functions = new Set<string>();
  #top: ShellNode | undefined;

  constructor(homeFolder: string) {
    this.#homeFolder = homeFolder;
    this.#variables.set("HOME", homeFolder);
  }

  /** A whole script. With `suspect`, nothing in it counts but what may be denied. */
  readText(text: string, folders: Folders, options: { suspect: boolean }): void {
    if (this.#depth >= maxDepth) {
      this.#doubt(text, "commands are nested too deeply to judge", { hides: true });
      return;
    }
    const before = this.#suspect;
    this.#suspect ||= options.suspect;
    this.#depth += 1;
    const parsed = parseShell(text);
    this.#moves ||= /\b(cd|pushd|popd)\b/.test(text);
    if (!parsed.understood) this.#doubt(text, parsed.why, { hides: true });
    // Continued lines only make a reader see other words than the shell does.
    else if (text.includes("\\\n")) this.#doubt(text, "a line is continued with a backslash");
    if (parsed.script.commands.length > 0) this.empty = false;
    this.#top ??= parsed.script;
    this.#walk(parsed.script, folders);
    this.#depth -= 1;
    this.#suspect = before;
  }

  #doubt(text: string, why: string, { hides } = { hides: false }): void {
    if (!this.#suspect) this.unknown.push({ text: shorten(text), why, hides });
  }

  #walk(node: ShellNode, folders: Folders): After {
    switch (node.type) {
      case "Script":
      case "CompoundList":
        return this.#sequence(node.commands, folders, node === this.#top);
      case "Statement": {
        const after = this.#walk(node.command, folders);
        return node.background === true ? same(joinFolders(folders, after.ok, after.failed)) : after;
      }
      case "AndOr":
        return this.#andOr(node.commands, node.operators, folders);
      case "Pipeline": {
        const ends = node.commands.map((each) => this.#walk(each, folders));
        this.#pipedText(node.commands, folders);
        return same(joinFolders(folders, ...ends.flatMap((end) => [end.ok, end.failed])));
      }
      case "If": {
        const clause = this.#walk(node.clause, folders);
        const ends = [this.#walk(node.then, clause.ok)];
        let rest = clause.failed;
        for (const elif of node.elif) {
          const next = this.#walk(elif.clause, rest);
          ends.push(this.#walk(elif.then, next.ok));
          rest = next.failed;
        }
        if (node.else !== undefined) ends.push(this.#walk(node.else, rest));
        return same(joinFolders(rest, ...ends.flatMap((end) => [end.ok, end.failed])));
      }
      case "Subshell":
        this.#walk(node.body, folders);
        return same(folders);
      case "BraceGroup":
        return this.#walk(node.body, folders);
      case "Redirected": {
        for (const redirect of node.redirects) this.#redirect(redirect, folders);
        return this.#walk(node.command, folders);
      }
      case "Function":
        if (/^(cd|pushd|popd)$/.test(node.name.text))
          this.#doubt(node.name.text, "it gives another meaning to a command that moves");
        this.#walk(node.body, this.#moves ? "unknown" : folders);
        return same(this.#moves ? "unknown" : folders);
      case "Command":
        return this.#command(node, folders);
      default:
        return this.#other(node, folders);
    }
  }

  #sequence(nodes: readonly ShellNode[], folders: Folders, isTop: boolean): After {
    let after: After = same(folders);
    for (const node of nodes) {
      after = this.#walk(node, joinFolders(after.ok, after.failed));
      // Under a condition or in another process it may never be defined here.
      const defined = node.type === "Statement" && node.background !== true ? node.command : node;
      if (isTop && defined.type === "Function" && !defined.name.text.includes("/"))
        this.#functions.add(defined.name.text);
    }
    return after;
  }

  #andOr(nodes: readonly ShellNode[], operators: readonly string[], folders: Folders): After {
    let after: After = same(folders);
    for (const [index, node] of nodes.entries()) {
      const operator = operators[index - 1];
      if (operator === undefined) after = this.#walk(node, folders);
      else if (operator === "&&") {
        const next = this.#walk(node, after.ok);
        after = { ok: next.ok, failed: joinFolders(after.failed, next.failed) };
      } else {
        const next = this.#walk(node, after.failed);
        after = { ok: joinFolders(after.ok, next.ok), failed: next.failed };
      }
    }
    return after;
  }

  /** Loops, cases, tests and pieces of words. A loop that moves may stand anywhere when it comes round. */
  #other(node: ShellNode, folders: Folders): After {
    const why = judgeConstruct(node);
    if (why !== undefined) this.#doubt(textOfNode(node), why);
    const repeats = /^(For|ArithmeticFor|Select|While|Case)$/.test(node.type) && this.#moves;
    const within = repeats ? "unknown" : folders;
    const ends: Folders[] = [within];
    forEachChild(node, (child) => {
      if (child.type === "Redirect" || child.type === "HereDoc" || child.type === "HereString")
        this.#redirect(child, within);
      else {
        const end = this.#walk(child, within);
        ends.push(end.ok, end.failed);
      }
    });
    return same(joinFolders(...ends));
  }

  #command(node: Command, folders: Folders): After {
    const command = simpleCommandOf(node);
    const words =
      command.name === undefined ? [] : [command.name, ...command.args.map((word) => this.#guess(word))];
    const assignments: string[] = [];
    for (const part of node.prefix) {
      if (part.type !== "Assignment") continue;
      assignments.push(part.text);
      const elements = part.value.type === "ArrayValue" ? part.value.elements : [];
      if (part.index !== undefined || elements.some((element) => element.text.startsWith("[")))
        this.#doubt(part.text, "the shell evaluates the index");
      const value = part.value.type === "Word" ? wordOf(part.value) : undefined;
      if (value?.kind === "literal") this.#variables.set(part.name, value.text);
      else this.#variables.delete(part.name);
      this.#nested(part, folders);
    }
    for (const part of node.suffix)
      if (part.type === "Word" || part.type === "Assignment") this.#nested(part, folders);
    if (node.name !== undefined) this.#nested(node.name, folders);
    for (const redirect of command.redirects) this.#redirect(redirect, folders);
    const text = [...assignments, ...words.map((word) => word.source)].join(" ");
    const part = this.#commandPart({ words, assignments, folders, text });
    (this.#suspect ? this.suspects : this.commands).push(part);
    // Not by a path, not through a wrapper, not in a shell of its own: those start the program of that name.
    if (this.#depth === 1 && command.name?.kind === "literal" && this.#functions.has(command.name.text))
      this.functionCalls.add(part);
    if (shells.has(part.program ?? "")) this.#shellInput(command.redirects, folders);
    return this.#after(part, folders);
  }

  #guess(word: ShellWord): ShellWord {
    if (word.kind !== "computed") return word;
    let known = true;
    const likely = word.text.replace(/\$(?:(\w+)|\{(\w+)\})/g, (whole, plain, braced) => {
      const value = this.#variables.get(plain ?? braced);
      known &&= value !== undefined;
      return value ?? whole;
    });
    return known && !/[$`{]/.test(likely) ? { ...word, likely } : word;
  }

  /** Substitutions inside a word or an assignment. */
  #nested(node: Word | ShellNode, folders: Folders): void {
    forEachChild(node, (child) => {
      if (child.type === "Script") this.#walk(child, folders);
      else {
        const why = child.type === "Word" || child.type === "ArrayValue" ? undefined : judgeConstruct(child);
        if (why !== undefined) this.#doubt(textOfNode(child), why);
        this.#nested(child, folders);
      }
    });
  }

  #commandPart(given: {
    words: readonly ShellWord[];
    assignments: readonly string[];
    folders: Folders;
    text: string;
  }): CommandPart {
    const { words, folders, text } = given;
    const [name, ...args] = words;
    const program = programOf({ name, args, assignments: [], redirects: [] });
    const base = { ...given, text: shorten(text), program };
    if (name !== undefined && program === undefined)
      return {
        ...base,
        carried: [],
        transparent: false,
        hidden: `${name.source} hides which command it runs`,
      };
    const carrying = program === undefined ? undefined : findCarried(program, words);
    this.#collectSuspects(program ?? "", words, folders);
    const escaped = words.find((word) => word.source.startsWith("\\-"));
    const hidden = escaped === undefined ? undefined : `${escaped.source} hides an option`;
    if (carrying === undefined) return { ...base, carried: [], transparent: false, hidden };
    switch (carrying.kind) {
      case "unknown":
        return { ...base, carried: [], transparent: false, hidden: carrying.why };
      case "script":
        if (!this.#suspect) this.readText(carrying.script.text, folders, { suspect: false });
        return { ...base, carried: [], transparent: true, hidden };
      case "commands":
        return {
          ...base,
          transparent: !carrying.adds,
          hidden,
          carried: carrying.carried.map((each) => ({
            start: each.start,
            part: this.#commandPart({
              words: each.words,
              assignments: each.assignments.map((word) => word.source),
              folders:
                each.folder === undefined ? folders : moveFolders(folders, each.folder, this.#homeFolder),
              text: each.words.map((word) => word.source).join(" "),
            }),
          })),
        };
    }
  }

  /** Words of a carrier that may be a command or a script, however its options are meant. */
  #collectSuspects(program: string, words: readonly ShellWord[], folders: Folders): void {
    for (const start of suspectStarts(program, words)) {
      // What a rule names stands among the first words.
      const rest = words.slice(start, start + maxSuspectWords);
      const [name, ...args] = rest;
      const inner = programOf({ name, args, assignments: [], redirects: [] });
      if (inner === undefined) continue;
      this.suspects.push({
        text: shorten(rest.map((word) => word.source).join(" ")),
        words: rest,
        program: inner,
        assignments: [],
        folders,
        carried: [],
        transparent: false,
        hidden: undefined,
      });
    }
    if (!mayRunText(program)) return;
    for (const word of words.slice(1)) {
      const text = word.text.replace(/^(?:--?[\w-]+=|-S|\w+=(?=['"]))(['"]?)(.*)\1$/s, "$2");
      if (/\s/.test(text) && word.kind !== "pattern") this.readText(text, folders, { suspect: true });
    }
    if (program === "eval")
      this.readText(
        words
          .slice(1)
          .map((word) => word.text)
          .join(" "),
        folders,
        { suspect: true },
      );
  }

  /** `echo rm x | sh` */
  #pipedText(commands: readonly ShellNode[], folders: Folders): void {
    const simple = commands.map((node) => (node.type === "Command" ? simpleCommandOf(node) : undefined));
    const reader = simple.findLastIndex(
      (command) => command !== undefined && shells.has(programOf(command) ?? ""),
    );
    for (const command of simple.slice(0, Math.max(reader, 0))) {
      if (command === undefined) continue;
      const texts = command.args.map((word) => word.text).filter((text) => !/^-[neE]+$/.test(text));
      this.readText(texts.join(" "), folders, { suspect: true });
      this.#shellInput(command.redirects, folders);
    }
  }

  /** What a shell is given to read is a script. */
  #shellInput(redirects: readonly Redirection[], folders: Folders): void {
    for (const redirect of redirects) {
      if (redirect.type === "HereDoc") this.readText(redirect.body.text, folders, { suspect: true });
      if (redirect.type === "HereString" && redirect.target !== undefined)
        this.readText(wordOf(redirect.target).text, folders, { suspect: true });
    }
  }

  #redirect(redirect: Redirection, folders: Folders): void {
    forEachChild(redirect, (child) => this.#nested(child, folders));
    if (redirect.type === "HereString") return;
    if (redirect.type === "HereDoc") {
      const plain = /^(\\?\w+|'\w+'|"\w+")$/.test(redirect.delimiter?.text ?? "");
      if (!plain || redirect.closing === undefined)
        this.#doubt("<<", "the end of a here-document is not plain to see");
      return;
    }
    const word = redirect.target === undefined ? undefined : this.#guess(wordOf(redirect.target));
    const text = `${redirect.operator} ${word?.source ?? ""}`;
    if (redirect.descriptor?.type === "FileDescriptorVariable") this.#doubt(text, "it sets a variable");
    const copies = redirect.operator === ">&" || redirect.operator === "<&";
    if (copies && word?.kind === "literal" && /^(\d+-?|-)$/.test(word.text)) return;
    const access = redirect.operator === "<" ? "read" : "write";
    (this.#suspect ? this.suspectFiles : this.files).push({ text, word, access, folders });
  }

  #after(part: CommandPart, folders: Folders): After {
    let mover: CommandPart = part;
    while (mover.transparent && mover.carried[0] !== undefined) mover = mover.carried[0].part;
    switch (mover.program) {
      case "cd":
      case "pushd": {
        const operands = mover.words.slice(1).filter((word) => !/^(-[LPe@]+|--)$/.test(word.text));
        if (operands.length > 1 || mover.assignments.length > 0) return same("unknown");
        const ok = moveFolders(folders, operands[0], this.#homeFolder);
        // Through a wrapper it may be a program, which moves nothing.
        return { ok: mover === part ? ok : joinFolders(ok, folders), failed: folders };
      }
      case "popd":
        return same("unknown");
      default:
        // A script that is run in place may move, too.
        return mover.hidden !== undefined && /^(eval|source|\.|builtin)$/.test(mover.program ?? "")
          ? same("unknown")
          : same(folders);
    }
  }
}

function same(folders: Folders): After {
  return { ok: folders, failed: folders };
}

function textOfNode(node: ShellNode): string {
  return shorten("text" in node && typeof node.text === "string" ? node.text : node.type);
}
