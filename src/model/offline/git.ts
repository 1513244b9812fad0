/** What playbooks need to know of git. Commands here only read. */
import type { Asking } from "./playbook.ts";
import { run } from "./tool-calls.ts";

/** Why git cannot be asked here, in words for the user; undefined when it can. */
export function* gitProblem(text?: string): Asking<string | undefined> {
  const check = yield* run(
    { command: "git rev-parse --is-inside-work-tree", description: "Check for a git repository" },
    text,
  );
  if (check.exitCode === 0 && check.text.trim() === "true") return undefined;
  if (check.denied) return `I may not run git here. Allow it with \`--allowed-tools Bash\`.\n\n${check.text}`;
  if (check.exitCode === 127 || /not found/i.test(check.text))
    return "git is not installed here, or not on the PATH; without it I cannot tell what changed.";
  if (/dubious ownership/i.test(check.text)) return `git refuses to work in this folder:\n\n${check.text}`;
  return "This folder is not in a git repository, so there is no record of changes.";
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
