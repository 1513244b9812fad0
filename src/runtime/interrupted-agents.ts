/**
 * Tells of each agent that was running when its process died, once: as the result of the call that waited for it, or
 * as a notification. What tells of it carries an id that the transcript keeps, so the next reading knows.
 */
import type { Message } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import { notificationOf } from "../tasks/notification.ts";
import { type AgentStanding, interruptedText } from "../transcript/agent-standing.ts";
import type { LoadedTranscript } from "../transcript/reader.ts";

export interface Interruptions {
  readonly messages: readonly Message[];
  readonly added: readonly Message[];
  readonly reports: readonly QueueItem[];
  /** Of whom is told now, either way. */
  readonly told: readonly AgentStanding[];
}

export function reportInterruptions(
  loaded: LoadedTranscript,
  agents: readonly AgentStanding[],
): Interruptions {
  const untold = agents.filter(
    (agent) => agent.status === "interrupted" && !loaded.queueItems.has(reportIdOf(agent)),
  );
  const answered = new Set(untold.filter((agent) => isAnsweredIn(loaded, agent)));
  const rest = untold.filter((agent) => !answered.has(agent));
  const added = withReports(loaded.added, [...answered].map(reportIdOf));
  return {
    messages: [...loaded.messages.slice(0, loaded.messages.length - added.length), ...added],
    added,
    reports: rest.map((agent) => ({
      uuid: reportIdOf(agent),
      mode: "task-notification",
      priority: "later",
      content: [{ type: "text", text: interruptionNotice(agent) }],
    })),
    told: untold,
  };
}

/** Another one for each run: a run that begins adds a message. */
function reportIdOf({ meta, lastMessageUuid }: AgentStanding): string {
  return `interrupted:${meta.agentId}:${lastMessageUuid ?? "start"}`;
}

/** Whether a call that waited for it was answered just now. */
function isAnsweredIn({ messages, added }: LoadedTranscript, { meta }: AgentStanding): boolean {
  // The message with the calls may have been recorded; what answers them was not.
  const calls = messages.slice(-added.length - 1).flatMap(({ content }) => toolUsesOf(content));
  const waited = calls.filter(({ id, input }) => id === meta.toolUseId || input.resume === meta.agentId);
  return added.some(({ content }) =>
    content.some(
      (block) => block.type === "tool_result" && waited.some(({ id }) => id === block.tool_use_id),
    ),
  );
}

function withReports(added: readonly Message[], ids: readonly string[]): readonly Message[] {
  const last = added.at(-1);
  if (last === undefined || ids.length === 0) return added;
  return [...added.slice(0, -1), { ...last, queueItems: [...ids] }];
}

function interruptionNotice(agent: AgentStanding): string {
  const { agentId, toolUseId, description, parentAgentId } = agent.meta;
  const starter = parentAgentId === undefined ? "" : ` It was started by the agent ${parentAgentId}.`;
  return notificationOf({
    taskId: agentId,
    toolUseId,
    status: "failed",
    summary: `Agent "${description}" was interrupted`,
    result: `${interruptedText(agent)}${starter}`,
  });
}
