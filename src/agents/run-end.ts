/** What the end of an agent's run is, in words and as the outcome of its task. */
import type { LoopEnd } from "../contracts/event.ts";
import type { ReceiptSummary } from "../contracts/receipt.ts";
import type { TaskEndStatus } from "../contracts/task.ts";
import type { TaskOutcome } from "../tasks/registry.ts";

export interface EndedRun {
  readonly status: TaskEndStatus;
  /** Its last words; may be empty. */
  readonly text: string;
  /** Why these are not its own last words: a limit, an error. */
  readonly note: string | undefined;
  readonly totalTokens: number;
  readonly toolUses: number;
  readonly durationMs: number;
  readonly receipt: ReceiptSummary | undefined;
}

export const saidNothing = "The agent ended without saying anything.";

export function outcomeOf({ status, text, note, receipt }: EndedRun): TaskOutcome {
  return {
    status,
    result: text,
    ...(status !== "completed" && { error: note ?? saidNothing }),
    ...(receipt && { agent: { receipt } }),
  };
}

/** Undefined: it came to its own end, and said so. */
export function noteOfEnd(end: LoopEnd, saidSomething: boolean): string | undefined {
  switch (end.reason) {
    case "completed":
      if (end.stopReason === "max_tokens")
        return "Its last message was cut off at the limit of output tokens.";
      if (end.stopReason === "refusal") return "The model declined to go on.";
      return saidSomething ? undefined : saidNothing;
    case "max_turns":
      return `It ended at its limit of ${end.limit} turns: what it said last may not be its whole answer.`;
    case "budget_exhausted":
      return `It ended before it was done. ${end.message}`;
    case "aborted":
      return `It was stopped: ${end.why}.`;
    case "model_error":
      return `It ended before it was done: ${end.error.message}`;
    case "hook_stopped":
      return `A hook ended it: ${end.message}`;
    case "context_exhausted":
      return `It ended before it was done: ${end.message}`;
  }
}
