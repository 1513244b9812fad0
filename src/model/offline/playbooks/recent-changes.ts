import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-purpose.ts";
import { gitProblem, unquotedPath } from "../git.ts";
import type { Asking, Task } from "../playbook.ts";
import { run } from "../tool-calls.ts";
import type { Wording } from "../wording.ts";

export const recentChanges = everydayPlaybook({
  name: "tell what changed lately",
  needs: ["Bash"],
  understand: understandChanges,
  play: playChanges,
});

interface ChangesRequest {
  /** A date for `git log --since`, in words that git knows. */
  readonly since?: string;
  readonly count: number;
}

const subject = new RegExp(
  [
    "^(?:what|anything|which files|who)(?:'s| has| have| is| was| did)?(?: been)? ?(?:changed?|new|happen(?:ed|ing)|going on|worked on|done)",
    "^(?:show|list|give|summari[sz]e|tell|describe)(?: me)?(?: (?:about|the|all|an overview of|a summary of))*(?: (?:git|recent|latest|last|newest|\\d+))* ?(?:changes|commits|history|log|activity|work)",
    "^(?:the )?(?:recent|latest|last|newest)(?: \\d+)? (?:changes|commits?|activity|work)",
    "^(?:the )?(?:git )?(?:log|history)",
  ].join("|"),
  "i",
);
/** All that may follow: any other word makes it a question that is not understood. */
const restOfQuestion =
  /^(?:[\s,]*(?:lately|recently|today|yesterday|here|now|so far|since (?:yesterday|last week|last month)|(?:in |during |over |of |since |from )?(?:the )?(?:this|last|past) (?:\d+ )?(?:days?|weeks?|months?|commits?)|(?:in|of|to|for) (?:this|the|my|our) (?:repo(?:sitory)?|project|code ?base|code|folder)))*$/i;

function understandChanges(wording: Wording): ChangesRequest | undefined {
  const asked = subject.exec(wording.text)?.[0];
  if (asked === undefined || !restOfQuestion.test(wording.text.slice(asked.length))) return undefined;
  const count = Number(
    /\b(\d+) (?:recent |latest |last |newest )?(?:commits|changes)\b/.exec(wording.lower)?.[1] ?? 20,
  );
  const since = sinceIn(wording.lower);
  return { count: Math.max(1, Math.min(count, mostCommits)), ...(since === undefined ? {} : { since }) };
}

const mostCommits = 200;

function sinceIn(text: string): string | undefined {
  if (/\btoday\b/.test(text)) return "midnight";
  if (/\byesterday\b/.test(text)) return "yesterday";
  const span = /\b(?:this|last|past) (\d+ )?(day|week|month)s?\b/.exec(text);
  return span === null ? undefined : `${span[1]?.trim() ?? 1} ${span[2]} ago`;
}

interface Commit {
  readonly hash: string;
  readonly date: string;
  readonly author: string;
  readonly subject: string;
  readonly files: { path: string; added: number; removed: number }[];
}

function* playChanges(_task: Task, request: ChangesRequest): Asking<string> {
  const problem = yield* gitProblem("I ask git.");
  if (problem !== undefined) return problem;
  const since = request.since === undefined ? "" : ` --since='${request.since}'`;
  const log = yield* run({
    command: `git log -n ${request.since === undefined ? request.count : mostCommits}${since} --no-renames --date=short --numstat --format='commit%x09%h%x09%ad%x09%an%x09%s' -- .`,
    description: "Read the latest commits with their files",
  });
  if (log.exitCode !== 0) return `git log failed: ${log.text}`;
  const status = yield* run({
    command: "git status --porcelain -- .",
    description: "See what is not committed",
  });
  const commits = parseLog(log.text);
  const pending = status.exitCode === 0 ? status.text.split("\n").filter((line) => line !== "").length : 0;
  const uncommitted = `Not committed: ${pending === 0 ? "nothing" : `${countOf(pending, "file")} (\`git status\`); ask "review my change" to look at them`}.`;
  if (commits.length === 0)
    return `No commit ${request.since === undefined ? "here yet" : `since ${request.since}`}.\n${uncommitted}`;
  return [
    headline(commits, request),
    "",
    "## Commits",
    ...commits
      .slice(0, 20)
      .map(
        (commit) =>
          `- ${commit.hash} ${commit.date} ${commit.author}: ${commit.subject} (${countOf(commit.files.length, "file")}, ${sums(commit.files)})`,
      ),
    ...(commits.length > 20 ? [`- and ${commits.length - 20} more`] : []),
    "",
    ...authorSection(commits),
    "",
    ...hotFileSection(commits),
    "",
    ...(log.cut ? ["The log was too long to be read whole: the numbers are lower bounds.", ""] : []),
    uncommitted,
  ].join("\n");
}

function parseLog(text: string): Commit[] {
  const commits: Commit[] = [];
  for (const line of text.split("\n")) {
    const head = /^commit\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(.*)$/.exec(line);
    const file = /^(\d+|-)\t(\d+|-)\t(.+)$/.exec(line);
    if (head !== null) {
      const [, hash = "", date = "", author = "", subject = ""] = head;
      commits.push({ hash, date, author, subject, files: [] });
    } else if (file?.[3] !== undefined) {
      commits.at(-1)?.files.push({
        path: unquotedPath(file[3]),
        added: Number(file[1]) || 0,
        removed: Number(file[2]) || 0,
      });
    }
  }
  return commits;
}

function headline(commits: readonly Commit[], request: ChangesRequest): string {
  const dates = commits.map((commit) => commit.date).sort();
  const from = dates[0];
  const to = dates.at(-1);
  const span = from === to ? `on ${to}` : `from ${from} to ${to}`;
  const which =
    request.since === undefined
      ? `The latest ${countOf(commits.length, "commit")}`
      : `${countOf(commits.length, "commit")} since ${request.since}`;
  return `${which}, ${span}: ${sums(commits.flatMap((commit) => commit.files))}.`;
}

function sums(files: readonly { added: number; removed: number }[]): string {
  const total = (pick: "added" | "removed") => files.reduce((sum, file) => sum + file[pick], 0);
  return `+${total("added")} -${total("removed")}`;
}

function authorSection(commits: readonly Commit[]): string[] {
  const counts = new Map<string, number>();
  for (const { author } of commits) counts.set(author, (counts.get(author) ?? 0) + 1);
  const ranked = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return [
    "## Authors",
    ...ranked.slice(0, 10).map(([author, count]) => `- ${author}: ${countOf(count, "commit")}`),
  ];
}

function hotFileSection(commits: readonly Commit[]): string[] {
  const files = new Map<string, { commits: number; added: number; removed: number }>();
  for (const file of commits.flatMap((commit) => commit.files)) {
    const known = files.get(file.path) ?? { commits: 0, added: 0, removed: 0 };
    files.set(file.path, {
      commits: known.commits + 1,
      added: known.added + file.added,
      removed: known.removed + file.removed,
    });
  }
  const ranked = [...files].sort(
    (a, b) =>
      b[1].commits - a[1].commits ||
      b[1].added + b[1].removed - a[1].added - a[1].removed ||
      (a[0] < b[0] ? -1 : 1),
  );
  return [
    "## Files changed most often",
    ...ranked
      .slice(0, 10)
      .map(([path, file]) => `- ${path}: ${countOf(file.commits, "commit")}, ${sums([file])}`),
  ];
}
