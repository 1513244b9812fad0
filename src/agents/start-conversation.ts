/** The beginning of an agent's conversation: its transcript, what it inherits, and what it is told first. */
import { isoTime } from "../base/iso-time.ts";
import { neutralizeTags } from "../base/markup.ts";
import type { Block, TextBlock } from "../contracts/message.ts";
import { createHistory, type History } from "../loop/history.ts";
import type { Prefix } from "../loop/request.ts";
import type { Model } from "../model/model.ts";
import type { AgentScope } from "../tools/tool-context.ts";
import type { PrefixRecord } from "../transcript/record.ts";
import { transcriptVersion } from "../transcript/version.ts";
import { createUnkeptTranscript, type TranscriptWriter } from "../transcript/writer.ts";
import type { AgentHost, AgentStart, Contribution } from "./agent-host.ts";
import { inheritConversation } from "./inherited-conversation.ts";
import { authorityToKeep } from "./kept-authority.ts";
import type { SpawnRequest } from "./spawn-request.ts";

export interface StartedConversation {
  readonly transcript: TranscriptWriter;
  readonly history: History;
  readonly prefix: Prefix;
  /** Has to stand at the beginning of its first turn. */
  readonly inherited: readonly Block[];
}

export interface ConversationWish {
  readonly request: SpawnRequest;
  readonly start: AgentStart;
  readonly agent: AgentScope;
  readonly model: Model;
  readonly fresh: Prefix;
}

export function startConversation(host: AgentHost, wish: ConversationWish): StartedConversation {
  const { request, start, model } = wish;
  const { earlier } = request;
  const timestamp = isoTime(host.world.clock.now());
  const transcript = earlier?.writer ?? newTranscript(host, wish, timestamp);
  const history = createHistory({
    world: host.world,
    transcript,
    agentId: start.agentId,
    messages: earlier?.messages ?? [],
  });
  if (request.fork) {
    const { messages, sentCount } = request.fork;
    history.inherit({ messages, sentCount, agentId: request.parent.agent.agentId });
  }
  const fresh =
    request.systemPrompt === undefined ? wish.fresh : { ...wish.fresh, system: request.systemPrompt };
  const before = earlier?.prefix;
  if (before !== undefined && before.model === model.id && sameTools(before, fresh))
    return { transcript, history, prefix: { system: before.system, tools: before.tools }, inherited: [] };
  const reason = earlier === undefined ? "start of the agent" : "its tools or its model changed";
  transcript.append({ type: "prefix", model: model.id, system: fresh.system, tools: fresh.tools, reason });
  const inherits = request.definition.forkContext && earlier === undefined;
  return {
    transcript,
    history,
    prefix: fresh,
    inherited: inherits ? inheritConversation(request, history, timestamp) : [],
  };
}

function newTranscript(
  { transcripts, sessionId }: AgentHost,
  { request, start, agent, model }: ConversationWish,
  timestamp: string,
): TranscriptWriter {
  if (transcripts === undefined) return createUnkeptTranscript();
  const { agentId, definition, parent, description } = start;
  const cwd = agent.folder.current;
  const authority = authorityToKeep(request);
  const transcript = transcripts.create({
    agentId,
    agentType: definition.agentType,
    description,
    ...(parent.agent.agentId !== undefined && { parentAgentId: parent.agent.agentId }),
    ...(request.toolUseId !== undefined && { toolUseId: request.toolUseId }),
    depth: parent.depth + 1,
    cwd,
    modelId: model.id,
    startedAt: timestamp,
    ...(request.name !== undefined && { name: request.name }),
    ...(authority && { authority }),
  });
  transcript.append({ type: "head", version: transcriptVersion, sessionId, agentId, cwd, timestamp });
  return transcript;
}

function sameTools(a: Pick<PrefixRecord, "tools">, b: Prefix): boolean {
  return a.tools.length === b.tools.length && a.tools.every((tool, i) => tool.name === b.tools[i]?.name);
}

/**
 * The task, and before it what its definition and the contributors want it to know. What another agent or a file
 * says cannot pass for the runtime's word (PE-10).
 */
export function firstTurn(
  { definition, earlier, prompt }: SpawnRequest,
  before: {
    readonly inherited: readonly Block[];
    readonly news: readonly Block[];
    readonly contributions: readonly Contribution[];
  },
): Block[] {
  const told = prompt === undefined ? [] : [said(prompt)];
  if (earlier !== undefined) return [...before.news, ...told];
  return [
    ...before.inherited,
    ...before.news,
    ...before.contributions.flatMap((each) => each.context ?? []),
    ...(definition.initialPrompt ? [said(definition.initialPrompt)] : []),
    ...told,
  ];
}

function said(text: string): TextBlock {
  return { type: "text", text: neutralizeTags(text) };
}
