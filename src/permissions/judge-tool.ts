/** Whether a call may run that is neither a shell command nor about a file. */
import type { PermissionDecision, PermissionMode } from "../contracts/permission.ts";
import { matchesName } from "./name-rule.ts";
import { onlyReads } from "./path-access.ts";
import { hostOf, type ParsedRule } from "./rule.ts";
import { citeRule } from "./rule-book.ts";
import { reachesNetwork, touchesOnlySession } from "./tool-kinds.ts";

export interface ToolQuestion {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly isReadOnly: boolean;
  readonly mode: PermissionMode;
  readonly rules: Readonly<Record<"allow" | "ask" | "deny", readonly ParsedRule[]>>;
}

export function judgeTool(question: ToolQuestion): PermissionDecision {
  const { toolName, mode, rules } = question;
  const part = subjectOf(question);
  const about = part === undefined ? toolName : `${toolName}(${part})`;
  const decide = (
    decision: "allow" | "ask" | "deny",
    words: string,
    rule?: ParsedRule,
  ): PermissionDecision => ({
    decision,
    reason: rule === undefined ? words : `${words} by the ${rule.source} rule ${rule.text}`,
    ...(part !== undefined && { part }),
    ...(rule !== undefined && citeRule(rule)),
  });

  const denied = rules.deny.find((rule) => meansCall(rule, question) === "yes");
  if (denied !== undefined) return decide("deny", `${about} is denied`, denied);
  const changes =
    !question.isReadOnly && !touchesOnlySession(toolName) && !/^Web(Fetch|Search)$/.test(toolName);
  if (mode === "plan" && changes) return decide("deny", `${onlyReads}, and ${toolName} can change things`);
  if (mode === "bypassPermissions") return decide("allow", "permissions are bypassed");
  const asked = rules.ask.find((rule) => meansCall(rule, question) === "yes");
  if (asked !== undefined) return decide("ask", `${about} is to be asked`, asked);
  const doubtful = [...rules.deny, ...rules.ask].find((rule) => meansCall(rule, question) === "maybe");
  if (doubtful !== undefined) return decide("ask", `${about} may be what is restricted`, doubtful);
  const allowed = rules.allow.find((rule) => meansCall(rule, question) === "yes");
  if (allowed !== undefined) return decide("allow", "allowed", allowed);
  if (touchesOnlySession(toolName)) return decide("allow", "it touches nothing but the session");
  if (reachesNetwork(toolName))
    return decide("ask", `${about} reaches beyond this machine and no rule allows it`);
  if (question.isReadOnly) return decide("allow", "it only reads");
  return decide("ask", `${toolName} can change things and no rule allows it`);
}

/** What the call is about, in the words of its rules: a host, the type of an agent, the name of a skill. */
export function subjectOf({ toolName, input }: Pick<ToolQuestion, "toolName" | "input">): string | undefined {
  const text = (value: unknown) =>
    typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
  switch (toolName) {
    case "WebFetch":
      return hostOf(text(input.url) ?? "");
    case "Agent":
      return text(input.subagent_type) ?? "general-purpose";
    case "Skill":
    case "SlashCommand":
      return text(input.skill ?? input.command ?? input.name)
        ?.replace(/^\//, "")
        .split(/\s/, 1)[0];
    default:
      return undefined;
  }
}

/** `maybe`: what the call is about is not known. */
export function meansCall(
  rule: ParsedRule,
  question: Pick<ToolQuestion, "toolName" | "input">,
): "yes" | "maybe" | "no" {
  if (rule.content === undefined) return "yes";
  const subject = subjectOf(question)?.trim();
  // A restriction on one host must not be void for an address that nobody understands.
  if (subject === undefined) return "maybe";
  switch (rule.content.kind) {
    case "domain":
      return subject === rule.content.domain || subject.endsWith(`.${rule.content.domain}`) ? "yes" : "no";
    case "name":
      return matchesName(rule.content.names, subject) ? "yes" : "no";
    default:
      return "no";
  }
}
