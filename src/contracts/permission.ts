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

/** Every decision can say why: the rule or the mode that decided. */
export type PermissionDecision =
  | { decision: "allow"; reason: string }
  | { decision: "ask"; reason: string }
  | { decision: "deny"; reason: string };

/** A question to a person. Answers come from the surface, never from the model. */
export interface PermissionRequest {
  readonly toolName: string;
  readonly toolUseId: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly reason: string;
  /** Absent for the main agent. */
  readonly agentId?: string;
}

export type PermissionAnswer =
  | { answer: "once" }
  | { answer: "session" }
  | { answer: "no"; message?: string };
