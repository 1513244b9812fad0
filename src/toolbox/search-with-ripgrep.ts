import { ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { Ripgrep, RipgrepRun } from "./ripgrep.ts";
import {
  type FileMatches,
  type FoundLine,
  maxFoundLineChars,
  sortByPath,
  type TextSearch,
  type TextSearchResult,
} from "./search-text.ts";

/** Undefined if there is no search program on this machine. */
export async function searchWithRipgrep(options: {
  search: TextSearch;
  ripgrep: Ripgrep;
  context: ToolContext;
}): Promise<TextSearchResult | undefined> {
  const { search, ripgrep, context } = options;
  const run = await ripgrep.run({ args: argumentsOf(search), cwd: search.root, context });
  if (run === undefined) return undefined;
  if (run.code === 2 && run.stdout === "") throw describeError(run.stderr);
  const stdout = run.isCut ? withoutLastPart(run.stdout, search.wanted) : run.stdout;
  const parsed = search.wanted === "lines" ? parseLines(stdout) : parseFiles(stdout, search.wanted);
  return { files: sortByPath(parsed.files), notes: [...parsed.notes, ...notesOf(run)] };
}

/** Everything that comes from the model is the value of an option or stands behind `--`. */
function argumentsOf(search: TextSearch): string[] {
  const { wanted } = search;
  return [
    "--hidden",
    "--color=never",
    "--no-heading",
    "--with-filename",
    "--null",
    // `$` means the end of a line in files with CRLF too.
    "--crlf",
    // Look-around and back references work, and cost only those who use them.
    "--engine=auto",
    ...(search.ignoreCase ? ["--ignore-case"] : []),
    ...(search.multiline ? ["--multiline"] : []),
    ...(search.dotMatchesAll ? ["--multiline-dotall"] : []),
    ...(search.type === undefined ? [] : [`--type=${search.type}`]),
    ...(search.glob === undefined ? [] : [`--glob=${search.glob}`]),
    "--glob=!.git",
    ...(wanted === "files" ? ["--files-with-matches"] : []),
    ...(wanted === "counts" ? ["--count"] : []),
    ...(wanted === "lines" ? lineArguments(search) : []),
    `--regexp=${search.pattern}`,
    "--",
    search.fileName === undefined ? "./" : `./${search.fileName}`,
  ];
}

function lineArguments(search: TextSearch): string[] {
  return [
    "--line-number",
    `--max-columns=${maxFoundLineChars}`,
    "--max-columns-preview",
    `--before-context=${search.linesBefore}`,
    `--after-context=${search.linesAfter}`,
  ];
}

/** What was stopped ends somewhere in an entry. */
function withoutLastPart(stdout: string, wanted: TextSearch["wanted"]): string {
  return stdout.slice(0, stdout.lastIndexOf(wanted === "files" ? "\0" : "\n") + 1);
}

interface Parsed {
  readonly files: readonly FileMatches[];
  readonly notes: readonly string[];
}

/** `path NUL number (":" | "-") text`, or a remark without NUL, such as that a binary file matches. */
function parseLines(stdout: string): Parsed {
  const byPath = new Map<string, FoundLine[]>();
  const notes: string[] = [];
  for (const output of stdout.split(/\r?\n/)) {
    const pathEnd = output.indexOf("\0");
    const numbered = /^(\d+)([:-])/.exec(output.slice(pathEnd + 1, pathEnd + 24));
    if (pathEnd === -1 || numbered === null) {
      if (output !== "" && output !== "--") notes.push(withoutDot(output));
      continue;
    }
    const path = withoutDot(output.slice(0, pathEnd));
    const text = output.slice(pathEnd + 1 + numbered[0].length);
    const lines = byPath.get(path) ?? [];
    byPath.set(path, lines);
    lines.push({ number: Number(numbered[1]), text, isMatch: numbered[2] === ":" });
  }
  const files = [...byPath].map(([path, lines]) => ({
    path,
    count: lines.filter((line) => line.isMatch).length,
    lines,
  }));
  return { files, notes };
}

/** `path NUL`, or `path NUL count` and a line end. */
function parseFiles(stdout: string, wanted: "files" | "counts"): Parsed {
  const pattern = wanted === "files" ? /([^\0]+)\0/g : /([^\0]+)\0(\d+)\r?\n/g;
  const files = [...stdout.matchAll(pattern)].map(([, path, count]) => ({
    path: withoutDot(path ?? ""),
    count: Number(count ?? 1),
    lines: [],
  }));
  return { files, notes: [] };
}

function withoutDot(path: string): string {
  return path.replace(/^\.[\\/]/, "");
}

function notesOf(run: RipgrepRun): string[] {
  const notes = run.isCut ? ["The search was stopped because it found too much: narrow it down."] : [];
  if (run.stderr.trim() !== "") notes.push(`Not everything could be searched:\n${firstLines(run.stderr)}`);
  return notes;
}

function describeError(stderr: string): ToolFailure {
  if (/regex (parse error|could not be compiled)|PCRE2: error|regex error/i.test(stderr))
    return new ToolFailure(
      `The pattern is not a valid regular expression. To search for characters such as ( [ { literally, write a backslash before them.\n${firstLines(stderr)}`,
    );
  if (stderr.includes("unrecognized file type"))
    return new ToolFailure(`${firstLines(stderr)}. Use glob instead, such as *.ts.`);
  return new ToolFailure(`The search failed:\n${firstLines(stderr)}`);
}

const maxErrorLines = 12;

function firstLines(stderr: string): string {
  const lines = stderr
    .trim()
    .split("\n")
    .map((line) => line.replace(/^rg: /, ""));
  if (lines.length <= maxErrorLines) return lines.join("\n");
  return [...lines.slice(0, maxErrorLines), `(${lines.length - maxErrorLines} more lines)`].join("\n");
}
