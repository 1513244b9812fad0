/** Which rules that allow mean a command line, or a command in it. */
import { findRiskyWord } from "./command-risks.ts";
import { matchesExactly, namedWords } from "./command-rule.ts";
import { isHarmlessVariable, variableOf } from "./environment-names.ts";
import type { ParsedRule } from "./rule.ts";
import { type CommandPart, isDevice, type ShellParts } from "./shell-parts.ts";

/** One for the whole tool, or for this very command line. */
export function findAllowingAll(command: string, rules: readonly ParsedRule[]): ParsedRule | undefined {
  return rules.find(
    (rule) =>
      rule.content === undefined ||
      (rule.content.kind === "command" &&
        /^(exact|script)$/.test(rule.content.command.kind) &&
        rule.content.command.content === command.trim()),
  );
}

/**
 * The first piece that none of these rules names; undefined when they name all of it. That something only reads
 * is no excuse here, and what is written by a redirect is named by no rule.
 */
export function findUncovered(
  command: string,
  parts: ShellParts,
  rules: readonly ParsedRule[],
): string | undefined {
  if (findAllowingAll(command, rules) !== undefined) return undefined;
  const isCovered = (part: CommandPart): boolean => {
    if (findAllowing(part, rules) !== undefined) return true;
    if (part.hidden !== undefined || !part.assignments.map(variableOf).every(isHarmlessVariable))
      return false;
    if (part.words.length === 0 || parts.functionCalls.has(part)) return true;
    if (!part.carried.every((each) => isCovered(each.part))) return false;
    return part.transparent || (part.carried.length > 0 && rules.some((rule) => isPrefixOf(rule, part)));
  };
  const uncovered = parts.commands.find((part) => !isCovered(part)) ?? parts.unknown[0];
  if (uncovered !== undefined) return uncovered.text;
  if (parts.empty) return command;
  return parts.files.find((file) => file.access === "write" && !isDevice(file))?.text;
}

/** It names how the command begins, though not what the command starts. */
export function isPrefixOf({ content }: ParsedRule, part: CommandPart): boolean {
  return content?.kind === "command" && matchesExactly(content.command, part.words);
}

/** An allow rule that means this command, and all that it starts, by name. */
export function findAllowing(part: CommandPart, rules: readonly ParsedRule[]): ParsedRule | undefined {
  const risky = findRiskyWord(part.program ?? "", part.words);
  const variables = part.assignments.filter((each) => !isHarmlessVariable(variableOf(each)));
  const needed = Math.max(risky?.index ?? -1, ...startsWithin(part));
  return rules.find((rule) => {
    if (rule.content?.kind !== "command") return false;
    const { command } = rule.content;
    if (part.hidden !== undefined && command.kind !== "exact") return false;
    const withAssignments =
      part.assignments.length > 0
        ? matchesExactly(command, [...part.assignments.map(literal), ...part.words])
        : false;
    if (withAssignments) return namedWords(command) > needed + part.assignments.length;
    return variables.length === 0 && matchesExactly(command, part.words) && namedWords(command) > needed;
  });
}

function literal(text: string) {
  return {
    text,
    source: text,
    kind: /[$`]/.test(text) ? ("computed" as const) : ("literal" as const),
    single: true,
    mayBeOption: false,
  };
}

/** Where the commands begin that it starts, counted in its own words. */
function startsWithin(part: CommandPart): number[] {
  return part.carried.flatMap(({ part: inner, start }) => [
    start,
    ...startsWithin(inner).map((each) => each + start),
  ]);
}
