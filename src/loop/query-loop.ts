/**
 * loop/ owns the one loop that runs every agent (LO-1). It knows ports, never agents, and nothing of
 * surfaces: who runs, with which tools and under which rules, is handed in.
 */
import { reasonOf } from "../base/cancellation.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import { noUsage } from "../contracts/usage.ts";
import { compactHistory, isNearLimit } from "./compact.ts";
import type { LoopOptions, PrefixChange } from "./loop-options.ts";
import { runTurn, type TurnState } from "./turn.ts";

/** Asks the model, runs the tools it calls, and goes on until it calls none. Returns why it ended. */
export async function* runLoop(options: LoopOptions): AsyncGenerator<LoopEvent, LoopEnd, undefined> {
  let loop = options;
  const state: TurnState = { promptTokens: 0, usage: noUsage, modelMs: 0 };
  let compactedBecauseTooLong = false;
  if (loop.input)
    yield { type: "message-append", message: loop.history.append({ role: "user", ...loop.input }) };

  for (let turn = 1; ; turn++) {
    const stop = reasonToStop(loop, turn);
    if (stop) return stop;
    if (isNearLimit(loop, state)) yield* compactHistory(loop, { state, trigger: "automatic" });
    const change = loop.renewPrefix?.();
    if (change) {
      loop = withPrefix(loop, change);
      yield { type: "prefix-change", reason: change.reason };
    }

    yield { type: "turn-start", turn };
    state.usage = noUsage;
    state.modelMs = 0;
    const end = yield* runTurn(loop, state);
    yield { type: "turn-end", turn, usage: state.usage, modelMs: state.modelMs };

    switch (end.kind) {
      case "go-on":
        break;
      case "answer": {
        if (end.stopReason === "pause_turn") break;
        const hook = await loop.hooks?.beforeEnd(end.message);
        if (hook === undefined) return { reason: "completed", stopReason: end.stopReason };
        if ("stop" in hook) return { reason: "hook_stopped", message: hook.stop };
        const message = loop.history.append({
          role: "user",
          content: [{ type: "text", text: hook.goOn }],
          synthetic: true,
        });
        yield { type: "message-append", message };
        break;
      }
      case "too-long":
        if (!loop.compaction || compactedBecauseTooLong)
          return { reason: "context_exhausted", message: end.error.message };
        compactedBecauseTooLong = true;
        yield* compactHistory(loop, { state, trigger: "too-long" });
        break;
      case "aborted":
        return { reason: "aborted", during: end.during, why: end.why };
      case "failed":
        return { reason: "model_error", error: end.error };
    }
  }
}

/** Limits are looked at between turns only: what was begun is brought to its end (LO-7). */
function reasonToStop(loop: LoopOptions, turn: number): LoopEnd | undefined {
  if (loop.scope.cancelled)
    return { reason: "aborted", during: "between-turns", why: reasonOf(loop.scope.signal) };
  const { maxTurns } = loop.limits;
  if (maxTurns !== undefined && turn > maxTurns) return { reason: "max_turns", limit: maxTurns };
  return loop.budget.exhausted();
}

/** Resume uses what was sent last, so it goes into the transcript. Nothing sent before is in the cache any longer. */
function withPrefix(loop: LoopOptions, { prefix, tools, reason }: PrefixChange): LoopOptions {
  const { model, history, transcript } = loop;
  transcript.append({
    type: "prefix",
    model: model.id,
    system: prefix.system,
    tools: [...prefix.tools],
    reason,
  });
  history.sentCount = undefined;
  return { ...loop, prefix, tools };
}
