import { basename, dirname, join } from "node:path";
import * as z from "zod";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { describeAccessError } from "./find-file.ts";
import { formatCount } from "./line-numbers.ts";
import { displayPath, resolvePath } from "./resolve-path.ts";
import { createRipgrep, type Ripgrep } from "./ripgrep.ts";
import { searchInJavaScript } from "./search-in-javascript.ts";
import type { FileMatches, TextSearch, TextSearchResult } from "./search-text.ts";
import { searchWithRipgrep } from "./search-with-ripgrep.ts";

const lineCount = z.int().min(0).max(10_000);

const GrepInput = z.object({
  pattern: z.string().min(1).describe("A regular expression"),
  path: z.string().optional().describe("The file or folder to search. Default: the current folder"),
  glob: z.string().optional().describe("Only files that match, such as `*.ts` or `src/**/*.{js,jsx}`"),
  type: z.string().optional().describe("Only files of this type: ts, js, py, rust, go, java, ..."),
  output_mode: z
    .enum(["content", "files_with_matches", "count"])
    .optional()
    .describe("Matching lines, paths of files with matches (default), or numbers of matches by file"),
  "-i": z.boolean().optional().describe("Ignore case"),
  "-n": z.boolean().optional().describe("Show line numbers, in content mode. Default: true"),
  "-A": lineCount.optional().describe("Lines to show after each match, in content mode"),
  "-B": lineCount.optional().describe("Lines to show before each match, in content mode"),
  "-C": lineCount.optional().describe("Lines to show before and after each match, in content mode"),
  multiline: z.boolean().optional().describe("Let matches span lines; `.` then matches line ends too"),
  head_limit: z.int().min(0).optional().describe("Show only this many lines or paths. 0 or absent: all"),
  offset: z.int().min(0).optional().describe("Leave out this many lines or paths first"),
});
type GrepInput = z.infer<typeof GrepInput>;

export interface GrepOutput {
  readonly fileCount: number;
  readonly matchCount: number;
  readonly text: string;
}

export function createGrepTool(options: { ripgrep?: Ripgrep } = {}): Tool {
  const ripgrep = options.ripgrep ?? createRipgrep();
  return defineTool({
    name: "Grep",
    description,
    input: GrepInput,
    isReadOnly: () => true,
    interruptBehavior: "cancel",
    async call(input, context): Promise<GrepOutput> {
      const search = await planSearch(input, context);
      const found =
        (await searchWithRipgrep({ search, ripgrep, context })) ??
        (await searchInJavaScript(search, context));
      const result = await withoutHidden(found, search, context);
      return {
        fileCount: result.files.length,
        matchCount: result.files.reduce((sum, file) => sum + file.count, 0),
        text: formatResult({ input, search, result, context }),
      };
    },
    toResult: (output) => output.text,
  });
}

const description = `Searches the contents of files for a regular expression, fast, also in large trees.

Returns the paths of files with matches; with output_mode content the matching lines (\`path:line:text\`, with -A, -B, -C also the lines around them), with count the number of matches by file. Narrow the search with path, glob or type; page through long answers with head_limit and offset.

Hidden files are searched; files ignored by git and binary files are not. Characters such as ( { [ . must be escaped to be meant literally. Matches stay within a line unless multiline is set. Prefer this to grep in a shell.`;

async function planSearch(input: GrepInput, context: ToolContext): Promise<TextSearch> {
  if ([input.pattern, input.glob, input.type].some((value) => value?.includes("\0")))
    throw new ToolFailure("The input contains a NUL character, which cannot be searched for.");
  const path = resolvePath(input.path ?? ".", context);
  const shown = displayPath(path, context);
  const info = await context.world.files.stat(path).catch((error: unknown) => {
    throw describeAccessError(error, shown);
  });
  if (info.kind !== "file" && info.kind !== "folder")
    throw new ToolFailure(`${shown} is neither a file nor a folder and cannot be searched.`);
  return {
    root: info.kind === "folder" ? path : dirname(path),
    fileName: info.kind === "file" ? basename(path) : undefined,
    pattern: input.pattern,
    ignoreCase: input["-i"] ?? false,
    // A pattern that names a line end would otherwise never match, without a word.
    multiline: (input.multiline ?? false) || mentionsLineFeed(input.pattern),
    dotMatchesAll: input.multiline ?? false,
    glob: input.glob,
    type: input.type,
    linesBefore: input["-B"] ?? input["-C"] ?? 0,
    linesAfter: input["-A"] ?? input["-C"] ?? 0,
    wanted: wantedBy[input.output_mode ?? "files_with_matches"],
  };
}

function mentionsLineFeed(pattern: string): boolean {
  return /\n|(?<!\\)(?:\\\\)*\\n/.test(pattern);
}

const wantedBy = { content: "lines", files_with_matches: "files", count: "counts" } as const;

/** A rule that keeps a file from being read keeps it from being searched (PE-4). */
async function withoutHidden(
  found: TextSearchResult,
  search: TextSearch,
  { agent }: ToolContext,
): Promise<TextSearchResult> {
  const { mayRead } = agent;
  if (mayRead === undefined) return found;
  const visible = await Promise.all(found.files.map((file) => mayRead(join(search.root, file.path), agent)));
  const files = found.files.filter((_, index) => visible[index]);
  const hidden = found.files.length - files.length;
  if (hidden === 0) return found;
  return {
    ...found,
    files,
    notes: [...found.notes, `${formatCount(hidden, "file")} left out: rules keep them from being read.`],
  };
}

function formatResult(options: {
  input: GrepInput;
  search: TextSearch;
  result: TextSearchResult;
  context: ToolContext;
}): string {
  const { input, search, result, context } = options;
  const notes = result.notes.map((note) => `(${note})`);
  if (result.files.length === 0) return ["No matches.", ...notes].join("\n");
  const pathOf = (file: FileMatches) => displayPath(join(search.root, file.path), context);
  const entries = entriesOf({ input, search, files: result.files, pathOf });
  const offset = input.offset ?? 0;
  const shown = entries.slice(offset, input.head_limit ? offset + input.head_limit : undefined);
  const lines = shown.length === 0 ? ["(Nothing is left at this offset.)"] : shown;
  const total = search.wanted === "counts" ? [totalOf(result.files)] : [];
  return [
    ...lines,
    ...total,
    ...pageNote({ offset, shown: shown.length, all: entries.length }),
    ...notes,
  ].join("\n");
}

function entriesOf(options: {
  input: GrepInput;
  search: TextSearch;
  files: readonly FileMatches[];
  pathOf: (file: FileMatches) => string;
}): string[] {
  const { input, search, files, pathOf } = options;
  if (search.wanted === "files") return files.map(pathOf);
  if (search.wanted === "counts") return files.map((file) => `${pathOf(file)}:${file.count}`);
  const hasContext = search.linesBefore > 0 || search.linesAfter > 0;
  const showsNumbers = input["-n"] ?? true;
  const entries: string[] = [];
  for (const file of files) {
    const path = pathOf(file);
    let previous: number | undefined;
    for (const line of file.lines) {
      if (hasContext && entries.length > 0 && previous !== line.number - 1) entries.push("--");
      previous = line.number;
      const mark = line.isMatch ? ":" : "-";
      entries.push(`${path}${mark}${showsNumbers ? `${line.number}${mark}` : ""}${line.text}`);
    }
  }
  return entries;
}

function totalOf(files: readonly FileMatches[]): string {
  const matches = files.reduce((sum, file) => sum + file.count, 0);
  return `Total: ${matches} in ${formatCount(files.length, "file")}`;
}

function pageNote(options: { offset: number; shown: number; all: number }): string[] {
  const { offset, shown, all } = options;
  const next = offset + shown;
  if (shown === 0) return [`(There are ${all} in all.)`];
  if (next < all) return [`(${offset + 1} to ${next} of ${all}. Go on with offset ${next}.)`];
  return offset > 0 ? [`(${offset + 1} to ${next} of ${all}, the end.)`] : [];
}
