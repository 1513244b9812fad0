/** The beginning of an agent's conversation: its transcript, what it inherits, and what it is told first. */
import type { Block } from "../contracts/message.ts";
import { createHistory, type History } from "../loop/history.ts";
import type { Prefix } from "../loop/request.ts";
import type { Model } from "../model/model.ts";
import { type PrefixRecord, transcriptVersion } from "../transcript/record.ts";
import { createUnkeptTranscript, type TranscriptWriter } from "../transcript/writer.ts";
import type { AgentHost, Contribution } from "./agent-host.ts";
import { inheritConversation } from "./inherited-conversation.ts";
import type { SpawnRequest } from "./spawn-request.ts";

export interface StartedConversation {
  readonly transcript: TranscriptWriter;
  readonly history: History;
  readonly prefix: Prefix;
}

export function startConversation(
  host: AgentHost,
  options: {
    request: SpawnRequest;
    agentId: string;
    cwd: string;
    model: Model;
    fresh: Prefix;
  },
): StartedConversation {
  const { request, agentId, cwd, model, fresh } = options;
  const { earlier, parent, definition } = request;
  const timestamp = new Date(host.world.clock.now()).toISOString();
  const transcript =
    earlier?.writer ??
    host.transcripts?.create({
      agentId,
      agentType: definition.agentType,
      description: request.description,
      ...(parent.agent.agentId !== undefined && { parentAgentId: parent.agent.agentId }),
      ...(request.toolUseId !== undefined && { toolUseId: request.toolUseId }),
      depth: parent.depth + 1,
      cwd,
      modelId: model.id,
      startedAt: timestamp,
    }) ??
    createUnkeptTranscript();
  const history = createHistory({
    world: host.world,
    transcript,
    agentId,
    messages: earlier?.messages ?? [],
  });
  const prefix = { ...fresh, ...(request.systemPrompt !== undefined && { system: request.systemPrompt }) };
  if (earlier?.prefix !== undefined && sameTools(earlier.prefix, prefix) && earlier.prefix.model === model.id)
    return { transcript, history, prefix: { system: earlier.prefix.system, tools: earlier.prefix.tools } };
  if (earlier === undefined)
    transcript.append({
      type: "head",
      version: transcriptVersion,
      sessionId: host.sessionId,
      agentId,
      cwd,
      timestamp,
    });
  transcript.append({
    type: "prefix",
    model: model.id,
    system: prefix.system,
    tools: prefix.tools,
    reason: earlier === undefined ? "start of the agent" : "its tools, its prompt or its model changed",
  });
  return { transcript, history, prefix };
}

function sameTools(a: Pick<PrefixRecord, "tools">, b: Prefix): boolean {
  return a.tools.length === b.tools.length && a.tools.every((tool, i) => tool.name === b.tools[i]?.name);
}

/** The task, and before it what its definition and the contributors want it to know. */
export function firstTurn(
  request: SpawnRequest,
  contributions: readonly Contribution[],
  history: History,
): Block[] {
  const { definition, earlier } = request;
  if (earlier !== undefined) return [{ type: "text", text: request.prompt }];
  return [
    ...(definition.forkContext ? inheritConversation(request, history) : []),
    ...contributions.flatMap((each) => each.context ?? []),
    ...(definition.initialPrompt ? [{ type: "text" as const, text: definition.initialPrompt }] : []),
    { type: "text", text: request.prompt },
  ];
}
