/** Tasks as the objects of stream-json. The task id of an agent is its agent id. */
import type { Task } from "../../contracts/task.ts";
import { totalTokensOf } from "../../contracts/usage.ts";
import type { Moment, WatchedAgent } from "./watch-agents.ts";
import { systemMessage, type WireContext, type WireMessage } from "./wire-messages.ts";

export function wireTaskStarted(agent: WatchedAgent, prompt: string, context: WireContext): WireMessage {
  return systemMessage(context, "task_started", {
    ...subjectOf(agent),
    task_type: "local_agent",
    is_backgrounded: agent.inBackground,
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

export function wireTaskStalled(task: Task, context: WireContext): WireMessage {
  return systemMessage(context, "task_progress", {
    ...progressFields(task, context),
    summary: "Stalled: nothing has happened in it for a while.",
    state: "stalled",
  });
}

/** What an agent does, in its own words. */
export function wireTaskSummary(task: Task, context: WireContext): WireMessage {
  const { summary } = task.agent?.progress ?? {};
  return systemMessage(context, "task_progress", { ...progressFields(task, context), summary });
}

function progressFields(task: Task, context: WireContext): WireMessage {
  const { id, description, toolUseId, agent, startedAt } = task;
  return {
    task_id: id,
    ...(toolUseId !== undefined && { tool_use_id: toolUseId }),
    description,
    ...(agent && { subagent_type: agent.agentType }),
    usage: {
      total_tokens: agent === undefined ? 0 : totalTokensOf(agent.progress.usage),
      tool_uses: agent?.progress.toolUses ?? 0,
      duration_ms: Math.round(context.now() - startedAt),
    },
  };
}

/** Nobody waits for it any longer; it goes on. */
export function wireTaskBackgrounded(agent: WatchedAgent, context: WireContext): WireMessage {
  return systemMessage(context, "task_updated", { task_id: agent.id, patch: { is_backgrounded: true } });
}

export function wireTaskEnded(
  end: Extract<Moment, { type: "agent-end" }>,
  { durationMs, outputFile = "" }: { durationMs: number; outputFile?: string | undefined },
  context: WireContext,
): WireMessage[] {
  const { agent, status, totalTokens, toolUses, receipt } = end;
  const ended = wireStatus(status);
  return [
    systemMessage(context, "task_updated", { task_id: agent.id, patch: { status, end_time: context.now() } }),
    systemMessage(context, "task_notification", {
      task_id: agent.id,
      ...(agent.toolUseId !== undefined && { tool_use_id: agent.toolUseId }),
      status: ended,
      // Without one, what it said is the result of its call, which follows.
      output_file: outputFile,
      summary: `${agent.description}: ${ended}`,
      usage: { total_tokens: totalTokens, tool_uses: toolUses, duration_ms: Math.round(durationMs) },
      ...(receipt && { receipt }),
    }),
  ];
}

/** Something other than an agent goes on in the background. */
export function wireOtherTaskStarted(task: Task, context: WireContext): WireMessage {
  return systemMessage(context, "task_started", { ...taskFields(task), is_backgrounded: true });
}

export function wireOtherTaskEnded(task: Task, context: WireContext): WireMessage[] {
  const { id, status, toolUseId, description, error } = task;
  const endedAt = task.endedAt ?? context.now();
  const ended = wireStatus(status);
  const exit = typeof task.exitCode === "number" ? ` (exit code ${task.exitCode})` : "";
  return [
    systemMessage(context, "task_updated", {
      task_id: id,
      patch: { status, end_time: endedAt, ...(error !== undefined && { error }) },
    }),
    systemMessage(context, "task_notification", {
      task_id: id,
      ...(toolUseId !== undefined && { tool_use_id: toolUseId }),
      status: ended,
      output_file: task.outputFile ?? "",
      summary: `${description}: ${ended}${exit}`,
      usage: { total_tokens: 0, tool_uses: 0, duration_ms: Math.round(endedAt - task.startedAt) },
    }),
  ];
}

export function wireBackgroundTasks(tasks: readonly Task[], context: WireContext): WireMessage {
  return systemMessage(context, "background_tasks_changed", { tasks: tasks.map(taskFields) });
}

function taskFields({ id, kind, description, toolUseId, parentAgentId, agent }: Task): WireMessage {
  return {
    task_id: id,
    task_type: kind,
    description,
    ...(toolUseId !== undefined && { tool_use_id: toolUseId }),
    ...(agent && { subagent_type: agent.agentType }),
    ...(parentAgentId !== undefined && { parent_task_id: parentAgentId }),
  };
}

function wireStatus(status: Task["status"]): string {
  return status === "killed" ? "stopped" : status;
}

function subjectOf(agent: WatchedAgent): WireMessage {
  return {
    task_id: agent.id,
    ...(agent.toolUseId !== undefined && { tool_use_id: agent.toolUseId }),
    description: agent.description,
    subagent_type: agent.type,
  };
}
