/** An agent's start, progress and end, as the `system` objects of stream-json. Its task id is its agent id. */
import type { Moment, WatchedAgent } from "./watch-agents.ts";
import { systemMessage, type WireContext, type WireMessage } from "./wire-messages.ts";

export function wireTaskStarted(agent: WatchedAgent, prompt: string, context: WireContext): WireMessage {
  return systemMessage(context, "task_started", {
    ...subjectOf(agent),
    task_type: "local_agent",
    is_backgrounded: false,
    spawn_depth: agent.depth,
    ...(agent.parent && { parent_task_id: agent.parent.id }),
    prompt,
  });
}

export function wireTaskProgress(agent: WatchedAgent, durationMs: number, context: WireContext): WireMessage {
  return systemMessage(context, "task_progress", {
    ...subjectOf(agent),
    usage: { total_tokens: agent.tokens, tool_uses: agent.toolUses, duration_ms: Math.round(durationMs) },
    ...(agent.lastToolName !== undefined && { last_tool_name: agent.lastToolName }),
  });
}

/** Nobody waits for it any longer; it goes on. */
export function wireTaskBackgrounded(agent: WatchedAgent, context: WireContext): WireMessage {
  return systemMessage(context, "task_updated", { task_id: agent.id, patch: { is_backgrounded: true } });
}

export function wireTaskEnded(
  end: Extract<Moment, { type: "agent-end" }>,
  durationMs: number,
  context: WireContext,
): WireMessage[] {
  const { agent, status, totalTokens, toolUses } = end;
  const ended = status === "killed" ? "stopped" : status;
  return [
    systemMessage(context, "task_updated", { task_id: agent.id, patch: { status, end_time: context.now() } }),
    systemMessage(context, "task_notification", {
      task_id: agent.id,
      tool_use_id: agent.toolUseId,
      status: ended,
      // What it said is the result of its call, which follows.
      output_file: "",
      summary: `${agent.description}: ${ended}`,
      usage: { total_tokens: totalTokens, tool_uses: toolUses, duration_ms: Math.round(durationMs) },
    }),
  ];
}

function subjectOf(agent: WatchedAgent): WireMessage {
  return {
    task_id: agent.id,
    tool_use_id: agent.toolUseId,
    description: agent.description,
    subagent_type: agent.type,
  };
}
