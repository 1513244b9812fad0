/** Anything that goes on beside a turn and ends once: an agent, a shell command, a teammate, a remote run (TA-2). */
import type { ReceiptSummary } from "./receipt.ts";
import type { Usage } from "./usage.ts";

/** Open: later kinds fit without a change here. */
export type TaskKind =
  | "local_agent"
  | "local_bash"
  | "remote_agent"
  | "teammate"
  | "monitor"
  | "workflow"
  | (string & {});

export type TaskStatus = "pending" | "running" | TaskEndStatus;
export type TaskEndStatus = "completed" | "failed" | "killed";

/** It has not come to its one end yet. */
export function isGoingOn({ status }: { readonly status: string }): boolean {
  return status === "pending" || status === "running";
}

export interface Task {
  /** Of an agent: its agent id. */
  readonly id: string;
  readonly kind: TaskKind;
  readonly status: TaskStatus;
  /** 3 to 5 words. */
  readonly description: string;
  readonly toolUseId?: string;
  /** The agent that started it; absent: the main one. */
  readonly parentAgentId?: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly outputFile?: string;
  readonly isBackgrounded: boolean;
  /** Its starter has been told of its end. */
  readonly notified: boolean;
  readonly agent?: AgentTask;
  /** Of a shell. */
  readonly command?: string;
  /** Of a shell that ended; null: a signal ended it. */
  readonly exitCode?: number | null;
  readonly error?: string;
}

export interface AgentTask {
  readonly agentType: string;
  readonly name?: string;
  readonly prompt: string;
  readonly depth: number;
  readonly modelId?: string;
  readonly progress: AgentTaskProgress;
  /** Its final text. */
  readonly result?: string;
  /** What it did, once it has ended. */
  readonly receipt?: ReceiptSummary;
}

export interface AgentTaskProgress {
  readonly toolUses: number;
  readonly usage: Usage;
  /** The latest last, a few words each. */
  readonly lastActivities: readonly string[];
  readonly summary?: string;
  /** Nothing has happened in it for longer than the setting `stallMs`. */
  readonly state?: "stalled";
}
