/** Numbers of matching lines in words. */
import { groupDigits } from "../../base/group-digits.ts";
import { countOf } from "./folder-contents.ts";
import type { CountList } from "./tool-calls.ts";

export function told(counts: CountList, noun: string): string {
  const more = counts.exact ? "" : "at least ";
  return `**${more}${countOf(counts.total, noun)}** in ${countOf(counts.fileCount, "file")}`;
}

const topLimit = 5;

/** The files with most of them; nothing where the numbers of some files are not known. */
export function topFiles(counts: CountList, limit = topLimit): string {
  if (counts.counts.size < counts.fileCount) return "";
  const ranked = [...counts.counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  if (ranked.length < 2) return ranked[0] === undefined ? "" : `\n\n- ${ranked[0][0]}: ${ranked[0][1]}`;
  const lines = ranked.slice(0, limit).map(([path, count]) => `- ${path}: ${groupDigits(count)}`);
  return (ranked.length > limit ? "\n\nMost in:\n" : "\n\n") + lines.join("\n");
}
