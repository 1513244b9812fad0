/**
 * loop/ owns the one loop that runs every agent (LO-1). It knows ports, never agents, and nothing of
 * surfaces: who runs, with which tools and under which rules, is handed in.
 */
import { reasonOf } from "../base/cancellation.ts";
import { type CancelledError, isCancelled } from "../base/errors.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import type { Message } from "../contracts/message.ts";
import { noUsage } from "../contracts/usage.ts";
import { compactHistory, isNearLimit } from "./compact.ts";
import { unlessStopped } from "./interrupt.ts";
import type { HooksPort, LoopOptions, PrefixChange } from "./loop-options.ts";
import { startTurn, type TurnState } from "./turn.ts";

/** Asks the model, runs the tools it calls, and goes on until it calls none. Returns why it ended. */
export async function* runLoop(options: LoopOptions): AsyncGenerator<LoopEvent, LoopEnd, undefined> {
  let loop = options;
  const state: TurnState = { promptTokens: 0, usage: noUsage, modelMs: 0 };
  let compactedBecauseTooLong = false;
  let compactionFailed = false;
  if (loop.input)
    yield { type: "message-append", message: loop.history.append({ role: "user", ...loop.input }) };

  for (let turn = 1; ; turn++) {
    const stop = reasonToStop(loop, turn);
    if (stop) return stop;
    if (!compactionFailed && isNearLimit(loop, state)) {
      const failure = yield* compactHistory(loop, { state, trigger: "automatic" });
      if (isCancelled(failure)) return abortedBetweenTurns(failure.reason);
      // What does not fit the summariser may still fit the model; it is not tried again and again.
      compactionFailed = failure !== undefined;
    }
    const change = loop.renewPrefix?.();
    if (change) {
      loop = withPrefix(loop, change);
      yield { type: "prefix-change", reason: change.reason };
    }

    yield { type: "turn-start", turn };
    state.usage = noUsage;
    state.modelMs = 0;
    const running = startTurn(loop, state);
    try {
      yield* running.events;
    } finally {
      await running.leave();
    }
    const end = await running.end;
    yield { type: "turn-end", turn, usage: state.usage, modelMs: state.modelMs };

    switch (end.kind) {
      case "go-on":
        break;
      case "answer": {
        if (end.stopReason === "pause_turn") break;
        const hook = await askHook(loop, end.message);
        if (isCancelled(hook)) return abortedBetweenTurns(hook.reason);
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
        {
          const failure = yield* compactHistory(loop, { state, trigger: "too-long" });
          if (isCancelled(failure)) return abortedBetweenTurns(failure.reason);
          if (failure) return { reason: "context_exhausted", message: bothOf(end.error, failure) };
        }
        break;
      case "aborted":
        return { reason: "aborted", during: end.during, why: end.why };
      case "failed":
        return { reason: "model_error", error: end.error };
    }
  }
}

async function askHook(
  loop: LoopOptions,
  message: Message,
): Promise<Awaited<ReturnType<HooksPort["beforeEnd"]>> | CancelledError> {
  const { hooks } = loop;
  if (hooks === undefined) return undefined;
  try {
    return await unlessStopped(loop, () => hooks.beforeEnd(message));
  } catch (error) {
    if (isCancelled(error)) return error;
    throw error;
  }
}

function abortedBetweenTurns(why: string): LoopEnd {
  return { reason: "aborted", during: "between-turns", why };
}

function bothOf(tooLong: Error, failure: Error): string {
  return `${tooLong.message} Shortening the conversation failed, too: ${failure.message}`;
}

/** Limits are looked at between turns only: what was begun is brought to its end (LO-7). */
function reasonToStop(loop: LoopOptions, turn: number): LoopEnd | undefined {
  if (loop.scope.cancelled) return abortedBetweenTurns(reasonOf(loop.scope.signal));
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
