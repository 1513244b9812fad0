/**
 * loop/ owns the one loop that runs every agent (LO-1). It knows ports, never agents, and nothing of
 * surfaces: who runs, with which tools and under which rules, is handed in.
 */
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import { admitRequest } from "./admission.ts";
import { compactIfNear, compactTooLong } from "./compact.ts";
import type { LoopOptions, PrefixChange } from "./loop-options.ts";
import { endOrGoOn, reasonToStop, watchTime } from "./stop.ts";
import { beginTurn, createTurnState, startTurn } from "./turn.ts";

/** Asks the model, runs the tools it calls, and goes on until it calls none. Returns why it ended. */
export async function* runLoop(options: LoopOptions): AsyncGenerator<LoopEvent, LoopEnd, undefined> {
  let loop = options;
  const state = createTurnState();
  const time = watchTime(loop);
  try {
    if (loop.input)
      yield { type: "message-append", message: loop.history.append({ role: "user", ...loop.input }) };

    for (let turn = 1; ; turn++) {
      const stop = reasonToStop(loop, turn) ?? (yield* compactIfNear(loop, state));
      if (stop) return time.reasonOf(stop);
      const change = loop.renewPrefix?.();
      if (change) {
        loop = withPrefix(loop, change);
        yield { type: "prefix-change", reason: change.reason };
      }
      const refusal = admitRequest(loop, state, { beginsTurn: true });
      if (refusal) return refusal;

      yield { type: "turn-start", turn };
      beginTurn(state);
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
          const next = await endOrGoOn(loop, end);
          if ("reason" in next) return time.reasonOf(next);
          yield { type: "message-append", message: next };
          break;
        }
        case "too-long": {
          const exhausted = yield* compactTooLong(loop, state, end.error);
          if (exhausted) return time.reasonOf(exhausted);
          break;
        }
        case "aborted":
          return time.reasonOf({ reason: "aborted", during: end.during, why: end.why });
        case "failed":
          return { reason: "model_error", error: end.error };
        case "exhausted":
          return end.end;
      }
    }
  } finally {
    time.release();
    state.reservation?.release();
  }
}

/** Resume uses what was sent last, so it goes into the transcript. Nothing sent before is in the cache any longer. */
function withPrefix(loop: LoopOptions, { prefix, tools, reason }: PrefixChange): LoopOptions {
  const { model, history, transcript } = loop;
  const { system, tools: described } = prefix;
  transcript.append({ type: "prefix", model: model.id, system, tools: [...described], reason });
  history.sentCount = undefined;
  return { ...loop, prefix, tools };
}
