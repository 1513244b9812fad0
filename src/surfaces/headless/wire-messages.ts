/** What happens in a session, as the objects of stream-json. Pure: ids come in as arguments. */
import type { LoopEvent } from "../../contracts/event.ts";
import type { Block, Message } from "../../contracts/message.ts";
import type { PermissionMode } from "../../contracts/permission.ts";
import type { Session } from "../../runtime/session.ts";
import type { WatchedAgent } from "./watch-agents.ts";
import { wireStopReason, wireStreamEvents } from "./wire-stream-event.ts";
import { wireUsage } from "./wire-usage.ts";

export type WireMessage = Record<string, unknown>;

export interface WireContext {
  readonly sessionId: string;
  readonly uuid: () => string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly includePartialMessages: boolean;
}

export function wireInit(options: {
  session: Session;
  version: string;
  apiKeySource: string;
  context: WireContext;
}): WireMessage {
  const { session, context } = options;
  return systemMessage(context, "init", {
    apiKeySource: options.apiKeySource,
    claude_code_version: options.version,
    cwd: session.cwd,
    tools: session.toolNames,
    mcp_servers: [],
    model: session.modelId,
    permissionMode: wirePermissionMode(session.permissionMode),
    slash_commands: [],
    output_style: "default",
    skills: [],
    plugins: [],
    agents: session.agentNames,
  });
}

/** The objects that one event of the main agent becomes: none, for most of them. */
export function wireMessagesOf(event: LoopEvent, context: WireContext): WireMessage[] {
  switch (event.type) {
    case "compaction-start":
      return [systemMessage(context, "status", { status: "compacting" })];
    case "compaction-end":
      return [
        systemMessage(context, "status", { status: null }),
        ...(event.problem === undefined
          ? [
              systemMessage(context, "compact_boundary", {
                compact_metadata: {
                  trigger: event.trigger === "manual" ? "manual" : "auto",
                  pre_tokens: event.promptTokensBefore,
                },
              }),
            ]
          : []),
      ];
    case "message-append":
      // The prompt is the caller's own; what the tools said is news.
      return isNews(event.message) ? [wireAppended(event.message, { context })] : [];
    default:
      return wireShared(event, { context });
  }
}

/** The same for an agent's. What would speak of the state of the whole session is left out. */
export function wireAgentMessagesOf(
  event: LoopEvent,
  options: {
    context: WireContext;
    agent: WatchedAgent;
    /** Also what it says and is told, not only its calls and their results. */
    withText: boolean;
  },
): WireMessage[] {
  if (event.type !== "message-append") return wireShared(event, options);
  if (options.withText) return [wireAppended(event.message, options)];
  const content = event.message.content.filter(({ type }) => type === "tool_use" || type === "tool_result");
  return content.length === 0 ? [] : [wireAppended({ ...event.message, content }, options)];
}

interface Frame {
  readonly context: WireContext;
  /** Absent: the main agent. */
  readonly agent?: WatchedAgent;
}

function wireShared(event: LoopEvent, { context, agent }: Frame): WireMessage[] {
  switch (event.type) {
    case "model-event":
      if (!context.includePartialMessages) return [];
      return wireStreamEvents(event.event).map((wire) => ({
        type: "stream_event",
        event: wire,
        parent_tool_use_id: agent?.toolUseId ?? null,
        session_id: context.sessionId,
        uuid: context.uuid(),
      }));
    case "model-retry":
      return [
        systemMessage(context, "api_retry", {
          attempt: event.attempt,
          max_retries: null,
          retry_delay_ms: event.delayMs,
          error_status: null,
          error: event.reason,
          ...(agent && { parent_tool_use_id: agent.toolUseId ?? null, agent_id: agent.id }),
        }),
      ];
    case "call-denied":
      return [
        systemMessage(context, "permission_denied", {
          tool_name: event.call.name,
          tool_use_id: event.call.id,
          decision_reason: event.reason,
          message: event.reason,
          ...(agent && { parent_tool_use_id: agent.toolUseId ?? null, agent_id: agent.id }),
        }),
      ];
    default:
      return [];
  }
}

export function systemMessage(context: WireContext, subtype: string, fields: WireMessage): WireMessage {
  return { type: "system", subtype, ...fields, session_id: context.sessionId, uuid: context.uuid() };
}

/** What the user may want next, until they say something. */
export function wireSuggestion(suggestion: string, context: WireContext): WireMessage {
  return {
    type: "prompt_suggestion",
    suggestion,
    session_id: context.sessionId,
    uuid: context.uuid(),
  };
}

function isNews({ role, content }: Message): boolean {
  return role === "assistant" || content.some((block) => block.type === "tool_result");
}

function wireAppended(message: Message, { context, agent }: Frame): WireMessage {
  return {
    type: message.role,
    message:
      message.role === "assistant"
        ? wireAssistant(message, context)
        : { role: "user", content: message.content },
    parent_tool_use_id: agent?.toolUseId ?? null,
    ...(agent && { agent_id: agent.id, subagent_type: agent.type, task_description: agent.description }),
    session_id: context.sessionId,
    uuid: message.uuid,
  };
}

function wireAssistant(message: Message, context: WireContext): WireMessage {
  const { response } = message;
  return {
    id: response?.id ?? `msg_${context.uuid()}`,
    type: "message",
    role: "assistant",
    model: response?.model ?? "<synthetic>",
    content: message.content.map(wireBlock),
    stop_reason: response === undefined ? null : wireStopReason(response.stopReason),
    stop_sequence: null,
    stop_details: null,
    container: null,
    context_management: null,
    diagnostics: null,
    usage: wireUsage(
      response?.usage ?? { inputTokens: 0, outputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0 },
    ),
  };
}

function wireBlock(block: Block): WireMessage {
  return block.type === "text" ? { ...block, citations: null } : { ...block };
}

/** `bubble` means that a parent is asked: to the outside that is the default. */
export function wirePermissionMode(mode: PermissionMode): string {
  return mode === "bubble" ? "default" : mode;
}
