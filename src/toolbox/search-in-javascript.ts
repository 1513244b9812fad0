/** The search for machines without a search program: slow, but with the same answers. */
import { join } from "node:path";
import { throwIfCancelled } from "../base/cancellation.ts";
import { messageOf } from "../base/errors.ts";
import { compileGlob } from "../base/glob.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { splitLines } from "./line-numbers.ts";
import {
  type FileMatches,
  type FoundLine,
  maxFoundLineChars,
  sortByPath,
  type TextSearch,
  type TextSearchResult,
} from "./search-text.ts";
import { decodeText } from "./text-file.ts";
import { walkFiles } from "./walk-files.ts";

const maxFileBytes = 16 * 1024 * 1024;

export async function searchInJavaScript(
  search: TextSearch,
  context: ToolContext,
): Promise<TextSearchResult> {
  const pattern = compile(search);
  const isWanted = createFilter(search);
  const files: FileMatches[] = [];
  const notes: string[] = [];
  for await (const path of candidates(search, context)) {
    throwIfCancelled(context.signal);
    if (!isWanted(path)) continue;
    const read = await readText(join(search.root, path), context);
    if (read.problem !== undefined) notes.push(`${path}: ${read.problem}`);
    const found =
      read.text === undefined ? undefined : searchText({ path, text: read.text, pattern, search });
    if (found !== undefined) files.push(found);
  }
  return { files: sortByPath(files), notes };
}

async function* candidates(search: TextSearch, context: ToolContext): AsyncGenerator<string> {
  if (search.fileName !== undefined) yield search.fileName;
  else yield* walkFiles(search.root, context);
}

function compile(search: TextSearch): RegExp {
  const flags = `gm${search.ignoreCase ? "i" : ""}${search.dotMatchesAll ? "s" : ""}`;
  try {
    // Unicode mode is strict about needless escapes, which patterns written for other programs contain.
    return new RegExp(search.pattern, flags);
  } catch (error) {
    throw new ToolFailure(
      `The pattern is not a valid regular expression. To search for characters such as ( [ { literally, write a backslash before them.\n${messageOf(error)}`,
    );
  }
}

function createFilter(search: TextSearch): (path: string) => boolean {
  if (search.type !== undefined)
    throw new ToolFailure(
      "Search by type needs ripgrep, which is not installed. Use glob instead, such as *.ts.",
    );
  if (search.glob === undefined) return () => true;
  // As in .gitignore: without a slash the name counts, in whatever folder.
  const isExcluded = search.glob.startsWith("!");
  const glob = isExcluded ? search.glob.slice(1) : search.glob;
  const matches = compileGlob(glob.includes("/") ? glob.replace(/^\//, "") : `**/${glob}`);
  return (path) => matches(path) !== isExcluded;
}

async function readText(path: string, context: ToolContext): Promise<{ text?: string; problem?: string }> {
  try {
    const { size } = await context.world.files.stat(path);
    if (size > maxFileBytes) return { problem: "too large to be searched without ripgrep" };
    return { text: decodeText(await context.world.files.readFile(path))?.text };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function searchText(options: {
  path: string;
  text: string;
  pattern: RegExp;
  search: TextSearch;
}): FileMatches | undefined {
  const { path, pattern, search } = options;
  const lines = splitLines(options.text);
  const { matched, count } = search.multiline
    ? matchWhole(lines.join("\n"), pattern)
    : matchLines(lines, pattern);
  if (count === 0) return undefined;
  return { path, count, lines: search.wanted === "lines" ? withContext({ lines, matched, search }) : [] };
}

interface Matched {
  /** 0-based. */
  readonly matched: ReadonlySet<number>;
  readonly count: number;
}

function matchLines(lines: readonly string[], pattern: RegExp): Matched {
  const matched = new Set<number>();
  for (const [index, line] of lines.entries()) {
    pattern.lastIndex = 0;
    if (pattern.test(line)) matched.add(index);
  }
  return { matched, count: matched.size };
}

function matchWhole(text: string, pattern: RegExp): Matched {
  const matched = new Set<number>();
  let count = 0;
  let line = 0;
  let counted = 0;
  const lineAt = (index: number) => {
    for (; counted < index; counted += 1) if (text[counted] === "\n") line += 1;
    return line;
  };
  for (const match of text.matchAll(pattern)) {
    count += 1;
    const first = lineAt(match.index);
    const last = lineAt(match.index + Math.max(0, match[0].length - 1));
    for (let number = first; number <= last; number += 1) matched.add(number);
  }
  return { matched, count };
}

function withContext(options: {
  lines: readonly string[];
  matched: ReadonlySet<number>;
  search: TextSearch;
}): FoundLine[] {
  const { lines, matched, search } = options;
  const shown = new Set<number>();
  for (const index of matched)
    for (let near = index - search.linesBefore; near <= index + search.linesAfter; near += 1)
      if (near >= 0 && near < lines.length) shown.add(near);
  return [...shown]
    .sort((a, b) => a - b)
    .map((index) => ({
      number: index + 1,
      text: cut(lines[index] ?? ""),
      isMatch: matched.has(index),
    }));
}

function cut(line: string): string {
  return line.length > maxFoundLineChars
    ? `${line.slice(0, maxFoundLineChars)} [... end of long line left out]`
    : line;
}
