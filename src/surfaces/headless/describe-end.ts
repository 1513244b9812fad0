import { messageOf } from "../../base/errors.ts";
import type { LoopEnd } from "../../contracts/event.ts";
import type { StopReasonOfModel } from "../../contracts/message.ts";

/** One sentence for a person, or undefined when there is nothing to say: all was well. */
export function describeEnd(end: LoopEnd): string | undefined {
  switch (end.reason) {
    case "completed":
      return shortcoming(end.stopReason);
    case "max_turns":
      return `Stopped: the limit of ${end.limit} ${end.limit === 1 ? "turn" : "turns"} was reached. Raise it with --max-turns.`;
    case "aborted":
      return `Interrupted: ${end.why}`;
    case "model_error":
      return messageOf(end.error);
    case "context_exhausted":
      return end.message;
    case "budget_exhausted":
      return `${end.message} Raise it with ${raisedBy[end.budget]}.`;
    case "hook_stopped":
      return `Stopped by a hook: ${end.message}`;
  }
}

const raisedBy = {
  turns: "budgets.session.turns in the settings",
  tokens: "--max-tokens",
  cost: "--max-cost",
  time: "--max-minutes",
} as const;

/** The run went through, but the answer is not what was hoped for. */
function shortcoming(stopReason: StopReasonOfModel): string | undefined {
  if (stopReason === "max_tokens")
    return "The answer is cut off: it reached the model's limit for one answer.";
  if (stopReason === "refusal") return "The model declined to answer.";
  return undefined;
}
