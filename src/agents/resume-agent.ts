/** Going on with an agent that ended or was interrupted (TA-24). */
import { resolve } from "node:path";
import { ToolFailure } from "../tools/tool.ts";
import type { AgentContext } from "./agent-context.ts";
import type { AgentHost } from "./agent-host.ts";
import { defaultAgentType, findDefinition } from "./find-definition.ts";
import type { EarlierRun, SpawnRequest } from "./spawn-request.ts";

export async function loadEarlierRun(
  agentId: string,
  host: AgentHost,
  parent: AgentContext,
): Promise<Pick<SpawnRequest, "definition" | "cwd"> & { earlier: EarlierRun }> {
  const { transcripts } = host;
  if (transcripts === undefined)
    throw new ToolFailure("This session keeps no transcripts, so no agent can be resumed.", {
      code: "agent-unknown",
    });
  if (host.live.of(agentId) !== undefined)
    throw new ToolFailure(`The agent ${agentId} is still at work: wait for its end.`, {
      code: "agent-running",
    });
  const { meta, loaded, writer } = await transcripts.reopen(agentId);
  const notes: string[] = [];
  const wanted = meta.agentType;
  let definition = await findDefinition(wanted, host, parent).catch((error: unknown) => {
    if (error instanceof ToolFailure && error.code === "agent-unknown") return undefined;
    throw error;
  });
  if (definition === undefined) {
    definition = await findDefinition(defaultAgentType, host, parent);
    notes.push(`its definition "${wanted}" is gone; it went on as ${definition.agentType}`);
  }
  const earlier = { agentId, messages: loaded.messages, prefix: loaded.prefix, writer, notes };
  const cwd = await existing(host, resolve(meta.cwd));
  return { definition, earlier, ...(cwd !== undefined && { cwd }) };
}

/** Where it worked, if that is still there. */
async function existing(host: AgentHost, folder: string): Promise<string | undefined> {
  const info = await host.world.files.stat(folder).catch(() => undefined);
  return info?.kind === "folder" ? folder : undefined;
}
