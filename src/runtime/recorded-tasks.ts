/**
 * All tasks of one session, running or not: from the records of tasks in its transcript, from the transcripts of its
 * agents, and, if it runs, from what it says itself. Each id is there once, with its latest run.
 */

import type { FileSystem, World } from "../base/world.ts";
import { textOf } from "../contracts/message-content.ts";
import type { TaskStatus } from "../contracts/task.ts";
import { isGoingOn as isTaskGoingOn } from "../contracts/task.ts";
import type { Usage } from "../contracts/usage.ts";
import type { AgentMeta } from "../transcript/agent-meta.ts";
import { type RunEndRecord, TaskRecord } from "../transcript/record.ts";
import { statusOfRun } from "../transcript/run-status.ts";
import { scanTranscript } from "../transcript/scan-transcript.ts";
import { sideBySide } from "../transcript/side-by-side.ts";
import { type AgentRecords, lookAtAgents } from "./agent-records.ts";
import type { LiveTask } from "./control-protocol.ts";
import type { FoundSession } from "./find-sessions.ts";
import { liveTasksOf, type RunningSession, runningSession } from "./session-state.ts";

export interface FoundTask {
  readonly id: string;
  readonly session: FoundSession;
  readonly kind: string;
  /** `interrupted`: its process ended before it did. */
  readonly status: TaskStatus | "interrupted";
  readonly description: string;
  readonly startedAt: number;
  /** Of one that was interrupted: when it was last heard of. */
  readonly endedAt?: number;
  readonly durationMs?: number;
  readonly isBackgrounded: boolean;
  readonly agentType?: string;
  readonly name?: string;
  /** Absent: the main agent started it. */
  readonly parentAgentId?: string;
  readonly toolUseId?: string;
  readonly outputFile?: string;
  readonly command?: string;
  readonly exitCode?: number | null;
  readonly error?: string;
  readonly toolUses?: number;
  readonly usage?: Usage;
  /** What it does at this moment, if its session says so. */
  readonly progress?: NonNullable<LiveTask["agent"]>["progress"];
  /** Of an agent that has a transcript. */
  readonly meta?: AgentMeta;
}

export interface SessionTasks {
  readonly running: RunningSession | undefined;
  readonly tasks: readonly FoundTask[];
}

export interface SessionTasksOptions {
  readonly world: World;
  readonly session: FoundSession;
  /** Only these ids are looked at. Default: all. */
  readonly only?: (id: string) => boolean;
}

export async function tasksOfSession(options: SessionTasksOptions): Promise<SessionTasks> {
  const first = await look(options);
  // Something has ended between two looks: it is in its transcript by now.
  return first.isTorn ? await look(options) : first;
}

async function look(options: SessionTasksOptions): Promise<SessionTasks & { isTorn: boolean }> {
  const { world, session, only = () => true } = options;
  const records = await readTaskRecords(world.files, session, only);
  const agents = await lookAtAgents(world.files, session.files.subagents);
  const ends = new Map<string, AgentEnd>();
  await sideBySide(agents.agentIds.filter(only), async (id) => {
    const end = await readEnd(agents, id);
    if (end !== undefined) ends.set(id, end);
  });
  const running = await runningSession(world, session);
  const live = running && (await liveTasksOf(world, session));
  const ids = new Set([...records.keys(), ...ends.keys(), ...[...(live?.keys() ?? [])].filter(only)]);
  let isTorn = false;
  const tasks = Array.from(ids, (id): FoundTask => {
    const told = live?.get(id);
    if (told !== undefined) return fromLive(session, told, ends.get(id)?.meta);
    const task = fromFiles(session, records.get(id), ends.get(id), running);
    if (live === undefined || task.status !== "running") return task;
    // It is of this process, which does not know it.
    isTorn = true;
    return { ...task, status: "interrupted" };
  });
  return { running, tasks, isTorn };
}

/** The last one of each. At the end of a task it is written when the output file is complete. */
export async function readTaskRecords(
  files: FileSystem,
  { files: { transcript: path } }: FoundSession,
  only: (id: string) => boolean,
): Promise<Map<string, TaskRecord["task"]>> {
  const tasks = new Map<string, TaskRecord["task"]>();
  for await (const line of scanTranscript({ files, path, keepBytes: 0 })) {
    if (line.kind === "passed" || !line.entry.ok) continue;
    const { record } = line.entry;
    if (typeof record !== "object" || record === null || !("type" in record) || record.type !== "task")
      continue;
    const task = TaskRecord.safeParse(record).data?.task;
    if (task !== undefined && only(task.id)) tasks.set(task.id, task);
  }
  return tasks;
}

/** What the two ends of an agent's transcript tell. */
interface AgentEnd {
  readonly meta: AgentMeta;
  readonly startedAt: number;
  /** When it last said or was told something. */
  readonly lastAt: number;
  /** How its last run ended; undefined when it did not. */
  readonly end: RunEndRecord | undefined;
  readonly saidSomething: boolean;
}

const mostRecords = 1_000;

async function readEnd(agents: AgentRecords, id: string): Promise<AgentEnd | undefined> {
  let meta: AgentMeta | undefined;
  for await (const record of agents.oldestFirst(id)) {
    if (record.type === "agent") meta = record.meta;
    break;
  }
  if (meta === undefined) return undefined;
  const startedAt = timeOf(meta.startedAt) ?? 0;
  let lastAt: number | undefined;
  let end: RunEndRecord | undefined;
  let saidSomething = false;
  let count = 0;
  for await (const record of agents.newestFirst(id)) {
    if (record.type === "run-end" && lastAt === undefined) end ??= record;
    if (record.type === "message") {
      lastAt ??= timeOf(record.message.timestamp) ?? startedAt;
      if (record.message.role === "assistant") saidSomething = textOf(record.message.content) !== "";
    }
    // Without an end nobody asks what it said.
    if (saidSomething || (lastAt !== undefined && end === undefined) || ++count > mostRecords) break;
  }
  return { meta, startedAt, lastAt: lastAt ?? startedAt, end, saidSomething };
}

function fromLive(session: FoundSession, task: LiveTask, meta: AgentMeta | undefined): FoundTask {
  const { agent, ...rest } = task;
  return {
    ...rest,
    session,
    ...(task.endedAt !== undefined && { durationMs: task.endedAt - task.startedAt }),
    ...(agent && {
      agentType: agent.agentType,
      ...(agent.name !== undefined && { name: agent.name }),
      toolUses: agent.progress.toolUses,
      usage: agent.progress.usage,
      progress: agent.progress,
    }),
    ...(meta && { meta }),
  };
}

function fromFiles(
  session: FoundSession,
  record: TaskRecord["task"] | undefined,
  agent: AgentEnd | undefined,
  running: RunningSession | undefined,
): FoundTask {
  const isGoingOn = (lastAt: number) => running !== undefined && lastAt >= running.sinceMs;
  if (agent === undefined) return fromRecord(session, record, isGoingOn);
  // An agent that was resumed and waited for has no record of that run: what it did since counts.
  const isOfLastRun = record !== undefined && !(agent.lastAt > (record.endedAt ?? Number.POSITIVE_INFINITY));
  const ofRun = isOfLastRun ? record : undefined;
  const startedAt = ofRun?.startedAt ?? agent.startedAt;
  const end = ofRun !== undefined && agent.lastAt < ofRun.startedAt ? undefined : agent.end;
  const lastAt = Math.max(agent.lastAt, startedAt);
  const ended = endOf(ofRun, end, agent);
  const { meta } = agent;
  const durationMs = end?.durationMs ?? (ended && ended.endedAt - startedAt);
  return {
    id: meta.agentId,
    session,
    kind: record?.kind ?? "local_agent",
    status: ended?.status ?? (isGoingOn(lastAt) ? "running" : "interrupted"),
    description: record?.description ?? meta.description,
    startedAt,
    ...(ended ? { endedAt: ended.endedAt } : isGoingOn(lastAt) ? {} : { endedAt: lastAt }),
    ...(durationMs !== undefined && { durationMs: Math.max(0, durationMs) }),
    isBackgrounded: ofRun !== undefined || end?.background === true,
    agentType: meta.agentType,
    ...optional({ name: meta.name, parentAgentId: meta.parentAgentId, toolUseId: meta.toolUseId }),
    ...optional({ outputFile: record?.outputFile, error: ofRun?.error }),
    ...(end && { usage: end.usage }),
    ...(end?.receipt && { toolUses: end.receipt.calls.length + end.receipt.omittedCalls }),
    meta,
  };
}

/** What was recorded of the task; else what its transcript says, which is written before. */
function endOf(
  record: TaskRecord["task"] | undefined,
  end: RunEndRecord | undefined,
  { lastAt, saidSomething }: AgentEnd,
): { status: TaskStatus; endedAt: number } | undefined {
  if (record?.endedAt !== undefined) return { status: record.status, endedAt: record.endedAt };
  return end && { status: statusOfRun(end.reason, saidSomething), endedAt: lastAt };
}

/** Of a shell, or of an agent that has written nothing yet. */
function fromRecord(
  session: FoundSession,
  record: TaskRecord["task"] | undefined,
  isGoingOn: (lastAt: number) => boolean,
): FoundTask {
  if (record === undefined) throw new TypeError("A task is known by a record or by its transcript.");
  const { startedAt, endedAt } = record;
  const hasEnded = !isTaskGoingOn(record);
  return {
    ...record,
    session,
    status: hasEnded ? record.status : isGoingOn(startedAt) ? record.status : "interrupted",
    ...(endedAt !== undefined && { durationMs: Math.max(0, endedAt - startedAt) }),
    isBackgrounded: true,
  };
}

function timeOf(iso: string): number | undefined {
  const ms = Date.parse(iso);
  return Number.isNaN(ms) ? undefined : ms;
}

function optional<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]: NonNullable<Fields[Name]> } {
  // Only those that are there.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]: NonNullable<Fields[Name]>;
  };
}
