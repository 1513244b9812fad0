/** Patterns for paths, in the way of .gitignore: what they match covers everything below it. */
import { matchesName, type NamePattern, parseNamePattern } from "./name-pattern.ts";

export interface PathPattern {
  /** Where the pattern starts: at the root of the file system, in the home folder, or in the folder of its rule. */
  readonly start: "absolute" | "home" | "folder";
  /** A name each; `**` stands for any number of folders. */
  readonly names: readonly (NamePattern | "**")[];
  readonly ignoreCase: boolean;
  /** How many folders above the start it reaches with leading `..`. */
  readonly up: number;
  readonly parts: readonly string[];
}

export function parsePathPattern(given: string, options: { ignoreCase: boolean }): PathPattern | string {
  if (given === "") return "there is no path between the parentheses";
  if (given.includes("\0")) return "a path can not contain a NUL character";
  const { start, rest } = startOf(given);
  if (start === undefined) return "the home folder of another user is not known";
  // A slash at the end says "a folder" and must not make the rule mean less.
  const segments = rest.split("/").filter((segment) => segment !== "" && segment !== ".");
  let up = 0;
  const way: string[] = [];
  for (const segment of segments) {
    if (segment !== "..") way.push(segment);
    else if (way.length === 0) up += 1;
    else if (way.at(-1)?.includes("*") === true) return '".." can not follow a "*"';
    else way.pop();
  }
  // What matches covers all below it, so that `**` at the end says nothing more.
  while (way.at(-1) === "**") way.pop();
  // As in .gitignore: a single name matches at any depth, a path only where it starts.
  const anyDepth = start === "folder" && up === 0 && segments.length === 1 && !/^\.?\//.test(given);
  const parts = anyDepth && way.length > 0 ? ["**", ...way] : way;
  const names: (NamePattern | "**")[] = [];
  for (const part of parts) {
    const name = part === "**" ? part : parseNamePattern(fold(part, options.ignoreCase));
    if (typeof name === "object" && "problem" in name) return name.problem;
    names.push(name);
  }
  return { start, up, parts: way, names, ignoreCase: options.ignoreCase };
}

/** `path` is relative to where the pattern starts, with `/` between its parts and none at its ends. */
export function matchesPattern({ names, ignoreCase }: PathPattern, path: string): boolean {
  const given = fold(path, ignoreCase)
    .split("/")
    .filter((name) => name !== "");
  let [at, name, star, mark] = [0, 0, -1, 0];
  while (name < names.length) {
    const next = names[name];
    const found = given[at];
    if (next === "**") {
      star = name;
      mark = at;
      name += 1;
    } else if (next !== undefined && found !== undefined && matchesName(next, found)) {
      at += 1;
      name += 1;
    } else if (star >= 0 && mark < given.length) {
      mark += 1;
      at = mark;
      name = star + 1;
    } else return false;
  }
  // What is left of the path is below what matched.
  return true;
}

function fold(text: string, ignoreCase: boolean): string {
  return ignoreCase ? text.normalize("NFC").toLowerCase() : text;
}

/** Whether a word with `*` of the shell, such as `.en*`, may become a path that the pattern matches. */
export function mayMeet(pattern: PathPattern, glob: string): boolean {
  const named = pattern.parts.filter((part) => !/[*?[{]/.test(part));
  if (named.length === 0) return true;
  const given = glob.split("/").filter((part) => part !== "" && part !== ".");
  return named.some((name) => given.some((part) => part === name || globMeans(part, name)));
}

function globMeans(glob: string, name: string): boolean {
  // The shell leaves hidden files out, unless the dot is written.
  if (!/[*?[(]/.test(glob) || (name.startsWith(".") && !glob.startsWith("."))) return false;
  const pattern = parseNamePattern(glob.toLowerCase());
  return "problem" in pattern || glob.includes("(") || matchesName(pattern, name.toLowerCase());
}

function startOf(given: string): { start: PathPattern["start"] | undefined; rest: string } {
  if (given.startsWith("//")) return { start: "absolute", rest: given.slice(1) };
  if (given === "~" || given.startsWith("~/")) return { start: "home", rest: given.slice(1) };
  if (/^~[A-Za-z]/.test(given)) return { start: undefined, rest: given };
  return { start: "folder", rest: given };
}
