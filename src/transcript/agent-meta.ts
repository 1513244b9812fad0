import * as z from "zod";

/** Who an agent is, apart from what it said (TA-22). */
export const AgentMeta = z.object({
  agentId: z.string(),
  agentType: z.string(),
  /** 3 to 5 words. */
  description: z.string(),
  /** Absent: the main agent started it. */
  parentAgentId: z.string().optional(),
  /** The call that started it. */
  toolUseId: z.string().optional(),
  depth: z.number(),
  cwd: z.string(),
  modelId: z.string().optional(),
  worktree: z.object({ path: z.string(), branch: z.string() }).optional(),
  /** ISO 8601. */
  startedAt: z.string(),
  name: z.string().optional(),
});
export type AgentMeta = z.infer<typeof AgentMeta>;
