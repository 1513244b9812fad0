/** The parameters of `Agent`. The implementation takes all; the model is shown those that have a meaning here (SP-1). */
import * as z from "zod";
import { PermissionMode } from "../contracts/permission.ts";

const fields = {
  description: z
    .string()
    .min(1)
    .describe("The task in 3 to 5 words, for lists and logs. The agent does not see it."),
  prompt: z
    .string()
    .min(1)
    .describe("The task. The agent knows nothing else of this conversation: say all it needs."),
  subagent_type: z.string().optional().describe("Which agent. Default: general-purpose."),
  model: z
    .string()
    .optional()
    .describe("A model for this call only: opus, sonnet, haiku or an id. Default: the agent's own."),
  run_in_background: z
    .boolean()
    .optional()
    .describe("Go on at once; a notification comes when it has ended."),
  name: z.string().min(1).optional().describe("A name under which SendMessage reaches it."),
  team_name: z.string().min(1).optional().describe("The team it joins. Default: the current one."),
  mode: PermissionMode.optional().describe(
    "Of a teammate: plan makes it wait for approval before it changes anything.",
  ),
  isolation: z
    .enum(["worktree", "remote"])
    .optional()
    .describe("Where it works: in a git worktree of its own, or on another machine."),
  cwd: z
    .string()
    .min(1)
    .optional()
    .describe("The folder it works in. Not together with isolation: worktree."),
  resume: z
    .string()
    .min(1)
    .optional()
    .describe(
      "The id of an agent that ended: go on with it instead of starting anew. The prompt is what it is told next.",
    ),
  max_turns: z.int().positive().optional().describe("End it after this many turns."),
};

export const AgentInput = z.object(fields);
export type AgentInput = z.infer<typeof AgentInput>;

export interface AgentInputGates {
  readonly background: boolean;
  readonly fork: boolean;
  readonly sendMessage: boolean;
  readonly teams: boolean;
  readonly cwd: boolean;
  readonly worktree: boolean;
  readonly remote: boolean;
}

/** What the model is shown. */
export function shownAgentInput(gates: AgentInputGates): z.ZodType {
  const { description, prompt, subagent_type, model, resume, max_turns } = fields;
  const places = [
    ...(gates.worktree ? (["worktree"] as const) : []),
    ...(gates.remote ? (["remote"] as const) : []),
  ];
  return z.object({
    description,
    prompt,
    subagent_type,
    model,
    // With the fork gate on, all are in the background anyway.
    ...(gates.background && !gates.fork && { run_in_background: fields.run_in_background }),
    ...(gates.sendMessage && { name: fields.name }),
    ...(gates.teams && { team_name: fields.team_name, mode: fields.mode }),
    ...(places.length > 0 && {
      isolation: z
        .enum(places)
        .optional()
        .describe(fields.isolation.description ?? ""),
    }),
    ...(gates.cwd && { cwd: fields.cwd }),
    resume,
    max_turns,
  });
}
