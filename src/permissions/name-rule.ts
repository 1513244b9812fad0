/** What stands between the parentheses of a rule for agents or skills: names, in which `*` stands for anything. */
import { matchesChunks } from "./command-rule.ts";

/** For each name, what stands between its stars. */
export type NameRule = readonly (readonly string[])[];

/** `Agent(Explore, Plan)` means both. Answers with the problem when there is no name. */
export function parseNameRule(content: string): NameRule | string {
  const names = content.split(",").filter((name) => name.trim() !== "");
  if (names.length === 0) return "there is no name between the parentheses";
  return names.map((name) =>
    fold(name)
      .replace(/^\//, "")
      .replace(/\s*:\*$/, "*")
      .split(/\*+/),
  );
}

/** Names that differ in case or in blanks are the same: whoever looks them up takes no offence either. */
export function matchesName(rule: NameRule, name: string): boolean {
  const folded = fold(name);
  return rule.some((chunks) => (chunks.length === 1 ? chunks[0] === folded : matchesChunks(chunks, folded)));
}

function fold(name: string): string {
  return name.normalize("NFC").trim().replace(/\s+/g, " ").toLowerCase();
}
