import { groupDigits } from "../../../base/group-digits.ts";
import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-contents.ts";
import { gitProblem, gitState, unquotedPath } from "../git.ts";
import type { Asking, Task } from "../playbook.ts";
import { type CommandOutput, run, shellQuoted } from "../tool-calls.ts";
import { type ChangesRequest, mostCommits, understandChanges } from "./changes-wording.ts";

export const recentChanges = everydayPlaybook({
  name: "tell what changed lately",
  needs: ["Bash"],
  understand: understandChanges,
  play: playChanges,
});

interface Sums {
  readonly files: number;
  readonly added: number;
  readonly removed: number;
}

interface Commit extends Sums {
  readonly hash: string;
  readonly date: string;
  readonly author: string;
  readonly parents: number;
  /** Older commits are not here, so its own change cannot be told. */
  readonly isCut?: boolean;
  readonly subject: string;
}

function* playChanges(_task: Task, request: ChangesRequest): Asking<string> {
  const problem = yield* gitProblem("I ask git.");
  if (problem !== undefined) return problem;
  const state = yield* gitState();
  if (request.kind === "branch") return state.head;
  if (!state.hasCommits) return `No commit here yet.\n${state.pending}`;
  if (request.kind === "authors") return yield* tellAuthors();
  const selection = selectionOf(request);
  const log = yield* run({
    command: `git log ${selection.options} --shortstat --format='commit%x09%h%x09%ad%x09%an%x09%p%x09%s' ${selection.place}`,
    description: "Read the latest commits",
  });
  if (log.exitCode !== 0) return `git log failed: ${log.text}`;
  const commits = parseLog(log.text).map((commit) =>
    // git counts all that the first commit of a cut history found there as its own.
    state.isShallow && commit.parents === 0
      ? { ...commit, files: 0, added: 0, removed: 0, isCut: true }
      : commit,
  );
  if (commits.length === 0)
    return [`No commit ${selection.words || "here yet"}.`, state.head, state.pending].join("\n");
  const names = yield* run({
    command: `git log ${selection.options} --numstat --format='commit%x09%h' ${selection.place}`,
    description: "Read which files they changed",
  });
  return [
    headline(commits, selection.words),
    "",
    "## Commits",
    ...commits.slice(0, shownCommits).map((commit) => `- ${lineOf(commit)}`),
    ...(commits.length > shownCommits ? [`- and ${commits.length - shownCommits} more`] : []),
    "",
    ...authorSection(commits),
    "",
    ...hotFileSection(names, new Set(commits.filter(({ isCut }) => isCut).map(({ hash }) => hash))),
    ...(log.cut ? ["The log was too long to be read whole: the numbers are lower bounds.", ""] : []),
    state.head,
    state.pending,
  ].join("\n");
}

const shownCommits = 20;

function selectionOf(request: ChangesRequest & { kind: "commits" }): {
  options: string;
  place: string;
  words: string;
} {
  const { since, range, author, path, count } = request;
  const options = [
    since === undefined && range === undefined ? `-n ${count}` : `-n ${mostCommits}`,
    ...(since === undefined ? [] : [`--since=${shellQuoted(since)}`]),
    ...(author === undefined ? [] : [`--regexp-ignore-case --author=${shellQuoted(author)}`]),
    "--no-renames --date=short",
    // What is understood as a name never begins with a dash.
    ...(range === undefined ? [] : [shellQuoted(`${range}..HEAD`)]),
  ];
  const words = [
    ...(author === undefined ? [] : [`by ${author}`]),
    ...(since === undefined ? [] : [`since ${since}`]),
    ...(range === undefined ? [] : [`since ${range}`]),
    ...(path === undefined ? [] : [`in ${path}`]),
  ];
  return { options: options.join(" "), place: `-- ${shellQuoted(path ?? ".")}`, words: words.join(" ") };
}

function parseLog(text: string): Commit[] {
  const commits: Commit[] = [];
  for (const line of text.split("\n")) {
    const head = /^commit\t([^\t]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$/.exec(line);
    const last = commits.at(-1);
    if (head !== null) {
      const [, hash = "", date = "", author = "", parents = "", subject = ""] = head;
      const parentCount = parents.split(" ").filter((parent) => parent !== "").length;
      commits.push({ hash, date, author, subject, parents: parentCount, files: 0, added: 0, removed: 0 });
    } else if (/^ \d+ files? changed/.test(line) && last !== undefined) {
      const field = (pattern: RegExp) => Number(pattern.exec(line)?.[1] ?? 0);
      commits[commits.length - 1] = {
        ...last,
        files: field(/(\d+) files? changed/),
        added: field(/(\d+) insertions?/),
        removed: field(/(\d+) deletions?/),
      };
    }
  }
  return commits;
}

function headline(commits: readonly Commit[], words: string): string {
  const dates = commits.map((commit) => commit.date).sort();
  const from = dates[0];
  const to = dates.at(-1);
  const span = from === to ? `on ${to}` : `from ${from} to ${to}`;
  const which =
    words === ""
      ? `The latest ${countOf(commits.length, "commit")}`
      : `${countOf(commits.length, "commit")} ${words}`;
  const known = commits.filter((commit) => commit.isCut !== true);
  return known.length === 0 ? `${which}, ${span}.` : `${which}, ${span}: ${sums(known)}.`;
}

function lineOf(commit: Commit): string {
  const { hash, date, author, subject, parents, files } = commit;
  const size = commit.isCut
    ? "the history is cut here, so its own change cannot be told"
    : parents > 1 && files === 0
      ? "merge"
      : `${countOf(files, "file")}, ${sums([commit])}`;
  return `${hash} ${date} ${author}: ${subject} (${size})`;
}

function sums(parts: readonly { added: number; removed: number }[]): string {
  const total = (pick: "added" | "removed") => parts.reduce((sum, part) => sum + part[pick], 0);
  return `+${total("added")} -${total("removed")}`;
}

function authorSection(commits: readonly Commit[]): string[] {
  const counts = new Map<string, number>();
  for (const { author } of commits) counts.set(author, (counts.get(author) ?? 0) + 1);
  const ranked = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return [
    "## Authors",
    ...ranked.slice(0, 10).map(([author, count]) => `- ${author}: ${countOf(count, "commit")}`),
    ...(ranked.length > 10 ? [`- and ${ranked.length - 10} more`] : []),
  ];
}

/** `without`: commits whose files are not their own. */
function hotFileSection(numstat: CommandOutput, without: ReadonlySet<string>): string[] {
  let counts = true;
  const files = new Map<string, { commits: number; added: number; removed: number }>();
  for (const line of numstat.text.split("\n")) {
    if (line.startsWith("commit\t")) counts = !without.has(line.slice("commit\t".length));
    const [, added, removed, path] = /^(\d+|-)\t(\d+|-)\t(.+)$/.exec(line) ?? [];
    if (path === undefined || !counts) continue;
    const name = unquotedPath(path);
    const known = files.get(name) ?? { commits: 0, added: 0, removed: 0 };
    files.set(name, {
      commits: known.commits + 1,
      added: known.added + (Number(added) || 0),
      removed: known.removed + (Number(removed) || 0),
    });
  }
  const ranked = [...files].sort(
    (a, b) =>
      b[1].commits - a[1].commits ||
      b[1].added + b[1].removed - a[1].added - a[1].removed ||
      (a[0] < b[0] ? -1 : 1),
  );
  if (ranked.length === 0) return [];
  return [
    `## Files changed most often${numstat.cut ? " (in the part of the log that I could read)" : ""}`,
    ...ranked
      .slice(0, 10)
      .map(
        ([path, file]) =>
          `- ${path.replaceAll("\n", "\\n")}: ${countOf(file.commits, "commit")}, ${sums([file])}`,
      ),
    ...(ranked.length > 10 ? [`- and ${groupDigits(ranked.length - 10)} more`] : []),
    "",
  ];
}

function* tellAuthors(): Asking<string> {
  const output = yield* run({
    command: "git shortlog --summary --numbered HEAD",
    description: "Count commits by author",
  });
  if (output.exitCode !== 0) return `git shortlog failed: ${output.text}`;
  const authors = output.text.split("\n").flatMap((line) => {
    const [, count, name] = /^\s*(\d+)\t(.+)$/.exec(line) ?? [];
    return name === undefined ? [] : [`- ${name}: ${countOf(Number(count), "commit")}`];
  });
  const more = authors.length - shownAuthors;
  return [
    `**${output.cut ? "at least " : ""}${countOf(authors.length, "author")}**, in all commits up to the one that is checked out:`,
    "",
    ...authors.slice(0, shownAuthors),
    ...(more > 0 ? [`- and ${more} more`] : []),
  ].join("\n");
}

const shownAuthors = 20;
