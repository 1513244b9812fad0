/** Which rules that forbid, or that want a question, mean some part of a command line. */
import type { PermissionDecision } from "../contracts/permission.ts";
import { type CommandRule, type Match, matchesLoosely } from "./command-rule.ts";
import type { ParsedRule } from "./rule.ts";
import { citeRule } from "./rule-book.ts";
import { type CommandPart, type ShellParts, shorten } from "./shell-parts.ts";
import type { ShellWord } from "./shell-words.ts";

/** No size and no obscurity turns a denied command into a question. */
export function findDenied(
  command: string,
  parts: ShellParts,
  rules: readonly ParsedRule[],
): PermissionDecision | undefined {
  const found = findMeant(command, parts, rules, "yes");
  if (found === undefined) return undefined;
  return {
    decision: "deny",
    reason: `"${found.part}" is denied by the ${found.rule.source} rule ${found.rule.text}`,
    part: found.part,
    ...citeRule(found.rule),
  };
}

/** Why a person must be asked, even where an allow rule would let it pass. */
export function findForbidding(
  command: string,
  parts: ShellParts,
  rules: { deny: readonly ParsedRule[]; ask: readonly ParsedRule[] },
): PermissionDecision | undefined {
  const asked = findMeant(command, parts, rules.ask, "yes");
  if (asked !== undefined)
    return {
      decision: "ask",
      reason: `"${asked.part}" is to be asked by the ${asked.rule.source} rule ${asked.rule.text}`,
      part: asked.part,
      ...citeRule(asked.rule),
    };
  const possible = findMeant(command, parts, [...rules.deny, ...rules.ask], "maybe");
  if (possible === undefined) return findHiding(parts, [...rules.deny, ...rules.ask]);
  return {
    decision: "ask",
    reason: `"${possible.part}" may become what the ${possible.rule.source} rule ${possible.rule.text} is about`,
    part: possible.part,
    ...citeRule(possible.rule),
  };
}

/** What hides its words may hide just what a rule is about. */
function findHiding(parts: ShellParts, rules: readonly ParsedRule[]): PermissionDecision | undefined {
  const rule = rules.find((each) => each.content?.kind === "command");
  if (rule === undefined) return undefined;
  const hidden = commandsIn(parts.commands).find((part) => part.hidden !== undefined);
  const hiding = hidden ?? parts.unknown.find((part) => part.hides);
  if (hiding === undefined) return undefined;
  const why = "why" in hiding ? hiding.why : hiding.hidden;
  return {
    decision: "ask",
    reason: `${why}, and that may be what the ${rule.source} rule ${rule.text} is about, in "${hiding.text}"`,
    part: hiding.text,
    ...citeRule(rule),
  };
}

/** With everything they start. */
export function commandsIn(parts: readonly CommandPart[]): CommandPart[] {
  return parts.flatMap((part) => [part, ...commandsIn(part.carried.map((each) => each.part))]);
}

function findMeant(
  command: string,
  parts: ShellParts,
  rules: readonly ParsedRule[],
  wanted: Match,
): { rule: ParsedRule; part: string } | undefined {
  const certain = commandsIn(parts.commands);
  const candidates = wanted === "yes" ? [...certain, ...commandsIn(parts.suspects)] : certain;
  const rough =
    wanted === "yes" && parts.unknown.some((part) => part.hides) ? roughCommands(command) : undefined;
  for (const rule of rules) {
    if (rule.content === undefined) return { rule, part: shorten(command) };
    if (rule.content.kind !== "command") continue;
    const meant = rule.content.command;
    if (meant.kind === "script" && wanted === "yes" && meant.content === command.trim())
      return { rule, part: shorten(command) };
    const part = candidates.find((each) => matchPart(meant, each) === wanted);
    if (part !== undefined) return { rule, part: part.text };
    if (rough !== undefined && occursRoughly(meant, rough)) return { rule, part: meant.words.join(" ") };
  }
  return undefined;
}

/** A rule may name the variables that are set in front of a command. */
function matchPart(rule: CommandRule, { assignments, words }: CommandPart): Match {
  const withAssignments = /^\w+=/.test(rule.content) ? [...assignments.map(literalWord), ...words] : words;
  return matchesLoosely(rule, withAssignments);
}

/** For text that does not parse: words between blanks, quotes and operators, whatever they are. */
function roughCommands(command: string): string[] {
  return command
    .replace(/\\\n/g, "")
    .split(/[\s;&|()<>`"'{}$]+/)
    .map((word) => word.replaceAll("\\", ""))
    .filter((word) => word !== "");
}

function occursRoughly(rule: CommandRule, words: readonly string[]): boolean {
  const [name = "", ...rest] = rule.words;
  if (name === "") return false;
  const lastPart = (word: string) => word.slice(word.lastIndexOf("/") + 1).toLowerCase();
  return words.some(
    (word, index) =>
      lastPart(word) === lastPart(name) &&
      (rest.every((each, offset) => words[index + 1 + offset] === each) ||
        matchesLoosely(rule, words.slice(index, index + 40).map(literalWord)) === "yes"),
  );
}

function literalWord(text: string): ShellWord {
  return { text, source: text, kind: "literal", single: true, mayBeOption: text.startsWith("-") };
}
