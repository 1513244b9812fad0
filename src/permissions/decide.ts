/**
 * permissions/ owns the judgement whether a call may run. It is pure: rules and facts in, a decision with
 * its reason out. It must not know tools' code, files or surfaces.
 */
import type { PermissionDecision, PermissionMode } from "../contracts/permission.ts";

export interface CallFacts {
  readonly toolName: string;
  readonly aliases: readonly string[];
  readonly isReadOnly: boolean;
  /** For tools that write a file: whether the path, links resolved, is inside a working folder. */
  readonly writesInside: boolean | undefined;
}

export interface Rules {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** Deny wins over everything; the mode comes before allow rules where it restricts, after them where it grants. */
export function decide(options: {
  facts: CallFacts;
  rules: Rules;
  mode: PermissionMode;
}): PermissionDecision {
  const { facts, rules, mode } = options;
  const names = new Set([facts.toolName, ...facts.aliases]);
  const denied = rules.deny.find((rule) => names.has(toolOfRule(rule)));
  if (denied !== undefined) return { decision: "deny", reason: `denied by the rule "${denied}"` };
  if (facts.isReadOnly) return { decision: "allow", reason: "it only reads" };
  if (mode === "plan") return { decision: "deny", reason: "plan mode only reads" };
  if (mode === "bypassPermissions") return { decision: "allow", reason: "permissions are bypassed" };
  const allowed = rules.allow.find((rule) => names.has(rule));
  if (allowed !== undefined) return { decision: "allow", reason: `allowed by the rule "${allowed}"` };
  if (mode === "acceptEdits" && facts.writesInside) {
    return { decision: "allow", reason: "edits inside the working folders are accepted in this mode" };
  }
  const reason = `${facts.toolName} can change things and no rule allows it`;
  return mode === "dontAsk" ? { decision: "deny", reason } : { decision: "ask", reason };
}

/** A deny rule with a condition that is not understood denies its whole tool rather than nothing (PE-2). */
function toolOfRule(rule: string): string {
  return rule.split("(", 1)[0]?.trim() ?? rule;
}

/** Allow rules with a condition, such as `Bash(git diff:*)`, are not understood: the reason to refuse them. */
export function problemOfAllowRule(rule: string): string | undefined {
  if (/^[A-Za-z_][\w-]*$/.test(rule)) return undefined;
  return `The rule "${rule}" is not understood: name a whole tool, such as Bash or Edit.`;
}
