/**
 * What an agent was held to by whoever started it. It is kept with the agent, so that it can do no more when it goes on
 * and that one is gone.
 */
import type { AgentPermissions } from "../tools/tool-context.ts";
import type { AgentMeta } from "../transcript/agent-meta.ts";
import type { AgentContext } from "./agent-context.ts";
import { createChildMode } from "./child-mode.ts";
import type { SpawnRequest } from "./spawn-request.ts";

type KeptAuthority = NonNullable<AgentMeta["authority"]>;

/** Undefined: nothing but what its definition and the session say. */
export function authorityToKeep({ parent, fork, allowedTools }: SpawnRequest): KeptAuthority | undefined {
  const { agentId, mode, permissions } = parent.agent;
  if (agentId === undefined && fork === undefined && allowedTools === undefined) return undefined;
  return {
    ...(agentId !== undefined && { mode: mode.current }),
    ...(fork && { isFork: true, ...(permissions && { limits: limitsOf(permissions) }) }),
    ...(allowedTools && { allowedTools: [...allowedTools] }),
  };
}

/** Whoever it goes on under, within what its starter had. */
export function withinKept(parent: AgentContext, { parentAgentId, authority }: AgentMeta): AgentContext {
  const { agent } = parent;
  if (authority?.mode === undefined || agent.agentId === parentAgentId) return parent;
  const mode = createChildMode({ parent: agent.mode, wish: authority.mode });
  return { ...parent, agent: { ...agent, mode } };
}

function limitsOf({
  within,
  denied,
  readOnlyTools,
  allowInstead,
}: AgentPermissions): KeptAuthority["limits"] {
  return {
    ...(within && { within: [...within].map(([name, rules]) => [name, [...rules]]) }),
    ...(denied && { denied: [...denied] }),
    ...(readOnlyTools && { readOnlyTools: [...readOnlyTools] }),
    ...(allowInstead && { allowInstead: [...allowInstead] }),
  };
}

export function restoredLimits(authority: KeptAuthority | undefined): AgentPermissions | undefined {
  const limits = authority?.limits;
  if (limits === undefined) return undefined;
  const { within, denied, readOnlyTools, allowInstead } = limits;
  return {
    ...(within && { within: new Map(within) }),
    ...(denied && { denied }),
    ...(readOnlyTools && { readOnlyTools: new Set(readOnlyTools) }),
    ...(allowInstead && { allowInstead }),
  };
}
