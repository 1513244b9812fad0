/**
 * Tells of everything of whose end nobody has heard when the process died, once: as the result of the call that waited
 * for it, or as a notification. What tells of it carries an id that follows from the task and that the transcript
 * keeps, so the next reading knows.
 */
import type { Message } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import { totalTokensOf } from "../contracts/usage.ts";
import { endIdOf } from "../tasks/background.ts";
import { notificationOf, type TaskEnd } from "../tasks/notification.ts";
import { type AgentStanding, interruptedText } from "../transcript/agent-standing.ts";
import type { LoadedTranscript } from "../transcript/reader.ts";
import type { TaskRecord } from "../transcript/record.ts";

export interface UntoldEnds {
  readonly messages: readonly Message[];
  readonly added: readonly Message[];
  readonly reports: readonly QueueItem[];
  /** Agents that were cut off, of whom is told now, either way. */
  readonly interrupted: readonly AgentStanding[];
}

/** Something that has ended, or was cut off. */
interface End {
  readonly reportId: string;
  /** Under which it may have been told as well. */
  readonly otherId?: string;
  /** Of the main agent: the call that started it. */
  readonly toolUseId: string | undefined;
  /** Of an agent: calls that resume it wait for it, too. */
  readonly agentId?: string;
  readonly interrupted?: AgentStanding;
  readonly notice: () => TaskEnd;
}

export function reportUntoldEnds(loaded: LoadedTranscript, agents: readonly AgentStanding[]): UntoldEnds {
  const ends = [...endsOfAgents(loaded, agents), ...endsOfOthers(loaded, agents)];
  const untold = ends.filter(
    ({ reportId, otherId = reportId }) => !loaded.queueItems.has(reportId) && !loaded.queueItems.has(otherId),
  );
  const answered = new Set(untold.filter((end) => isAnsweredIn(loaded, end)));
  const added = withReports(
    loaded.added,
    [...answered].map(({ reportId }) => reportId),
  );
  return {
    messages: [...loaded.messages.slice(0, loaded.messages.length - added.length), ...added],
    added,
    reports: untold
      .filter((end) => !answered.has(end))
      .map(({ reportId, notice }) => ({
        uuid: reportId,
        mode: "task-notification",
        priority: "later",
        content: [{ type: "text", text: notificationOf(notice()) }],
      })),
    interrupted: untold.flatMap((end) => end.interrupted ?? []),
  };
}

/** Those that were cut off, and those that ended while nobody waited for them. */
function endsOfAgents(loaded: LoadedTranscript, agents: readonly AgentStanding[]): End[] {
  const tasks = new Map(loaded.tasks.map((task) => [task.id, task]));
  return agents.flatMap((agent) => {
    const task = tasks.get(agent.meta.agentId);
    return [...endOfRun(agent, task, loaded), ...endOfLostRun(agent, task, loaded)];
  });
}

type StoredTask = TaskRecord["task"];

/** Of the last run that stands in its transcript. */
function endOfRun(agent: AgentStanding, task: StoredTask | undefined, loaded: LoadedTranscript): End[] {
  const { meta, status, end, lastMessageUuid } = agent;
  const { agentId } = meta;
  const toolUseId = callOf(agent);
  const outputFile = task?.outputFile;
  const endId = endIdOf(agentId, lastMessageUuid);
  if (status === "interrupted")
    return [
      {
        // Another one for each run: a run that begins adds a message.
        reportId: `interrupted:${agentId}:${lastMessageUuid ?? "start"}`,
        // It may have told of its end and failed to keep it.
        otherId: endId,
        toolUseId,
        agentId,
        interrupted: agent,
        notice: () => ({ ...interruptionOf(agent, loaded), outputFile }),
      },
    ];
  if (end?.background !== true) return [];
  return [{ reportId: endId, toolUseId, agentId, notice: () => ({ ...endOf(agent), outputFile }) }];
}

/** It went on in the background, whoever wanted that was told so, and nothing of it came to its transcript. */
function endOfLostRun(agent: AgentStanding, task: StoredTask | undefined, loaded: LoadedTranscript): End[] {
  const { meta, status, lastMessageUuid, lastMessageAt } = agent;
  const { agentId } = meta;
  if (task?.status !== "running" || lastMessageAt === undefined) return [];
  if (Date.parse(lastMessageAt) >= Math.floor(task.startedAt)) return [];
  // The message that woke it still waits, and wakes it again.
  if (status !== "interrupted" && loaded.waiting.some(({ target }) => target === agentId)) return [];
  const { result, ...told } = interruptionOf(agent, loaded);
  return [
    {
      reportId: `interrupted:${agentId}:${lastMessageUuid}:${task.startedAt}`,
      toolUseId: task.parentAgentId === undefined ? task.toolUseId : undefined,
      agentId,
      interrupted: agent,
      notice: () => ({
        ...told,
        toolUseId: task.toolUseId,
        outputFile: task.outputFile,
        result: `${result} What it was asked last did not reach it: say it again.`,
      }),
    },
  ];
}

/** Two agents may have calls of the same id: here only those of the main one count. */
function callOf({ meta }: AgentStanding): string | undefined {
  return meta.parentAgentId === undefined ? meta.toolUseId : undefined;
}

/** Shells, and agents that were cut off before they had a transcript. */
function endsOfOthers({ tasks }: LoadedTranscript, agents: readonly AgentStanding[]): End[] {
  const known = new Set(agents.map(({ meta }) => meta.agentId));
  return tasks
    .filter(({ id }) => !known.has(id))
    .map((task) => ({
      reportId: endIdOf(task.id, undefined),
      // Where its answer was lost, the call now says that nothing is known of it, and nothing of the task.
      toolUseId: undefined,
      notice: () => endOfTask(task),
    }));
}

function endOfTask(task: StoredTask): TaskEnd {
  const { id, toolUseId, outputFile, status, description, exitCode } = task;
  const what = task.kind === "local_bash" ? "Background command" : "Task";
  const common = { taskId: id, toolUseId, outputFile };
  if (status === "pending" || status === "running")
    return {
      ...common,
      status: "failed",
      summary: `${what} "${description}" was interrupted`,
      result:
        "The process that ran it ended before it did, so how it would have ended is not known. What it wrote until then is in its output file.",
    };
  const code = exitCode === undefined || exitCode === null ? "" : ` (exit code ${exitCode})`;
  return { ...common, status, summary: `${what} "${description}" ${status}${code}` };
}

/** Whether a call that waited for it was answered just now. One that had been answered with its start is none. */
function isAnsweredIn(
  { messages, added, lostCalls }: LoadedTranscript,
  { toolUseId, agentId }: End,
): boolean {
  // The message with the calls may have been recorded; what answers them was not.
  const calls = messages.slice(-added.length - 1).flatMap(({ content }) => toolUsesOf(content));
  return calls.some(
    ({ id, input }) =>
      lostCalls.has(id) && (id === toolUseId || (agentId !== undefined && input.resume === agentId)),
  );
}

function withReports(added: readonly Message[], ids: readonly string[]): readonly Message[] {
  const last = added.at(-1);
  if (last === undefined || ids.length === 0) return added;
  return [...added.slice(0, -1), { ...last, queueItems: [...ids] }];
}

function interruptionOf(agent: AgentStanding, { waiting }: Pick<LoadedTranscript, "waiting">): TaskEnd {
  const { agentId, toolUseId, description, parentAgentId } = agent.meta;
  const starter = parentAgentId === undefined ? "" : ` It was started by the agent ${parentAgentId}.`;
  return {
    taskId: agentId,
    toolUseId,
    status: "failed",
    summary: `Agent "${description}" was interrupted`,
    result: `${interruptedText(agent)}${starter}${unheardBy(agentId, waiting)}`,
  };
}

function unheardBy(agentId: string, waiting: readonly QueueItem[]): string {
  const count = waiting.filter(({ target, mode }) => target === agentId && mode === "prompt").length;
  if (count === 0) return "";
  return ` ${count === 1 ? "1 message waits" : `${count} messages wait`} for it, and will reach it then.`;
}

const words = { completed: "completed", failed: "failed", killed: "was stopped" } as const;

function endOf({ meta, status, endReason, text, end }: AgentStanding): TaskEnd {
  const ended = status === "running" || status === "interrupted" ? "failed" : status;
  const note = ended === "completed" ? [] : [`It did not complete its task (${endReason}).`];
  const receipt = end?.receipt;
  return {
    taskId: meta.agentId,
    toolUseId: meta.toolUseId,
    status: ended,
    summary: `Agent "${meta.description}" ${words[ended]}`,
    result: [...note, text].filter((part) => part !== "").join("\n\n"),
    ...(end && {
      usage: {
        totalTokens: totalTokensOf(end.usage),
        toolUses: receipt ? receipt.calls.length + receipt.omittedCalls : 0,
        durationMs: end.durationMs ?? 0,
      },
    }),
  };
}
