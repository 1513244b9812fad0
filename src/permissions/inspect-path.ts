/** What there is to say about one path: which rules mean it, and where it leads. */
import { join } from "node:path";
import { type LocatedPath, type PathLocator, wayInside } from "./locate-path.ts";
import type { OwnFolder } from "./own-folders.ts";
import { matchesPattern } from "./path-pattern.ts";
import { isProtectedPath } from "./protected-paths.ts";
import type { Behavior, ParsedRule } from "./rule.ts";
import type { RuleBook } from "./rule-book.ts";

export interface PathSurroundings {
  readonly book: RuleBook;
  readonly locator: PathLocator;
  readonly homeFolder: string;
  readonly ignoreCase: boolean;
  readonly root: string;
  readonly roots: readonly string[];
  readonly sessionFolders: readonly string[];
  readonly ownFolders: readonly OwnFolder[];
}

export interface PathFacts {
  readonly path: string;
  readonly deny: ParsedRule | undefined;
  readonly ask: ParsedRule | undefined;
  readonly allow: ParsedRule | undefined;
  /** It leads to a place inside the working folders, whatever links are on the way. */
  readonly inside: boolean;
  /** It is one of the working folders itself. */
  readonly isRoot: boolean;
  readonly ofSession: boolean;
  /** It leads into a folder of the agent's own: to the folder itself, or to something in it. */
  readonly own: "folder" | "content" | undefined;
  readonly isProtected: boolean;
  readonly resolved: boolean;
  /** Where it leads; undefined when that can not be known. */
  readonly real: string | undefined;
}

export async function inspectPath(
  surroundings: PathSurroundings,
  use: {
    path: string;
    folder: string;
    physical: boolean;
    /** Only who changes a file needs to know whether it is protected. */
    changes: boolean;
    /** The tools whose rules are about this use. */
    tools: Readonly<Record<Behavior, ReadonlySet<string>>>;
    /** Of a rule without a condition: whether it counts for this use. */
    wholeToolCounts: (rule: ParsedRule) => boolean;
  },
): Promise<PathFacts> {
  const { locator, roots, sessionFolders } = surroundings;
  const located = await locator.locate(use.path, use);
  const ways = await waysFrom(roots, located, surroundings);
  // Only who is not inside anyway needs to be one of the session's own.
  const ofSession = ways.length === 0 && (await waysFrom(sessionFolders, located, surroundings)).length > 0;
  const find = async (behavior: Behavior): Promise<ParsedRule | undefined> => {
    for (const rule of rulesFor(behavior)) {
      if (
        rule.content === undefined
          ? use.wholeToolCounts(rule)
          : await means(rule, behavior, located, surroundings)
      )
        return rule;
    }
    return undefined;
  };
  // Most sessions have few rules about files, and every read comes through here.
  const rulesFor = (behavior: Behavior) => surroundings.book.rulesFor(behavior, use.tools[behavior]);
  const first = (behavior: Behavior) => (rulesFor(behavior).length === 0 ? undefined : find(behavior));
  return {
    path: located.named,
    deny: await first("deny"),
    ask: await first("ask"),
    allow: await first("allow"),
    inside: ways.length > 0,
    isRoot: ways.includes(""),
    ofSession,
    own: ownership(located, surroundings),
    isProtected: use.changes && (await isProtected(located, surroundings)),
    resolved: located.real !== undefined,
    real: located.real,
  };
}

async function isProtected(
  { named, real }: LocatedPath,
  { locator, roots, ownFolders }: PathSurroundings,
): Promise<boolean> {
  if (isProtectedPath(named, [...roots, ...ownFolders.map((folder) => folder.named)])) return true;
  if (real === undefined) return false;
  const realRoots = await Promise.all(roots.map((root) => locator.realFolder(root)));
  return isProtectedPath(real, [...realRoots, ...roots, ...ownFolders.map((folder) => folder.real)]);
}

function ownership({ real }: LocatedPath, { ownFolders, ignoreCase }: PathSurroundings): PathFacts["own"] {
  if (real === undefined) return undefined;
  const ways = ownFolders.map((folder) => wayInside(folder.real, real, ignoreCase));
  if (ways.some((way) => way !== undefined && way !== "")) return "content";
  return ways.includes("") ? "folder" : undefined;
}

/** The ways to it from those of the folders that it leads into. */
async function waysFrom(
  folders: readonly string[],
  { real }: LocatedPath,
  { locator, ignoreCase }: PathSurroundings,
): Promise<string[]> {
  if (real === undefined) return [];
  const ways: string[] = [];
  for (const folder of folders) {
    const way = wayInside(await locator.realFolder(folder), real, ignoreCase);
    if (way !== undefined) ways.push(way);
  }
  return ways;
}

/** A restriction holds for the name and for what it leads to; a permission only for what it leads to. */
async function means(
  rule: ParsedRule,
  behavior: Behavior,
  path: LocatedPath,
  surroundings: PathSurroundings,
): Promise<boolean> {
  if (rule.content?.kind !== "path") return false;
  const { pattern } = rule.content;
  const { locator, ignoreCase } = surroundings;
  for (const start of startsOf(rule, behavior, surroundings)) {
    const base = pattern.up === 0 ? start : join(start, "../".repeat(pattern.up));
    const realBase = await locator.realFolder(base);
    const pairs: [string, string | undefined][] = [[realBase, path.real]];
    if (behavior !== "allow") pairs.push([base, path.named], [realBase, path.named], [base, path.real]);
    for (const [folder, target] of pairs) {
      const way = target === undefined ? undefined : wayInside(folder, target, ignoreCase);
      if (way !== undefined && matchesPattern(pattern, way)) return true;
    }
  }
  return false;
}

/** Restrictions hold in every working folder: a copy of the project must not lose them. */
function startsOf(
  rule: ParsedRule,
  behavior: Behavior,
  { homeFolder, root, roots }: PathSurroundings,
): string[] {
  if (rule.content?.kind !== "path") return [];
  if (rule.content.pattern.start === "absolute") return ["/"];
  if (rule.content.pattern.start === "home") return [homeFolder];
  if (behavior === "allow") return [rule.folder ?? root];
  return [...new Set([...(rule.folder === undefined ? [] : [rule.folder]), root, ...roots])];
}
