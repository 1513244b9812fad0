/** What every action of `cadre tasks` is given, and how all of them speak of tasks. */
import { groupDigits } from "../../base/group-digits.ts";
import type { World } from "../../base/world.ts";
import { totalTokensOf } from "../../contracts/usage.ts";
import type { WhereToLook } from "../../runtime/find-tasks.ts";
import type { FoundTask } from "../../runtime/recorded-tasks.ts";
import type { TaskDetails } from "../../runtime/task-details.ts";
import type { CommandIo } from "../command-io.ts";
import type { TasksValues } from "../options.ts";

export interface TasksRequest {
  readonly world: World;
  readonly io: CommandIo;
  readonly values: TasksValues;
  readonly where: WhereToLook;
  /** Of the terminal; absent: a pipe. */
  readonly columns: number | undefined;
}

/** With what its transcript tells, where that is not counted yet. */
export function withDetails(task: FoundTask, details: TaskDetails | undefined): FoundTask {
  if (details === undefined) return task;
  const isResumed = details.runs > 1 && !task.isBackgrounded && details.startedAt !== undefined;
  return {
    ...task,
    toolUses: task.toolUses ?? details.toolUses,
    usage: task.usage ?? details.usage,
    // Of an agent that was resumed the transcript knows when; its first line does not.
    ...(isResumed && { startedAt: details.startedAt }),
  };
}

/** A task as programs read it. */
export function taskJson(task: FoundTask, nowMs: number): Record<string, unknown> {
  const { session, meta, progress, startedAt, endedAt, durationMs: _, ...rest } = task;
  return {
    ...rest,
    sessionId: session.id,
    startedAt: new Date(startedAt).toISOString(),
    ...(endedAt !== undefined && { endedAt: new Date(endedAt).toISOString() }),
    durationMs: durationOf(task, nowMs),
    ...(task.usage && { totalTokens: totalTokensOf(task.usage) }),
    ...(meta && { depth: meta.depth, cwd: meta.cwd, modelId: meta.modelId, worktree: meta.worktree }),
    ...(progress && {
      lastActivities: progress.lastActivities,
      summary: progress.summary,
      state: progress.state,
    }),
  };
}

export function durationOf(task: FoundTask, nowMs: number): number {
  return task.durationMs ?? Math.max(0, (task.endedAt ?? nowMs) - task.startedAt);
}

export function statusText({ status, progress }: FoundTask): string {
  return status === "running" && progress?.state === "stalled" ? "running, stalled" : status;
}

/** What kind of agent, or what else it is. */
export function typeText({ kind, agentType }: FoundTask): string {
  if (kind === "local_bash") return "shell";
  return agentType === undefined || kind === "local_agent" ? (agentType ?? kind) : `${kind} ${agentType}`;
}

/** As the clock on the wall has it. */
export function localTime(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 10) return `${(ms / 1000).toFixed(1)} s`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function numberText(value: number | undefined): string {
  return value === undefined ? "-" : groupDigits(value);
}
