import type { LoopEnd } from "../contracts/event.ts";
import type { Budget } from "../loop/budget.ts";
import type { RunRecorder } from "../loop/run-recorder.ts";
import type { RunResult } from "./session.ts";

/** What a run came to, for whoever asked for it. */
export function runResult(run: {
  end: LoopEnd;
  recorder: RunRecorder;
  budget: Budget;
  structuredOutput: unknown;
}): RunResult {
  const { end, recorder, budget, structuredOutput } = run;
  return {
    end,
    text: recorder.text,
    turns: recorder.turns,
    usage: budget.usage,
    usageByModel: budget.usageByModel,
    costUsd: budget.costUsd,
    durationMs: recorder.durationMs,
    apiDurationMs: recorder.apiDurationMs,
    permissionDenials: recorder.permissionDenials,
    ...(structuredOutput !== undefined && { structuredOutput }),
  };
}
