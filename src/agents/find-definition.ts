/** Which definition a call means (SP-4, SP-5), or why none may be started. */
import type { AgentDefinition, LoadedAgents } from "../contracts/agent-definition.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { AgentContext } from "./agent-context.ts";
import type { AgentHost } from "./agent-host.ts";

export const defaultAgentType = "general-purpose";

/** What a parent may start: what the model is told of, and nothing else. */
export function startableAgents(
  { activeAgents }: LoadedAgents,
  host: Pick<AgentHost, "mayStart" | "servers">,
  parent?: Pick<AgentContext, "agentTypes">,
): AgentDefinition[] {
  return activeAgents.filter(
    (definition) =>
      host.mayStart(definition.agentType) &&
      isAmong(definition.agentType, parent?.agentTypes) &&
      missingServers(definition, host).length === 0,
  );
}

export async function findDefinition(
  agentType: string | undefined,
  host: Pick<AgentHost, "definitions" | "mayStart" | "servers">,
  parent: Pick<AgentContext, "agentTypes">,
): Promise<AgentDefinition> {
  const wanted = agentType?.trim() || defaultAgentType;
  const loaded = await host.definitions.load();
  const found = byName(loaded.activeAgents, wanted);
  const names = startableAgents(loaded, host, parent).map((definition) => definition.agentType);
  const instead = names.length === 0 ? "No agent can be started here." : `Agents: ${names.join(", ")}.`;
  // A denied name is refused as such, whether it exists or not, and never replaced by another (SP-4).
  if (!host.mayStart(found?.agentType ?? wanted))
    throw new ToolFailure(`The agent "${wanted}" is denied by a permission rule. ${instead}`, {
      code: "agent-denied",
    });
  if (found === undefined)
    throw new ToolFailure(`There is no agent named "${wanted}". ${instead}`, { code: "agent-unknown" });
  if (!isAmong(found.agentType, parent.agentTypes))
    throw new ToolFailure(`This agent may not start "${found.agentType}". ${instead}`, {
      code: "agent-denied",
    });
  return found;
}

/** As written; else the only one that differs in nothing but case. */
function byName(agents: readonly AgentDefinition[], wanted: string): AgentDefinition | undefined {
  const exact = agents.find((definition) => definition.agentType === wanted);
  if (exact) return exact;
  const alike = agents.filter((definition) => definition.agentType.toLowerCase() === wanted.toLowerCase());
  return alike.length === 1 ? alike[0] : undefined;
}

function isAmong(agentType: string, types: readonly string[] | undefined): boolean {
  return types === undefined || types.some((type) => type.toLowerCase() === agentType.toLowerCase());
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
  signal: AbortSignal,
): Promise<void> {
  const atOnce = missingServers(definition, host);
  if (atOnce.length === 0) return;
  const missing =
    (await host.servers?.waitFor(definition.requiredMcpServers ?? [], { timeoutMs: serverWaitMs, signal })) ??
    atOnce;
  if (missing.length === 0) return;
  throw new ToolFailure(
    `The agent "${definition.agentType}" needs MCP servers that are not there or offer no tools: ${missing.join(", ")}. Connect them, or use another agent.`,
    { code: "servers-missing" },
  );
}
