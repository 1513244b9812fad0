import type { Clock } from "../base/world.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import { textOf } from "../contracts/message.ts";
import type { Budget } from "../loop/budget.ts";
import type { TranscriptRecord } from "../transcript/record.ts";
import type { RunResult } from "./session.ts";

/** Watches the events of one run and sums them up. */
export interface RunRecorder {
  see(event: LoopEvent): void;
  result(end: LoopEnd, structuredOutput: unknown): RunResult;
  record(end: LoopEnd): TranscriptRecord;
}

export function createRunRecorder(options: { clock: Clock; budget: Budget }): RunRecorder {
  const { clock, budget } = options;
  const startedMs = clock.monotonicMs();
  const permissionDenials: { toolName: string; toolUseId: string; input: unknown }[] = [];
  let text = "";
  let turns = 0;
  let apiDurationMs = 0;
  return {
    see(event) {
      if (event.type === "turn-end") {
        turns = event.turn;
        apiDurationMs += event.modelMs;
      } else if (event.type === "message-append" && event.message.role === "assistant") {
        // The last message that says something: one that ends in a call may have no words (SP-20).
        text = textOf(event.message.content) || text;
      } else if (event.type === "call-denied") {
        const { name, id, input } = event.call;
        permissionDenials.push({ toolName: name, toolUseId: id, input });
      }
    },
    result: (end, structuredOutput) => ({
      end,
      text,
      turns,
      usage: budget.usage,
      usageByModel: budget.usageByModel,
      costUsd: budget.costUsd,
      durationMs: clock.monotonicMs() - startedMs,
      apiDurationMs,
      permissionDenials,
      ...(structuredOutput !== undefined && { structuredOutput }),
    }),
    record: (end) => ({
      type: "run-end",
      reason: end.reason,
      turns,
      usage: budget.usage,
      ...(budget.costUsd !== undefined && { costUsd: budget.costUsd }),
    }),
  };
}
