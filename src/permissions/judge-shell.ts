/**
 * Whether a command line may run. Every simple command in it must be allowed by a rule or only read, every
 * redirect is a write to its path, and one denied part denies the whole.
 */
import type { PermissionDecision, PermissionMode } from "../contracts/permission.ts";
import { findAllowing, findAllowingAll, isPrefixOf } from "./allowing-rule.ts";
import { filesOfCommand } from "./command-files.ts";
import { findRiskyWord } from "./command-risks.ts";
import { isHarmlessVariable, variableOf } from "./environment-names.ts";
import { commandsIn, findDenied, findForbidding } from "./forbidden-command.ts";
import type { PathSurroundings } from "./inspect-path.ts";
import { onlyReads } from "./path-access.ts";
import { isPlainFileCommand } from "./plain-file-command.ts";
import { judgeReading, programName } from "./read-only-command.ts";
import type { ParsedRule } from "./rule.ts";
import { citeRule } from "./rule-book.ts";
import type { CommandPart, ShellParts } from "./shell-parts.ts";
import { createShellPaths, type ShellPaths } from "./shell-paths.ts";
import { takeApart } from "./take-apart.ts";

export interface ShellQuestion {
  readonly command: string;
  readonly toolNames: ReadonlySet<string>;
  readonly mode: PermissionMode;
  readonly folder: string;
  readonly surroundings: PathSurroundings;
}

/** Restrictions first, so that nothing that allows can hide them. */
export async function judgeShell(question: ShellQuestion): Promise<PermissionDecision> {
  const { command, mode, surroundings } = question;
  const parts = takeApart(command, { folder: question.folder, homeFolder: surroundings.homeFolder });
  const paths = createShellPaths({ surroundings, parts, mode });
  const rules = (behavior: "allow" | "ask" | "deny") =>
    surroundings.book.rulesFor(behavior, question.toolNames);

  const denied = findDenied(command, parts, rules("deny"));
  if (denied !== undefined) return denied;
  const restrictions = await paths.restrictions();
  const worst =
    restrictions.find((each) => each.decision === "deny") ?? restrictions.find((each) => each.protected);
  if (worst !== undefined && worst.decision === "deny") return worst;

  const judge = createCommandJudge({ ...question, parts, paths, allowRules: rules("allow") });
  if (mode === "plan") return (await judge.readsOnly()) ?? worst ?? (await judge.all());
  if (worst !== undefined) return worst;
  if (mode === "bypassPermissions") return { decision: "allow", reason: "permissions are bypassed" };
  const forbidding =
    findForbidding(command, parts, { deny: rules("deny"), ask: rules("ask") }) ?? restrictions[0];
  if (forbidding !== undefined) return forbidding;

  const whole = findAllowingAll(command, rules("allow"));
  return whole === undefined ? await judge.all() : allowedBy(whole);
}

function allowedBy(rule: ParsedRule): PermissionDecision {
  return { decision: "allow", reason: `allowed by the ${rule.source} rule ${rule.text}`, ...citeRule(rule) };
}

interface CommandJudge {
  /** Plan mode: the first part that does more than read. */
  readsOnly(): Promise<PermissionDecision | undefined>;
  /** The decision on all parts together. */
  all(): Promise<PermissionDecision>;
}

function createCommandJudge(
  options: ShellQuestion & { parts: ShellParts; paths: ShellPaths; allowRules: readonly ParsedRule[] },
): CommandJudge {
  const { parts, paths, allowRules, mode } = options;

  const ask = (part: CommandPart, why: string): PermissionDecision => ({
    decision: "ask",
    reason: `${why}, in "${part.text}"`,
    part: part.text,
  });

  const judgeCommand = async (part: CommandPart): Promise<PermissionDecision> => {
    const rule = findAllowing(part, allowRules);
    if (rule !== undefined) return allowedBy(rule);
    const variable = part.assignments.map(variableOf).find((name) => !isHarmlessVariable(name));
    if (variable !== undefined) return ask(part, `it sets ${variable}, which may change what runs`);
    if (part.hidden !== undefined) return ask(part, part.hidden);
    if (part.words.length === 0) return { decision: "allow", reason: "it only reads" };
    for (const { part: inner } of part.carried) {
      const decision = await judgeCommand(inner);
      if (decision.decision !== "allow") return decision;
    }
    if (part.transparent) return { decision: "allow", reason: "what it starts is allowed" };
    if (parts.functionCalls.has(part))
      return { decision: "allow", reason: "what the function does is allowed" };
    const risky = findRiskyWord(part.program ?? "", part.words);
    const partly = allowRules.some((each) => isPrefixOf(each, part));
    if (partly && part.carried.length > 0)
      return { decision: "allow", reason: "it and what it starts are allowed" };
    if (risky !== undefined && partly) return ask(part, risky.why);
    const writes = await whyNotReading(part);
    if (writes === undefined) return { decision: "allow", reason: "it only reads" };
    if (isPlainFileCommand(part) && (await paths.areAccepted(part)))
      return {
        decision: "allow",
        reason:
          mode === "acceptEdits"
            ? "plain file commands inside the working folders are accepted in this mode"
            : "it stays in a folder of the agent's own",
      };
    return ask(part, `no rule allows it and it is not known to only read (${writes})`);
  };

  const whyNotReading = async (part: CommandPart): Promise<string | undefined> => {
    const [name, ...args] = part.words;
    if (name === undefined) return undefined;
    const program = programName(name.text);
    if (program === "cd") {
      const [folder, ...rest] = args;
      const known =
        rest.length === 0 &&
        (folder === undefined || (folder.kind === "literal" && !folder.text.startsWith("-")));
      return known ? undefined : "it moves to a folder that is not known";
    }
    // How the script itself goes on after a failure.
    if (
      program === "set" &&
      args.every((word) => word.kind === "literal" && /^([-+][euxo]+|pipefail)$/.test(word.text))
    )
      return undefined;
    if (part.carried.length > 0) return `${program} is not known to only read`;
    const command = { name, args, assignments: [], redirects: [] };
    const why = judgeReading(command, (folder) => paths.isKnownInside(folder, part));
    if (why !== undefined) return why;
    if (program === "git" && !(await paths.standsInside(part)))
      return "git would read a repository in another folder";
    return await paths.whyNotReadable(part, filesOfCommand(part));
  };

  /** Of the decisions that allow, the one that says most. */
  let telling: PermissionDecision | undefined;

  const failing = async (): Promise<PermissionDecision | undefined> => {
    for (const part of parts.commands) {
      const decision = await judgeCommand(part);
      if (decision.decision !== "allow") return decision;
      if (telling?.rule === undefined && (decision.rule !== undefined || decision.reason !== "it only reads"))
        telling = decision;
    }
    return undefined;
  };

  return {
    async readsOnly() {
      const [unknown] = parts.unknown;
      if (unknown !== undefined) return planDenial(unknown.text, unknown.why);
      for (const part of commandsIn(parts.commands)) {
        const [name, ...args] = part.words;
        const why =
          part.hidden ??
          (part.transparent || part.program === "cd" || parts.functionCalls.has(part)
            ? undefined
            : judgeReading({ name, args, assignments: [], redirects: [] }, (folder) =>
                paths.isKnownInside(folder, part),
              ));
        const variable = part.assignments.map(variableOf).find((each) => !isHarmlessVariable(each));
        if (variable !== undefined) return planDenial(part.text, `it sets ${variable}`);
        if (part.words.length > 0 && why !== undefined) return planDenial(part.text, why);
      }
      return undefined;
    },
    async all() {
      const [unknown] = parts.unknown;
      const decision =
        (await failing()) ??
        (unknown === undefined
          ? undefined
          : {
              decision: "ask" as const,
              reason: `${unknown.why}, in "${unknown.text}"`,
              part: unknown.text,
            }) ??
        (await paths.whyNotRedirected());
      if (decision !== undefined) return decision;
      if (parts.empty) return { decision: "ask", reason: "there is no command", part: "" };
      return telling ?? { decision: "allow", reason: "it only reads" };
    },
  };
}

function planDenial(part: string, why: string): PermissionDecision {
  return { decision: "deny", reason: `${onlyReads}: ${why}, in "${part}"`, part };
}
