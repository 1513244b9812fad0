/** What a call of Bash came to, and what the model reads of it. */
import { groupDigits } from "../base/group-digits.ts";
import type { CallFacts } from "../contracts/receipt.ts";
import type { ToolOutcome } from "../tools/tool-outcome.ts";
import type { KeptOutput } from "../workspace/output-file.ts";
import type { OutputEnds } from "../workspace/output-window.ts";

export const maxResultChars = 30_000;
/** Room for exit code and notes within the limit. */
export const maxOutputChars = maxResultChars - 1_500;
export const maxKeptBytes = 64 * 1024 * 1024;

export type BashOutput = BashEnded | BashStarted;

export interface BashEnded {
  readonly status: "ended";
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  /** Why somebody has stopped it. */
  readonly stopped?: string | undefined;
  /** What the model reads of the output, cut if it was long. */
  readonly text: string;
  readonly totalBytes: number;
  /** The exit code is an answer (`grep` found nothing), not a failure. */
  readonly answer: boolean;
  /** What the model must know besides: the folder moved, or was gone. */
  readonly notes: readonly string[];
  readonly timeoutMs: number;
}

/** The command goes on as a task. */
export interface BashStarted {
  readonly status: "background";
  readonly taskId: string;
  readonly outputFile: string;
  readonly notes: readonly string[];
}

export function describeOutput(
  output: BashOutput,
): Pick<ToolOutcome, "content" | "isError" | "failsSiblings"> {
  if (output.status === "background") return { content: describeStart(output), isError: false };
  const failed = hasFailed(output);
  const lines = [output.text.trimEnd(), describeEnd(output), ...output.notes].filter((line) => line !== "");
  return { content: lines.join("\n"), isError: failed, failsSiblings: failed };
}

export function hasFailed(output: Pick<BashEnded, "timedOut" | "exitCode" | "answer" | "stopped">): boolean {
  return output.timedOut || output.stopped !== undefined || (output.exitCode !== 0 && !output.answer);
}

export function factsOf(output: BashOutput, { command }: { command: string }): CallFacts {
  if (output.status === "background") return { command, taskId: output.taskId };
  return { command, exitCode: output.exitCode };
}

function describeStart({ taskId, outputFile, notes }: BashStarted): string {
  return [
    "The command runs in the background.",
    `task_id: ${taskId}`,
    `output_file: ${outputFile}`,
    "A notification will come when it ends: go on with something else until then. To see what it has written so far, look into the output file with Read; to stop it, call TaskStop with the task id.",
    ...notes,
  ].join("\n");
}

function describeEnd({ timedOut, timeoutMs, exitCode, signal, answer, stopped }: BashEnded): string {
  if (stopped !== undefined) return `The command was stopped: ${stopped}. Above is what it wrote until then.`;
  if (timedOut)
    return `The command was stopped because it took longer than ${timeoutMs / 1000} s. Above is what it wrote until then. Give it a longer timeout, or less to do.`;
  if (exitCode === null) return `The command was ended by ${signal ?? "a signal"}`;
  if (exitCode === 0) return "";
  return answer ? `Exit code ${exitCode} (an answer, not a failure)` : `Exit code ${exitCode}`;
}

export function describeText(output: OutputEnds, kept: KeptOutput | undefined): string {
  const whole = output.head + output.tail;
  if (output.omittedBytes === 0 && whole.length <= maxOutputChars) return whole;
  // What a command says last matters most, what it says first comes next.
  const half = Math.floor(maxOutputChars / 2);
  const head = whole.slice(0, Math.min(half, output.head.length)).replace(/[\ud800-\udbff]$/, "");
  const tail = whole.slice(-half).replace(/^[\udc00-\udfff]/, "");
  return `${head}\n[... ${groupDigits(output.totalBytes)} bytes in all, the middle is left out here. ${describeKept(kept)}]\n${tail}`;
}

function describeKept(kept: KeptOutput | undefined): string {
  if (kept === undefined) return "";
  if (!kept.kept) return `The whole could not be kept: ${kept.why}`;
  const what = kept.whole ? "The whole is" : `The first ${maxKeptBytes / 1024 / 1024} MB are`;
  return `${what} in ${kept.path}; read it in parts with Read, or search it with Grep.`;
}
