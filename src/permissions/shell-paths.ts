/** The paths of a command line, each judged in every folder where the shell may stand. */
import type { PermissionDecision, PermissionMode } from "../contracts/permission.ts";
import { type CommandFiles, filesOfCommand } from "./command-files.ts";
import { commandsIn } from "./forbidden-command.ts";
import type { PathFacts, PathSurroundings } from "./inspect-path.ts";
import { wayInside } from "./locate-path.ts";
import { factsOf, type PathUse, permissionFor, restrictionOn } from "./path-access.ts";
import { mayMeet } from "./path-pattern.ts";
import type { ParsedRule } from "./rule.ts";
import { citeRule } from "./rule-book.ts";
import { type Folders, likelyPathsOf, literalPathOf } from "./shell-folders.ts";
import { type CommandPart, type FilePart, isDevice, type ShellParts } from "./shell-parts.ts";
import type { ShellWord } from "./shell-words.ts";

export interface ShellPaths {
  /** What stands whatever allows: denied, protected, to be asked. */
  restrictions(): Promise<PermissionDecision[]>;
  /** Why a redirect needs a question; undefined when none does. */
  whyNotRedirected(): Promise<PermissionDecision | undefined>;
  /** Why these files can not be read without a question. */
  whyNotReadable(part: CommandPart, files: CommandFiles): Promise<string | undefined>;
  /**
   * All files of a plain file command lead to where the mode accepts changes, or into a folder of the agent's own,
   * and none is such a folder itself.
   */
  areAccepted(part: CommandPart): Promise<boolean>;
  standsInside(part: CommandPart): Promise<boolean>;
  /** By letters alone. */
  isKnownInside(folder: ShellWord, part: CommandPart): boolean;
}

export function createShellPaths(options: {
  surroundings: PathSurroundings;
  parts: ShellParts;
  mode: PermissionMode;
}): ShellPaths {
  const { surroundings, parts, mode } = options;
  const { homeFolder, roots, root } = surroundings;

  const judge = async (use: PathUse): Promise<{ use: PathUse; facts: PathFacts }> => ({
    use,
    facts: await factsOf(surroundings, use),
  });

  /** Undefined when a folder or the path is not known. `likely`: good enough to find harm. */
  const usesOf = (
    word: ShellWord | undefined,
    where: { access: "read" | "write"; folders: Folders; likely: boolean },
  ): PathUse[] | undefined => {
    if (word === undefined) return undefined;
    const literal = literalPathOf(word, homeFolder) ?? folderOfPattern(word, homeFolder);
    const found = literal === undefined ? undefined : [literal];
    const paths = where.likely ? new Set([...(found ?? []), ...likelyPathsOf(word, homeFolder)]) : found;
    // Nobody knows where a relative path leads; as a likely one it may lead to where the shell started.
    const folders = where.folders !== "unknown" ? [...where.folders] : where.likely ? [root] : undefined;
    const uses: PathUse[] = [];
    for (const path of paths ?? []) {
      const starts = path.startsWith("/") ? ["/"] : folders;
      if (starts === undefined) return undefined;
      uses.push(...starts.map((folder) => ({ path, folder, access: where.access, tool: undefined })));
    }
    return paths === undefined ? undefined : uses;
  };

  const allWords = (): { word: ShellWord | undefined; access: "read" | "write"; folders: Folders }[] => [
    ...[...parts.files, ...parts.suspectFiles].filter((file) => !isDevice(file)),
    ...commandsIn(parts.commands).flatMap((part) => {
      const { reads, mentions } = filesOfCommand(part);
      return [...reads, ...mentions].map((word) => ({
        word,
        access: "read" as const,
        folders: part.folders,
      }));
    }),
    ...commandsIn([...parts.commands, ...parts.suspects]).flatMap((part) =>
      filesOfCommand(part).writes.map((word) => ({ word, access: "write" as const, folders: part.folders })),
    ),
  ];

  /** A rule that keeps files from being read, and that a word may lead to all the same. */
  const findReadRule = (word: ShellWord | undefined): ParsedRule | undefined =>
    (["deny", "ask"] as const)
      .flatMap((behavior) => surroundings.book.rulesFor(behavior, new Set(["Read"])))
      .find(
        ({ content }) =>
          content?.kind === "path" && (word === undefined || mayMeet(content.pattern, word.text)),
      );

  /** What may read a file that a rule keeps from being read, though none is named. */
  const possibleReads = (): PermissionDecision[] =>
    commandsIn(parts.commands).flatMap((part) => {
      const { reads, readsMany } = filesOfCommand(part);
      const patterns = reads.filter((word) => word.kind === "pattern");
      const rule = readsMany
        ? findReadRule(undefined)
        : patterns.map(findReadRule).find((each) => each !== undefined);
      if (rule === undefined) return [];
      const reason = `it may read what the ${rule.source} rule ${rule.text} is about, in "${part.text}"`;
      return [{ decision: "ask" as const, reason, part: part.text, ...citeRule(rule) }];
    });

  const standsInside = async (part: CommandPart): Promise<boolean> => {
    const uses = usesOf(here, { access: "read", folders: part.folders, likely: false });
    if (uses === undefined) return false;
    const all = await Promise.all(uses.map(judge));
    return all.every(({ facts }) => facts.inside || facts.own !== undefined);
  };

  return {
    async restrictions() {
      const uses = new Map<string, PathUse>();
      for (const { word, access, folders } of allWords())
        for (const use of usesOf(word, { access, folders, likely: true }) ?? [])
          uses.set(`${use.access}\0${use.folder}\0${use.path}`, use);
      const judged = await Promise.all([...uses.values()].map(judge));
      const found = judged.flatMap(({ use, facts }) => restrictionOn(facts, use, mode) ?? []);
      return mode === "bypassPermissions" ? found : [...found, ...possibleReads()];
    },
    async whyNotRedirected() {
      for (const file of parts.files) {
        if (isDevice(file)) continue;
        const uses = usesOf(file.word, { ...file, likely: false });
        const known = file.word?.kind === "literal" && !isNetwork(file);
        if (uses === undefined || !known)
          return { decision: "ask", reason: `where "${file.text}" leads to is not known`, part: file.text };
        for (const use of uses) {
          const { facts } = await judge(use);
          const decision = permissionFor(facts, use, mode);
          if (decision.decision !== "allow") return decision;
        }
      }
      return undefined;
    },
    async whyNotReadable(part, files) {
      for (const word of files.reads) {
        const uses = usesOf(word, { access: "read", folders: part.folders, likely: false });
        if (uses === undefined) return `which file ${word.source} is can not be known`;
        for (const use of uses) {
          const { facts } = await judge(use);
          const decision = permissionFor(facts, use, mode);
          if (decision.decision !== "allow") return decision.reason;
        }
      }
      const around = files.looksAround && !(await standsInside(part));
      return around ? "it looks at a folder that is not a working folder, or not known" : undefined;
    },
    async areAccepted(part) {
      if (mode !== "acceptEdits" && surroundings.ownFolders.length === 0) return false;
      const { reads, writes } = filesOfCommand(part);
      const needed = [
        ...reads.map((word) => ({ word, access: "read" as const })),
        ...writes.map((word) => ({ word, access: "write" as const })),
      ];
      for (const { word, access } of needed) {
        const uses = usesOf(word, { access, folders: part.folders, likely: false });
        if (uses === undefined || (word.kind === "pattern" && !isPlainPattern(word))) return false;
        for (const use of uses) {
          const { facts } = await judge(use);
          // The folder of a pattern may be one of them; the pattern means what is in it.
          const isFolder = facts.own === undefined ? facts.isRoot : facts.own === "folder";
          const mayBeFolder = word.kind !== "literal" || part.program === "cp" || part.program === "mv";
          const isThere =
            facts.own !== undefined || (facts.inside && (access === "read" || mode === "acceptEdits"));
          if (!isThere || (access === "write" && isFolder && !mayBeFolder)) return false;
        }
      }
      return true;
    },
    standsInside,
    isKnownInside(folder, part) {
      const uses = usesOf(folder, { access: "read", folders: part.folders, likely: false });
      const inside = ({ path, folder: start }: PathUse) =>
        !path.split("/").includes("..") &&
        roots.some((each) => wayInside(each, path.startsWith("/") ? path : `${start}/${path}`) !== undefined);
      return uses?.every(inside) ?? false;
    },
  };
}

const here: ShellWord = { text: ".", source: ".", kind: "literal", single: true, mayBeOption: false };

/** The shell opens network connections for these names. */
function isNetwork(file: FilePart): boolean {
  return /^\/+dev\/+(tcp|udp)(\/|$)/.test(file.word?.text ?? "");
}

/** `src/*.ts` stands for files in `src`: everything before the first part that is a pattern. */
function folderOfPattern(word: ShellWord, homeFolder: string): string | undefined {
  if (word.kind !== "pattern" || (word.source.startsWith("~") && !word.text.startsWith("~/")))
    return undefined;
  const text = word.source.startsWith("~/") ? `${homeFolder}/${word.text.slice(2)}` : word.text;
  const parts = text.split("/");
  const first = parts.findIndex((part) => /[*?[\]()!+@]/.test(part));
  if (first < 0 || parts.slice(first).some(mayLeadUp)) return undefined;
  return first === 0 ? "." : parts.slice(0, first).join("/") || "/";
}

/** Some shells let `.*` and `.?` stand for `..`, too. */
function mayLeadUp(part: string): boolean {
  return (
    part === ".." ||
    /^\.([*?@+!(]|\[(?![!^]\.\]))/.test(part) ||
    /^\.\.?[*?[@+!(]+$/.test(part) ||
    /^[@+?*!]?[[(].*\./.test(part)
  );
}

/** Only its last part is a pattern, and it does not stand for hidden files. */
function isPlainPattern(word: ShellWord): boolean {
  const parts = word.text.split("/");
  const last = parts.at(-1) ?? "";
  return (
    !last.startsWith(".") && !/[[({]/.test(last) && !parts.slice(0, -1).some((part) => /[*?[\]()]/.test(part))
  );
}
