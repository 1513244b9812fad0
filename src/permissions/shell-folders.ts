/** Where a shell may stand: `cd a; x` runs `x` in `a`, or here if there is no `a`. */
import { resolve } from "node:path";
import { expandHome } from "./locate-path.ts";
import { protectedMatches } from "./protected-paths.ts";
import type { ShellWord } from "./shell-words.ts";

/** All the folders it may be, or nobody knows. */
export type Folders = ReadonlySet<string> | "unknown";

const maxFolders = 16;

export function joinFolders(...all: readonly Folders[]): Folders {
  const joined = new Set<string>();
  for (const folders of all) {
    if (folders === "unknown") return "unknown";
    for (const folder of folders) joined.add(folder);
  }
  return joined.size > maxFolders ? "unknown" : joined;
}

/** After `cd word`. */
export function moveFolders(folders: Folders, word: ShellWord | undefined, homeFolder: string): Folders {
  if (word === undefined) return new Set([homeFolder]);
  const path = literalPathOf(word, homeFolder);
  if (path === undefined || path === "-" || path === "") return "unknown";
  if (path.startsWith("/")) return new Set([path]);
  if (folders === "unknown") return "unknown";
  // Not resolved by letters: `link/..` is the folder above the link's target.
  return new Set(
    [...folders].map((folder) => (path.includes("..") ? `${folder}/${path}` : resolve(folder, path))),
  );
}

/** The path a word stands for, `~` taken for what the shell makes of it; undefined when nobody knows. */
export function literalPathOf(word: ShellWord, homeFolder: string): string | undefined {
  if (word.kind !== "literal") return undefined;
  // In quotes, `~` is a name like others.
  if (!word.source.startsWith("~")) return word.text.startsWith("~") ? `./${word.text}` : word.text;
  return word.text === "~" || word.text.startsWith("~/") ? expandHome(word.text, homeFolder) : undefined;
}

/** What a word may become. Only good for finding harm: other names are as possible. */
export function likelyPathsOf(word: ShellWord, homeFolder: string): string[] {
  const literal = literalPathOf(word, homeFolder);
  if (literal !== undefined) return [literal];
  if (word.kind === "pattern")
    return protectedMatches(word.source.startsWith("~/") ? expandHome(word.text, homeFolder) : word.text);
  const text = word.likely ?? word.text.replace(/^\$(PWD\b|\{PWD\})/, ".");
  return /[$`{]/.test(text) ? [] : [text];
}
