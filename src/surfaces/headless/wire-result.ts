/** How a run ended, as the `result` object of json and stream-json. */
import { messageOf } from "../../base/errors.ts";
import type { LoopEnd } from "../../contracts/event.ts";
import type { StopReasonOfModel } from "../../contracts/message.ts";
import { noUsage } from "../../contracts/usage.ts";
import type { RunResult } from "../../runtime/session.ts";
import { describeEnd } from "./describe-end.ts";
import type { WireMessage } from "./wire-messages.ts";
import { wireStopReason } from "./wire-stream-event.ts";
import { wireModelUsage, wireUsage } from "./wire-usage.ts";

export interface FinishedRun {
  readonly result: RunResult;
  readonly stopReason: StopReasonOfModel | undefined;
  /** The caller asked for output that fits a schema. */
  readonly wantsStructuredOutput: boolean;
}

export interface ResultIds {
  readonly sessionId: string;
  readonly uuid: string;
}

export function wireResult(run: FinishedRun, ids: ResultIds): WireMessage {
  const { result } = run;
  const problem = problemOf(run);
  return {
    type: "result",
    subtype: problem?.subtype ?? "success",
    is_error: problem !== undefined,
    duration_ms: Math.round(result.durationMs),
    duration_api_ms: Math.round(result.apiDurationMs),
    num_turns: result.turns,
    ...(problem === undefined ? { result: result.text } : { errors: [problem.message] }),
    stop_reason: run.stopReason === undefined ? null : wireStopReason(run.stopReason),
    session_id: ids.sessionId,
    // Null, not zero, when the price of a model is not known.
    total_cost_usd: result.costUsd ?? null,
    usage: wireUsage(result.usage),
    modelUsage: wireModelUsage(result.usageByModel),
    permission_denials: result.permissionDenials.map((denial) => ({
      tool_name: denial.toolName,
      tool_use_id: denial.toolUseId,
      tool_input: denial.input,
    })),
    ...(result.structuredOutput === undefined ? {} : { structured_output: result.structuredOutput }),
    terminal_reason: result.end.reason,
    uuid: ids.uuid,
  };
}

/** For what failed before a run began: settings, model, session, a line of input. */
export function wireFailure(error: unknown, ids: ResultIds): WireMessage {
  return {
    type: "result",
    subtype: "error_during_execution",
    is_error: true,
    duration_ms: 0,
    duration_api_ms: 0,
    num_turns: 0,
    errors: [messageOf(error)],
    stop_reason: null,
    session_id: ids.sessionId,
    total_cost_usd: 0,
    usage: wireUsage(noUsage),
    modelUsage: {},
    permission_denials: [],
    uuid: ids.uuid,
  };
}

export interface RunProblem {
  readonly subtype: string;
  readonly message: string;
}

export function problemOf(run: FinishedRun): RunProblem | undefined {
  const { end, structuredOutput } = run.result;
  if (end.reason !== "completed" && end.reason !== "hook_stopped")
    return { subtype: subtypeOf(end), message: describeEnd(end) ?? end.reason };
  if (!run.wantsStructuredOutput || structuredOutput !== undefined) return undefined;
  return {
    subtype: "error_max_structured_output_retries",
    message: "The model ended without an answer that fits the JSON schema.",
  };
}

function subtypeOf(end: LoopEnd): string {
  if (end.reason === "max_turns") return "error_max_turns";
  if (end.reason === "budget_exhausted" && end.budget === "cost") return "error_max_budget_usd";
  return "error_during_execution";
}
