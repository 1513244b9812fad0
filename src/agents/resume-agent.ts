/** Going on with an agent that ended or was interrupted (TA-24). */
import type { Scope } from "../base/cancellation.ts";
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { AgentMeta } from "../transcript/agent-meta.ts";
import type { ReopenedTranscript } from "../transcript/agent-transcripts.ts";
import type { PrefixRecord } from "../transcript/record.ts";
import type { AgentContext } from "./agent-context.ts";
import { folderBefore } from "./agent-folder.ts";
import type { AgentHost } from "./agent-host.ts";
import { defaultAgentType, findDefinition, requireServers } from "./find-definition.ts";
import { forkDefinition } from "./fork.ts";
import { restoredLimits, withinKept } from "./kept-authority.ts";
import type { EarlierRun, SpawnRequest } from "./spawn-request.ts";

export type ResumedStart = Pick<SpawnRequest, "definition" | "cwd" | "parent" | "allowedTools"> & {
  readonly earlier: EarlierRun;
  /** What it was about when it was started. */
  readonly description: string;
};

/** `parentOf`: under whom it goes on. */
export async function loadEarlierRun(
  agentId: string,
  { host, parentOf, scope }: { host: AgentHost; parentOf: (meta: AgentMeta) => AgentContext; scope: Scope },
): Promise<ResumedStart> {
  const { transcripts } = host;
  if (transcripts === undefined)
    throw new ToolFailure("This session keeps no transcripts, so no agent can be resumed.", {
      code: "agent-unknown",
    });
  if (host.live.of(agentId) !== undefined)
    throw new ToolFailure(`The agent ${agentId} is running, so it cannot be resumed. Wait for its end.`, {
      code: "agent-running",
    });
  const reopened = await transcripts.reopen(agentId);
  try {
    const parent = withinKept(parentOf(reopened.meta), reopened.meta);
    return await prepareToGoOn(reopened, { host, parent, scope });
  } catch (error) {
    // Left open it would count as running for ever.
    await reopened.writer.close();
    throw error;
  }
}

async function prepareToGoOn(
  { meta, loaded, writer }: ReopenedTranscript,
  { host, parent, scope }: { host: AgentHost; parent: AgentContext; scope: Scope },
): Promise<ResumedStart> {
  const { definition, notes } = meta.authority?.isFork
    ? { definition: forkDefinition, notes: [] }
    : await definitionNow({ agentType: meta.agentType, tools: loaded.prefix?.tools }, host, parent);
  await requireServers(definition, host, scope);
  const { folder } = parent.agent;
  const cwd = await folderBefore(meta.cwd, folder, host.world);
  if (cwd === undefined) notes.push(`it can no longer work in ${meta.cwd}; it went on in ${folder.root}`);
  const { messages, prefix } = loaded;
  const limits = restoredLimits(meta.authority);
  const allowedTools = meta.authority?.allowedTools;
  return {
    definition,
    earlier: { agentId: meta.agentId, messages, prefix, writer, notes, ...(limits && { limits }) },
    parent,
    description: meta.description,
    ...(cwd !== undefined && { cwd }),
    ...(allowedTools && { allowedTools }),
  };
}

/** Looked up again; a denied one is refused, one that is gone is replaced. */
async function definitionNow(
  { agentType, tools }: { agentType: string; tools: PrefixRecord["tools"] | undefined },
  host: AgentHost,
  { agent }: AgentContext,
): Promise<{ definition: AgentDefinition; notes: string[] }> {
  try {
    return { definition: await findDefinition(agentType, host, agent.permissions), notes: [] };
  } catch (error) {
    if (!(error instanceof ToolFailure) || error.code !== "agent-unknown") throw error;
  }
  const definition = await findDefinition(defaultAgentType, host, agent.permissions);
  return {
    // It gets no tool that it had not before.
    definition: tools === undefined ? definition : { ...definition, tools: tools.map(({ name }) => name) },
    notes: [`its definition "${agentType}" is gone; it went on as ${definition.agentType}`],
  };
}
