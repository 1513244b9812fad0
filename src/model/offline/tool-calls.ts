/** The tools that playbooks call, as questions with answers: `const files = yield* glob({ pattern })`. */
import type { Asking, Call, CallResult } from "./playbook.ts";
import { startedTaskId } from "./started-task.ts";

export interface PathList {
  readonly paths: readonly string[];
  /** How many there are in all, also when the tool listed fewer. Undefined: more than are listed, not known how many. */
  readonly total: number | undefined;
  /** The tool's complaint, when it failed. */
  readonly problem?: string;
}

export interface Match {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface MatchList {
  readonly matches: readonly Match[];
  readonly cut: boolean;
  /** The tool's complaint, when it failed. */
  readonly problem?: string;
}

export interface CountList {
  readonly counts: ReadonlyMap<string, number>;
  readonly total: number;
  readonly fileCount: number;
  /** The list was cut: `total` is what the tool said, or a lower bound when it said nothing. */
  readonly exact: boolean;
  readonly problem?: string;
}

export interface FileText {
  readonly lines: readonly string[];
  /** There is more of the file than `lines`. */
  readonly cut: boolean;
}

export interface CommandOutput {
  readonly text: string;
  readonly exitCode: number;
  readonly cut: boolean;
  /** It did not run because nobody allowed it. */
  readonly denied: boolean;
  /** It goes on beside the conversation as this task: there is no output yet, and no exit code. */
  readonly taskId?: string;
}

export function* ask(calls: readonly Call[], text?: string): Asking<readonly CallResult[]> {
  if (calls.length === 0) return [];
  return yield { ...(text === undefined ? {} : { text }), calls };
}

function* askOne(call: Call, text?: string): Asking<CallResult> {
  const [result] = yield* ask([call], text);
  return result ?? { text: "", isError: true, blocks: [] };
}

export interface GlobInput {
  readonly pattern: string;
  readonly path?: string;
}

export function* glob(input: GlobInput, text?: string): Asking<PathList> {
  return parsePaths(yield* askOne({ name: "Glob", input: { ...input } }, text));
}

export function* globAll(inputs: readonly GlobInput[], text?: string): Asking<PathList[]> {
  const calls = inputs.map((input) => ({ name: "Glob", input: { ...input } }));
  return (yield* ask(calls, text)).map(parsePaths);
}

export interface GrepInput {
  readonly pattern: string;
  readonly path?: string;
  readonly glob?: string;
  readonly ignoreCase?: boolean;
}

const contentLimit = 400;

/** `paths`: the files that are known to match, to tell a name with colons from a line number. */
export function* grep(
  input: GrepInput,
  options: { text?: string; paths?: Iterable<string> } = {},
): Asking<MatchList> {
  return parseMatches(yield* askOne(contentCall(input), options.text), options.paths);
}

export function* grepAll(inputs: readonly GrepInput[], text?: string): Asking<MatchList[]> {
  return (yield* ask(inputs.map(contentCall), text)).map((result) => parseMatches(result));
}

/** Exact numbers: matching lines per file. */
export function* countMatches(input: GrepInput, text?: string): Asking<CountList> {
  return parseCounts(yield* askOne(countCall(input), text));
}

const filesPerPage = 300;
const mostPages = 30;

/** The numbers of all files, also where one answer does not hold them; still not all when they are far too many. */
export function* countEverywhere(input: GrepInput, text?: string): Asking<CountList> {
  const first = yield* countMatches(input, text);
  const pages = Math.ceil(first.fileCount / filesPerPage);
  if (first.counts.size >= first.fileCount || pages > mostPages) return first;
  const offsets = Array.from({ length: pages }, (_, index) => index * filesPerPage);
  const results = yield* ask(
    offsets.map((offset) => {
      const call = countCall(input);
      return {
        ...call,
        input: { ...call.input, head_limit: filesPerPage, ...(offset === 0 ? {} : { offset }) },
      };
    }),
  );
  const counts = new Map(results.flatMap((result) => [...parseCounts(result).counts]));
  return counts.size < first.fileCount ? first : { ...first, counts };
}

export function* countAll(inputs: readonly GrepInput[], text?: string): Asking<CountList[]> {
  return (yield* ask(inputs.map(countCall), text)).map(parseCounts);
}

function contentCall(input: GrepInput): Call {
  return {
    name: "Grep",
    input: { ...grepFields(input), output_mode: "content", "-n": true, head_limit: contentLimit },
  };
}

function countCall(input: GrepInput): Call {
  return { name: "Grep", input: { ...grepFields(input), output_mode: "count" } };
}

function grepFields({ ignoreCase, ...input }: GrepInput): Record<string, unknown> {
  return { ...input, ...(ignoreCase === true ? { "-i": true } : {}) };
}

export interface ReadInput {
  readonly file_path: string;
  readonly offset?: number;
  readonly limit?: number;
}

/** Undefined for what is not a readable text file. */
export function* readAll(inputs: readonly ReadInput[], text?: string): Asking<(FileText | undefined)[]> {
  const calls = inputs.map((input) => ({ name: "Read", input: { ...input } }));
  return (yield* ask(calls, text)).map(parseFile);
}

export function* read(input: ReadInput, text?: string): Asking<FileText | undefined> {
  return (yield* readAll([input], text))[0];
}

/** Whole files, page by page. `cut` when some line was too long to be shown whole, or a page was missing. */
export function* readWhole(paths: readonly string[], text?: string): Asking<(FileText | undefined)[]> {
  const firstPages = yield* readAll(
    paths.map((path) => ({ file_path: path })),
    text,
  );
  const files: (FileText | undefined)[] = [];
  for (const [index, path] of paths.entries()) {
    const page = firstPages[index];
    files.push(page?.cut === true ? yield* readOn(path, page) : page && { ...page, cut: hasCutLine(page) });
  }
  return files;
}

function* readOn(path: string, firstPage: FileText): Asking<FileText> {
  const lines = [...firstPage.lines];
  for (;;) {
    const page = yield* read({ file_path: path, offset: lines.length + 1 });
    if (page === undefined || page.lines.length === 0) return { lines, cut: true };
    lines.push(...page.lines);
    if (!page.cut) return { lines, cut: hasCutLine({ lines }) };
  }
}

function hasCutLine({ lines }: { lines: readonly string[] }): boolean {
  return lines.some((line) => /\(line cut after [\d,]+ characters\)$/.test(line));
}

export function* run(
  input: { command: string; description: string; timeout?: number; run_in_background?: boolean },
  text?: string,
): Asking<CommandOutput> {
  return parseOutput(yield* askOne({ name: "Bash", input: { ...input } }, text));
}

export function* runAll(
  inputs: readonly { command: string; description: string }[],
): Asking<CommandOutput[]> {
  const calls = inputs.map((input) => ({ name: "Bash", input: { ...input } }));
  return (yield* ask(calls)).map(parseOutput);
}

/** Safe in a POSIX shell, whatever is in it. */
export function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

const leftOutNote = /^\[[\d,]+ characters were left out here\. /;

export function parsePaths(result: CallResult): PathList {
  if (result.isError) return { paths: [], total: 0, problem: result.text };
  if (/^No files match /.test(result.text)) return { paths: [], total: 0 };
  const lines = result.text.split("\n").filter((line) => line !== "");
  const more = /^\(([\d,]+) more files?: /.exec(lines.at(-1) ?? "")?.[1];
  const listed = more === undefined ? lines : lines.slice(0, -1);
  const gap = listed.findIndex((line) => leftOutNote.test(line));
  // The lines on both sides of a gap may be halves of names.
  if (gap >= 0) return { paths: listed.toSpliced(gap - 1, 3), total: undefined };
  return { paths: listed, total: listed.length + (more === undefined ? 0 : toNumber(more)) };
}

export function parseMatches(result: CallResult, paths: Iterable<string> = []): MatchList {
  const known = [...paths].filter((path) => /:\d+:/.test(path));
  if (result.isError) return { matches: [], cut: false, problem: result.text };
  const matches: Match[] = [];
  let cut = false;
  for (const line of result.text.split("\n")) {
    const odd = known.find((path) => line.startsWith(`${path}:`)) ?? "";
    const parts = /^(.+?):(\d+):(.*)$/s.exec(odd === "" ? line : `?${line.slice(odd.length)}`);
    if (leftOutNote.test(line) || /^\(1 to [\d,]+ of [\d,]+\. /.test(line)) cut = true;
    else if (parts?.[1] !== undefined)
      matches.push({
        path: odd === "" ? parts[1] : odd,
        line: Number(parts[2]),
        text: (parts[3] ?? "").replace(/\r$/, ""),
      });
  }
  return { matches, cut };
}

export function parseCounts(result: CallResult): CountList {
  const counts = new Map<string, number>();
  if (result.isError) return { counts, total: 0, fileCount: 0, exact: true, problem: result.text };
  let told: { total: number; fileCount: number } | undefined;
  let cut = false;
  for (const line of result.text.split("\n")) {
    const total = /^Total: ([\d,]+) in ([\d,]+) files?$/.exec(line);
    const parts = /^(.+):(\d+)$/s.exec(line);
    if (leftOutNote.test(line)) cut = true;
    else if (total?.[1] !== undefined)
      told = { total: toNumber(total[1]), fileCount: toNumber(total[2] ?? "") };
    else if (parts?.[1] !== undefined) counts.set(parts[1], Number(parts[2]));
  }
  const sum = [...counts.values()].reduce((a, b) => a + b, 0);
  return { counts, total: sum, fileCount: counts.size, ...told, exact: !cut || told !== undefined };
}

export function parseFile(result: CallResult): FileText | undefined {
  if (result.isError || result.blocks.some((block) => block.type !== "text")) return undefined;
  const lines: string[] = [];
  let cut = false;
  for (const line of result.text.split("\n")) {
    const parts = /^ *\d+\t(.*)$/s.exec(line);
    if (parts !== null) lines.push((parts[1] ?? "").replace(/\r$/, ""));
    else if (/^\(Lines \d+ to \d+ of .* Read on with offset/.test(line)) cut = true;
  }
  return { lines, cut };
}

export function parseOutput(result: CallResult): CommandOutput {
  const taskId = startedTaskId(result);
  if (taskId !== undefined) return { text: "", exitCode: 1, cut: true, denied: false, taskId };
  const lines = result.text.split("\n");
  const codeLine = lines.findLastIndex((line) => /^Exit code \d+/.test(line));
  const code = codeLine < 0 ? undefined : Number(/\d+/.exec(lines[codeLine] ?? "")?.[0]);
  // White space at the end of a line may be what is looked for.
  const text = (codeLine < 0 ? lines : lines.toSpliced(codeLine, 1)).join("\n").replace(/\n+$/, "");
  return {
    // What stands in for nothing: an empty result cannot be sent.
    text: text === "(no output)" ? "" : text,
    exitCode: code ?? (result.isError ? 1 : 0),
    cut: lines.some((line) => leftOutNote.test(line) || /^\[\.\.\. [\d,]+ bytes in all/.test(line)),
    denied: isDenial(result) && code === undefined,
  };
}

/** The call did not run because a rule, a mode or a person said no. */
export function isDenial(result: CallResult): boolean {
  const first = result.text.split("\n", 1)[0] ?? "";
  return result.isError && /\bnot allow(?:ed)?\b|\bpermission (?:was )?denied\b/i.test(first);
}

function toNumber(digits: string): number {
  return Number(digits.replaceAll(",", ""));
}
