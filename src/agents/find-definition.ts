/** Which definition a call means (SP-4, SP-5), or why none may be started. */

import type { Scope } from "../base/cancellation.ts";
import { unlessCancelled } from "../base/cancellation.ts";
import type { AgentDefinition, LoadedAgents } from "../contracts/agent-definition.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { AgentPermissions } from "../tools/tool-context.ts";
import type { AgentHost } from "./agent-host.ts";

export const defaultAgentType = "general-purpose";

/** What an agent with these permissions may start: what its model is told of, and nothing else. */
export function startableAgents(
  { activeAgents }: LoadedAgents,
  host: Pick<AgentHost, "mayStart" | "servers">,
  starter: AgentPermissions | undefined,
): AgentDefinition[] {
  return activeAgents.filter(
    (definition) =>
      host.mayStart(definition.agentType, starter) && missingServers(definition, host).length === 0,
  );
}

export async function findDefinition(
  agentType: string | undefined,
  host: Pick<AgentHost, "definitions" | "mayStart" | "servers">,
  starter: AgentPermissions | undefined,
): Promise<AgentDefinition> {
  const wanted = agentType?.trim() || defaultAgentType;
  const loaded = await host.definitions.load();
  const found = byName(loaded.activeAgents, wanted);
  const fail = (problem: string, code: string) => {
    const names = startableAgents(loaded, host, starter).map((definition) => definition.agentType);
    const instead = names.length === 0 ? "No agent can be started here." : `Agents: ${names.join(", ")}.`;
    return new ToolFailure(`${problem} ${instead}`, { code });
  };
  // A denied name is refused as such, whether it exists or not, and never replaced by another (SP-4).
  const name = found?.agentType ?? wanted;
  if (!host.mayStart(name, undefined))
    throw fail(`The agent "${name}" is denied by a permission rule.`, "agent-denied");
  if (!host.mayStart(name, starter)) throw fail(`This agent may not start "${name}".`, "agent-denied");
  if (found === undefined) throw fail(`There is no agent named "${wanted}".`, "agent-unknown");
  return found;
}

/** As written; else the only one that differs in nothing but case. */
function byName(agents: readonly AgentDefinition[], wanted: string): AgentDefinition | undefined {
  const exact = agents.find((definition) => definition.agentType === wanted);
  if (exact) return exact;
  const alike = agents.filter((definition) => definition.agentType.toLowerCase() === wanted.toLowerCase());
  return alike.length === 1 ? alike[0] : undefined;
}

function missingServers(
  { requiredMcpServers }: AgentDefinition,
  { servers }: Pick<AgentHost, "servers">,
): readonly string[] {
  if (requiredMcpServers === undefined || requiredMcpServers.length === 0) return [];
  return servers === undefined ? requiredMcpServers : servers.missing(requiredMcpServers);
}

const serverWaitMs = 30_000;

/** SP-6: waits for servers that still connect, then fails with the names missing. */
export async function requireServers(
  definition: AgentDefinition,
  host: Pick<AgentHost, "servers">,
  scope: Scope,
): Promise<void> {
  const atOnce = missingServers(definition, host);
  if (atOnce.length === 0) return;
  const patterns = definition.requiredMcpServers ?? [];
  const waiting = host.servers?.waitFor(patterns, { timeoutMs: serverWaitMs, scope });
  const missing = waiting === undefined ? atOnce : await unlessCancelled(waiting, scope);
  if (missing.length === 0) return;
  throw new ToolFailure(
    `The agent "${definition.agentType}" needs MCP servers that are not there or offer no tools: ${missing.join(", ")}. Connect them, or use another agent.`,
    { code: "servers-missing" },
  );
}
