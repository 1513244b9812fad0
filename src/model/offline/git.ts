/** What playbooks need to know of git. Commands here only read. */
import { countOf } from "./folder-contents.ts";
import type { Asking } from "./playbook.ts";
import { run, runAll } from "./tool-calls.ts";

/** Why git cannot be asked here, in words for the user; undefined when it can. */
export function* gitProblem(text?: string): Asking<string | undefined> {
  const check = yield* run(
    { command: "git rev-parse --is-inside-work-tree", description: "Check for a git repository" },
    text,
  );
  if (check.exitCode === 0 && check.text.trim() === "true") return undefined;
  if (check.taskId !== undefined)
    return `git takes so long that it was moved to the background (task ${check.taskId}), so I cannot tell what changed.`;
  if (check.denied) return `I may not run git here. Allow it with \`--allowed-tools Bash\`.\n\n${check.text}`;
  if (check.exitCode === 127 || /not found/i.test(check.text))
    return "git is not installed here, or not on the PATH; without it I cannot tell what changed.";
  if (/dubious ownership/i.test(check.text)) return `git refuses to work in this folder:\n\n${check.text}`;
  return "This folder is not in a git repository, so there is no record of changes.";
}

export interface GitState {
  readonly hasCommits: boolean;
  /** The history begins somewhere in the middle. */
  readonly isShallow: boolean;
  /** Where one is: a line for the user. */
  readonly head: string;
  /** What is not committed: a line for the user. */
  readonly pending: string;
}

/** Only where `gitProblem` found none. */
export function* gitState(): Asking<GitState> {
  const [status, shallow] = yield* runAll([
    {
      command: "git status --porcelain --branch -- .",
      description: "See the branch and what is not committed",
    },
    { command: "git rev-parse --is-shallow-repository", description: "See whether the history is whole" },
  ]);
  const [first = "", ...entries] = (status?.text ?? "").split("\n").filter((line) => line !== "");
  const isShallow = shallow?.text.trim() === "true";
  const unborn = /^## (?:No commits yet on|Initial commit on) (.+?)(?:\.\.\..*)?$/.exec(first)?.[1];
  return {
    hasCommits: unborn === undefined,
    isShallow,
    head:
      headLine(first, unborn) + (isShallow ? " This is a shallow clone: older commits are not here." : ""),
    pending: pendingLine(status?.exitCode === 0 ? entries : undefined),
  };
}

function headLine(line: string, unborn: string | undefined): string {
  if (unborn !== undefined) return `On branch ${unborn}, which has no commit yet.`;
  if (/^## HEAD \(no branch\)/.test(line)) return "HEAD is detached: no branch is checked out.";
  const [, branch, upstream, distance] = /^## (.+?)(?:\.\.\.(\S+))?(?: \[(.+)\])?$/.exec(line) ?? [];
  if (branch === undefined) return "";
  return `On branch ${branch}${upstream === undefined ? "" : `, which follows ${upstream}`}${distance === undefined ? "" : ` (${distance})`}.`;
}

function pendingLine(entries: readonly string[] | undefined): string {
  if (entries === undefined) return "What is not committed could not be told.";
  if (entries.length === 0) return "Not committed: nothing.";
  const conflicts = entries.filter((entry) => /^(?:DD|AU|UD|UA|DU|AA|UU) /.test(entry)).length;
  const inConflict = conflicts === 0 ? "" : `, ${conflicts} of them in conflict`;
  return `Not committed: ${countOf(entries.length, "file")}${inConflict} (\`git status\`); ask "review my change" to look at them.`;
}

/** git puts names with special characters in quotes, bytes as octal. */
export function unquotedPath(path: string): string {
  if (!/^".*"$/.test(path)) return path;
  const bytes: number[] = [];
  const inside = path.slice(1, -1);
  const short: Record<string, number> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 };
  for (let at = 0; at < inside.length; at++) {
    const rest = inside.slice(at);
    const octal = /^\\([0-7]{3})/.exec(rest)?.[1];
    if (octal !== undefined) {
      bytes.push(Number.parseInt(octal, 8));
      at += 3;
    } else if (rest.startsWith("\\")) {
      const letter = rest[1] ?? "";
      bytes.push(short[letter] ?? letter.charCodeAt(0));
      at += 1;
    } else {
      const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
      bytes.push(...Buffer.from(character));
      at += character.length - 1;
    }
  }
  return Buffer.from(bytes).toString("utf8");
}
