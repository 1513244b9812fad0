import * as z from "zod";
import { PermissionMode } from "../contracts/permission.ts";

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
  /** What whoever started it held it to, beside its definition and the session. */
  authority: z
    .object({
      /** Of its starter. */
      mode: PermissionMode.optional(),
      isFork: z.boolean().optional(),
      /** Stand instead of the allow rules that it would inherit. */
      allowedTools: z.array(z.string()).optional(),
      /** Of a fork: those of its parent. */
      limits: z
        .object({
          within: z.array(z.tuple([z.string(), z.array(z.string())])).optional(),
          denied: z.array(z.string()).optional(),
          readOnlyTools: z.array(z.string()).optional(),
          allowInstead: z.array(z.string()).optional(),
        })
        .optional(),
    })
    .optional(),
});
export type AgentMeta = z.infer<typeof AgentMeta>;
