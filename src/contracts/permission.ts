/** Who may do what: the shapes; the judgement is in permissions/. */
import * as z from "zod";

export const PermissionMode = z.enum([
  "default",
  "acceptEdits",
  "plan",
  "dontAsk",
  "bypassPermissions",
  "bubble",
]);
export type PermissionMode = z.infer<typeof PermissionMode>;

/**
 * Where a rule comes from. `session`: granted by a person while it runs; `command`: by a slash command; `agent`: the
 * definition of the agent that calls.
 */
export type RuleSource =
  | "policy"
  | "flag"
  | "project-local"
  | "project"
  | "user"
  | "session"
  | "command"
  | "agent";

/** `Bash(git diff:*)`, or the same as an object. */
export type Rule = string | { readonly tool: string; readonly args?: string | undefined };

export interface SourcedRules {
  readonly source: RuleSource;
  readonly allow?: readonly Rule[] | undefined;
  readonly ask?: readonly Rule[] | undefined;
  readonly deny?: readonly Rule[] | undefined;
  /** Where relative paths in these rules start. Default: the folder the agent was started in. */
  readonly folder?: string | undefined;
}

/** A rule that could not be parsed, and what became of it. */
export interface RuleProblem {
  readonly source: RuleSource;
  readonly behavior: "allow" | "ask" | "deny";
  readonly rule: string;
  readonly problem: string;
}

/** Every decision can say why: the rule or the mode that decided. */
export interface PermissionDecision {
  readonly decision: "allow" | "ask" | "deny";
  readonly reason: string;
  readonly rule?: { readonly source: RuleSource; readonly rule: string };
  /** The part of the command, or the path, that decided. */
  readonly part?: string;
  /** Rules which, if granted, would allow this call; the most specific useful one first. */
  readonly suggestions?: readonly string[];
  /** It is about a file that controls the agent or the machine: only a person's own yes to this call counts. */
  readonly protected?: true;
  /** Of file tools: where their paths led when they were judged, links resolved. What is used must be these. */
  readonly targets?: readonly string[];
}

/** The agent behind a question. */
export interface AskingAgent {
  readonly id: string;
  readonly type?: string;
  readonly name?: string;
  readonly color?: string;
}

/** A question to a person. Answers come from the surface, never from the model. */
export interface PermissionRequest {
  readonly toolName: string;
  readonly toolUseId: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly reason: string;
  /** What `session` and `project` would grant: the most specific useful rule first. None: only this call can be allowed. */
  readonly suggestions?: readonly string[];
  /** Absent for the main agent. */
  readonly agent?: AskingAgent;
}

export type PermissionAnswer =
  | { answer: "once" }
  /** `rules`: in place of the suggested ones. */
  | { answer: "session" | "project"; rules?: readonly string[] }
  | { answer: "no"; message?: string };
