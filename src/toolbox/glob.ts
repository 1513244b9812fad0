import { resolve, sep } from "node:path";
import * as z from "zod";
import { throwIfCancelled } from "../base/cancellation.ts";
import { compileGlob } from "../base/glob.ts";
import { groupDigits } from "../base/group-digits.ts";
import type { FileInfo } from "../base/world.ts";
import { expandHome } from "../permissions/locate-path.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { describeAccessError } from "./find-file.ts";
import { formatCount } from "./line-numbers.ts";
import { displayPath, resolvePath } from "./resolve-path.ts";
import { createRipgrep, type Ripgrep } from "./ripgrep.ts";
import { walkFiles } from "./walk-files.ts";

const GlobInput = z.object({
  pattern: z.string().min(1).describe("Such as `**/*.ts`, `src/**/*.{js,jsx}` or `docs/*.md`"),
  path: z.string().optional().describe("The folder to search. Default: the current folder"),
});

export interface GlobOutput {
  /** Newest first, as shown. */
  readonly files: readonly string[];
  readonly total: number;
  readonly text: string;
}

const maxListedFiles = 1000;

export function createGlobTool(options: { ripgrep?: Ripgrep } = {}): Tool {
  const ripgrep = options.ripgrep ?? createRipgrep();
  return defineTool({
    name: "Glob",
    description,
    input: GlobInput,
    isReadOnly: () => true,
    interruptBehavior: "cancel",
    async call(input, context): Promise<GlobOutput> {
      const folder = resolvePath(input.path ?? ".", context);
      await refuseUnlessFolder(folder, context);
      const found = await findMatching({ pattern: input.pattern, folder, context, ripgrep });
      const newest = await sortNewestFirst(found, context);
      const files = newest.slice(0, maxListedFiles).map((path) => displayPath(path, context));
      const total = newest.length;
      if (total === 0) {
        const text = `No files match ${input.pattern} in ${displayPath(folder, context)}. Files that git ignores are not looked at.`;
        return { files, total, text };
      }
      const more = total - files.length;
      const note = more > 0 ? [`(${formatCount(more, "more file")}: use a narrower pattern.)`] : [];
      return { files, total, text: [...files, ...note].join("\n") };
    },
    toResult: (output) => output.text,
    maxResultChars: 100_000,
  });
}

const description = `Finds files by name. Takes a glob pattern (\`**\` for any folders, \`*\`, \`?\`, \`{a,b}\`, \`[abc]\`) and returns the paths of matching files, the most recently changed first, at most ${groupDigits(maxListedFiles)}.

A pattern without \`**/\` matches only in the folder itself: use \`**/*.ts\` to search below it. Hidden files are found; files ignored by git are not, unless the pattern begins with the ignored folder. Folders are not listed. To find files by what they contain use Grep.`;

async function refuseUnlessFolder(folder: string, context: ToolContext): Promise<void> {
  const shown = displayPath(folder, context);
  const info = await context.world.files.stat(folder).catch((error: unknown) => {
    throw describeAccessError(error, shown);
  });
  if (info.kind !== "folder")
    throw new ToolFailure(`${shown} is not a folder. Give the folder to search as path.`);
}

interface Search {
  readonly pattern: string;
  readonly folder: string;
  readonly context: ToolContext;
  readonly ripgrep: Ripgrep;
}

/** Absolute paths, in no particular order. */
async function findMatching(search: Search): Promise<string[]> {
  const { folder, context } = search;
  const pattern = expandHome(search.pattern, context.world.homeFolder);
  if (pattern.includes("\0")) throw new ToolFailure("The pattern contains a NUL character.");
  const found = new Set<string>();
  // Names may contain what looks like a pattern: `[id].ts`.
  const literal = resolve(folder, pattern);
  if (await hasKind({ path: literal, kind: "file", context })) found.add(literal);
  const { base, rest } = splitPattern(pattern);
  const root = resolve(folder, base);
  if (rest === "" || !(await hasKind({ path: root, kind: "folder", context }))) return [...found];
  const matches = compileGlob(rest);
  for (const path of await listFiles({ ...search, root })) if (matches(path)) found.add(resolve(root, path));
  return [...found];
}

/** The search begins in the deepest folder that the pattern names, which is also how ignored folders are reached. */
function splitPattern(pattern: string): { base: string; rest: string } {
  // With escapes or a negation the two parts do not simply add up to the pattern.
  if (pattern.startsWith("!") || pattern.includes("\\")) return { base: "", rest: pattern };
  const segments = pattern.split("/");
  const first = segments.findIndex((segment) => /[*?[{(]/.test(segment));
  if (first === -1) return { base: pattern, rest: "" };
  const base = segments.slice(0, first).join("/");
  return { base: first === 1 && base === "" ? "/" : base, rest: segments.slice(first).join("/") };
}

async function hasKind(options: {
  path: string;
  kind: FileInfo["kind"];
  context: ToolContext;
}): Promise<boolean> {
  return options.context.world.files.stat(options.path).then(
    (info) => info.kind === options.kind,
    () => false,
  );
}

/** Relative to `root`. */
async function listFiles({ root, context, ripgrep }: Search & { root: string }): Promise<string[]> {
  const run = await ripgrep.run({
    args: ["--files", "--hidden", "--null", "--glob=!.git", "--", "./"],
    cwd: root,
    context,
  });
  if (run?.isCut)
    throw new ToolFailure(
      `There are too many files below ${displayPath(root, context)}. Search a folder further down.`,
    );
  if (run !== undefined)
    return run.stdout
      .split("\0")
      .slice(0, -1)
      .map((path) => path.replace(/^\.[\\/]/, "").replaceAll(sep, "/"));
  const paths: string[] = [];
  for await (const path of walkFiles(root, context)) paths.push(path);
  return paths;
}

const statsAtOnce = 256;

async function sortNewestFirst(paths: readonly string[], context: ToolContext): Promise<string[]> {
  const dated: { path: string; mtimeMs: number }[] = [];
  for (let start = 0; start < paths.length; start += statsAtOnce) {
    throwIfCancelled(context.signal);
    const batch = paths.slice(start, start + statsAtOnce);
    dated.push(
      ...(await Promise.all(batch.map(async (path) => ({ path, mtimeMs: await mtimeOf(path, context) })))),
    );
  }
  dated.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? -1 : 1));
  return dated.map((file) => file.path);
}

/** A file that is gone by now is listed last. */
async function mtimeOf(path: string, context: ToolContext): Promise<number> {
  return context.world.files.stat(path).then(
    (info) => info.mtimeMs,
    () => 0,
  );
}
