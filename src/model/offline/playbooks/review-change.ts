import { addedLinesOf, type FileDiff, filesInDiff } from "../diff.ts";
import { checkedFor, type Finding, findingsIn } from "../diff-findings.ts";
import { everydayPlaybook } from "../everyday-playbook.ts";
import { countOf } from "../folder-contents.ts";
import { gitProblem, unquotedPath } from "../git.ts";
import { isTestFile, languageOf } from "../languages.ts";
import type { Asking, Task } from "../playbook.ts";
import { readAll, run, runAll, shellQuoted } from "../tool-calls.ts";
import type { Wording } from "../wording.ts";

export const reviewChange = everydayPlaybook({
  name: "review what is not committed",
  needs: ["Bash", "Read"],
  understand: understandReview,
  play: playReview,
});

const my = "(?:(?:the|my|our|this|these|all|of|what|any|local|latest|current) )*";
const what =
  "(?:(?:uncommitted|unstaged|staged|current|local|pending|working|latest|open|recent) )*(?:changes?|diffs?|edits?|modifications?|work|working (?:tree|copy)|patch)";
const asksForReview = new RegExp(
  [
    `(?:review|check|inspect|look at|look over|go over|critique|audit|proofread|(?:do|make|give)(?: me)? a (?:code )?review of|code review)(?: over)? ${my}${what}(?: (?:here|before .*|in (?:this|the) \\w+))?`,
    "(?:review|check)(?: (?:my|the|this))? (?:code|commit)|(?:do a |make a )?code review|review|review (?:this|it)",
    "(?:review|check|list|show|what(?: is| did i| have i| i)?)\\b.*\\b(?:not (?:yet )?committed|uncommitted|unstaged|not staged|changed since (?:the |my )?last commit)\\b.*",
    "what (?:did|have) i changed?|what i (?:have )?changed|show (?:the|my) (?:uncommitted )?(?:changes|diff)|(?:show )?uncommitted(?: changes)?|git (?:diff|status)",
    `(?:is|are|was) (?:there )?(?:anything|something|any problems?|any issues?|any bugs?)(?: wrong)? (?:with|in) ${my}${what}`,
    `anything wrong (?:with|in) ${my}${what}|(?:are|is) ${my}${what} (?:ok|okay|fine|good|ready|right|ready to commit)`,
    `(?:am i |is (?:it|this) )?ready to (?:commit|push)|can i commit(?: (?:this|it))?|should i commit(?: (?:this|it))?`,
  ]
    .map((rule) => `^(?:${rule})$`)
    .join("|"),
  "i",
);

function understandReview(wording: Wording): true | undefined {
  return asksForReview.test(wording.text) ? true : undefined;
}

const fileLimit = 60;

function* playReview(task: Task): Asking<string> {
  // A diff that came with the request is the change that is meant.
  const given = filesInDiff(task.prompt);
  if (given.length > 0) return answer(given, { unseen: 0, which: "in the diff" });
  const problem = yield* gitProblem("I ask git what is not committed.");
  if (problem !== undefined) return problem;
  const head = yield* run({
    command: "git rev-parse --verify --quiet HEAD",
    description: "See whether there is a commit",
  });
  const base = head.exitCode === 0 ? "HEAD" : "--cached";
  const stats = yield* run({
    command: `git diff ${base} --numstat --no-renames --relative --no-color --no-ext-diff`,
    description: "Count changed lines by file",
  });
  if (stats.exitCode !== 0) return `git diff failed: ${stats.text}`;
  const others = yield* run({
    command: "git ls-files --others --exclude-standard",
    description: "List files that git does not know",
  });
  const changed = stats.text.split("\n").flatMap(parseStat);
  const untracked = others.text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("[... "))
    .map(unquotedPath);
  if (changed.length === 0 && untracked.length === 0)
    return base === "HEAD"
      ? "Nothing to review: everything below this folder is committed."
      : "Nothing to review: there is no commit yet, and no file that could be in one.";
  const diffs = yield* readDiffs(changed.slice(0, fileLimit), base);
  const fresh = yield* readNewFiles(untracked.slice(0, Math.max(0, fileLimit - diffs.length)));
  const seen = [...diffs, ...fresh];
  const unseen = changed.length + untracked.length - seen.length;
  return answer(seen, { unseen, which: "not committed" });
}

interface Stat {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly isBinary: boolean;
}

function parseStat(line: string): Stat[] {
  const parts = /^(\d+|-)\t(\d+|-)\t(.+)$/.exec(line);
  if (parts?.[3] === undefined) return [];
  return [
    {
      path: unquotedPath(parts[3]),
      added: Number(parts[1]) || 0,
      removed: Number(parts[2]) || 0,
      isBinary: parts[1] === "-",
    },
  ];
}

function* readDiffs(stats: readonly Stat[], base: string): Asking<FileDiff[]> {
  const outputs = yield* runAll(
    stats.map(({ path }) => ({
      // The last line is there so that white space at the end of the one before it is not lost.
      command: `git diff ${base} --unified=0 --no-renames --relative --no-color --no-ext-diff -- ${shellQuoted(`:(literal)${path}`)} && echo '\\ end'`,
      description: "Read the change of one file",
    })),
  );
  return stats.map((stat, index) => {
    const output = outputs[index];
    const text = output?.text ?? "";
    return {
      path: stat.path,
      added: addedLinesOf(text),
      addedCount: stat.added,
      removedCount: stat.removed,
      isNew: /^new file mode/m.test(text),
      isDeleted: /^deleted file mode/m.test(text),
      isBinary: stat.isBinary,
      cut: output === undefined || output.cut || output.exitCode !== 0,
    };
  });
}

function* readNewFiles(paths: readonly string[]): Asking<FileDiff[]> {
  const files = yield* readAll(paths.map((path) => ({ file_path: path })));
  return paths.map((path, index) => {
    const lines = files[index]?.lines ?? [];
    return {
      path,
      added: lines.map((text, at) => ({ line: at + 1, text })),
      addedCount: lines.length,
      removedCount: 0,
      isNew: true,
      isDeleted: false,
      isBinary: files[index] === undefined,
      cut: files[index]?.cut ?? false,
    };
  });
}

function answer(files: readonly FileDiff[], about: { unseen: number; which: string }): string {
  const { unseen, which } = about;
  const added = files.reduce((sum, file) => sum + file.addedCount, 0);
  const removed = files.reduce((sum, file) => sum + file.removedCount, 0);
  const findings = [...files.flatMap(findingsIn)];
  const remarks = wholeChangeRemarks(files);
  return [
    `**${countOf(files.length + unseen, "file")} ${which}: +${added} -${removed}**${unseen > 0 ? ` (looked into ${files.length} of them)` : ""}.`,
    "",
    "## Files",
    ...files.map((file) => `- ${file.path}: ${describe(file)}`),
    "",
    ...findingSection(findings, remarks),
    "",
    `Checked by rules, on added lines only: ${checkedFor}. I cannot judge whether the change is right.`,
  ].join("\n");
}

function describe(file: FileDiff): string {
  const kind = file.isNew ? "new, " : file.isDeleted ? "deleted, " : "";
  if (file.isBinary) return `${kind}binary or not readable as text`;
  return `${kind}+${file.addedCount} -${file.removedCount}${file.cut ? " (too long to be seen whole)" : ""}`;
}

const largeFileLines = 1_000;

function wholeChangeRemarks(files: readonly FileDiff[]): string[] {
  const remarks: string[] = [];
  for (const file of files) {
    if (file.isBinary && !file.isDeleted)
      remarks.push(`${file.path}: a binary file; should it be in the repository?`);
    else if (file.addedCount > largeFileLines)
      remarks.push(`${file.path}: large, ${countOf(file.addedCount, "line")} added`);
  }
  const isSource = (file: FileDiff) =>
    languageOf(file.path)?.isCode === true && !isTestFile(file.path) && !file.isDeleted;
  const sources = files.filter(isSource);
  if (sources.length > 0 && !files.some((file) => isTestFile(file.path)))
    remarks.push(
      `${countOf(sources.length, "source file")} changed and no test file (${sources
        .slice(0, 3)
        .map((file) => file.path)
        .join(", ")}${sources.length > 3 ? ", …" : ""})`,
    );
  return remarks;
}

const shownFindings = 60;

function findingSection(findings: readonly Finding[], remarks: readonly string[]): string[] {
  if (findings.length === 0 && remarks.length === 0) return ["## Findings", "None."];
  return [
    `## Findings (${findings.length + remarks.length})`,
    ...findings
      .slice(0, shownFindings)
      .map(({ path, line, what, text }) => `- ${path}:${line}: ${what}${text === "" ? "" : `: ${text}`}`),
    ...(findings.length > shownFindings ? [`- and ${findings.length - shownFindings} more`] : []),
    ...remarks.map((remark) => `- ${remark}`),
  ];
}
