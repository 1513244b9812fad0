/** The message that tells an agent that a task ended (TA-7). */
import { escapeText } from "../base/markup.ts";
import type { TaskEndStatus } from "../contracts/task.ts";

export interface TaskEnd {
  readonly taskId: string;
  readonly toolUseId?: string | undefined;
  readonly outputFile?: string | undefined;
  readonly status: TaskEndStatus;
  /** `Agent "DESCRIPTION" completed`, or what else there is to say in a line. */
  readonly summary: string;
  /** Its final text; of a failed one the error, of a stopped one what there was. */
  readonly result?: string | undefined;
  readonly usage?: { readonly totalTokens: number; readonly toolUses: number; readonly durationMs: number };
  readonly worktree?: { readonly path: string; readonly branch: string };
}

/** All that comes from a task is escaped: it can neither close an element nor pose as another notification (TA-8). */
export function notificationOf(end: TaskEnd): string {
  const { usage, worktree } = end;
  const lines = [
    element("task-id", end.taskId),
    element("tool-use-id", end.toolUseId),
    element("output-file", end.outputFile),
    element("status", end.status),
    element("summary", end.summary),
    element("result", end.result),
    usage &&
      `<usage>${element("total_tokens", usage.totalTokens)}${element("tool_uses", usage.toolUses)}${element("duration_ms", Math.round(usage.durationMs))}</usage>`,
    worktree && `<worktree>${element("path", worktree.path)}${element("branch", worktree.branch)}</worktree>`,
  ].filter((line) => line !== undefined);
  return ["<task-notification>", ...lines, "</task-notification>"].join("\n");
}

function element(name: string, value: string | number | undefined): string | undefined {
  return value === undefined ? undefined : `<${name}>${escapeText(String(value))}</${name}>`;
}
