/**
 * loop/ owns the one loop that runs every agent (LO-1). It knows ports, never agents, and nothing of
 * surfaces: who runs, with which tools and under which rules, is handed in.
 */
import type { LoopEnd } from "../contracts/event.ts";
import type { Message } from "../contracts/message.ts";
import { admitRequest } from "./admission.ts";
import { compactNear, compactTooLong, isNearLimit } from "./compact.ts";
import type { LoopOptions, PrefixChange } from "./loop-options.ts";
import { endOrGoOn, reasonToStop, watchTime } from "./stop.ts";
import { beginTurn, createTurnState, runTurn } from "./turn.ts";

/** Asks the model, runs the tools it calls, and goes on until it calls none. Answers with why it ended. */
export async function runLoop(options: LoopOptions): Promise<LoopEnd> {
  let loop = options;
  const { listener } = loop;
  const state = createTurnState();
  const time = watchTime(loop);
  try {
    if (loop.input) tellMessage(loop, loop.history.append({ role: "user", ...loop.input }));

    for (let turn = 1; ; turn++) {
      await listener.caughtUp?.();
      const stop = reasonToStop(loop, turn) ?? (isNearLimit(loop) && (await compactNear(loop)));
      if (stop) return time.reasonOf(stop);
      const change = loop.renewPrefix?.();
      if (change) {
        loop = withPrefix(loop, change);
        listener.emit({ type: "prefix-change", reason: change.reason });
      }
      const refusal = admitRequest(loop, state, { beginsTurn: true });
      if (refusal) return refusal;

      listener.emit({ type: "turn-start", turn });
      beginTurn(state);
      const end = await runTurn(loop, state);
      listener.emit({ type: "turn-end", turn, usage: state.usage, modelMs: state.modelMs });

      switch (end.kind) {
        case "go-on":
          break;
        case "answer": {
          const next = await endOrGoOn(loop, end);
          if ("reason" in next) return time.reasonOf(next);
          tellMessage(loop, next);
          break;
        }
        case "too-long": {
          const exhausted = await compactTooLong(loop, state, end.error);
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

function tellMessage({ listener }: LoopOptions, message: Message): void {
  listener.emit({ type: "message-append", message });
}

/** Resume uses what was sent last, so it goes into the transcript. Nothing sent before is in the cache any longer. */
function withPrefix(loop: LoopOptions, { prefix, tools, reason }: PrefixChange): LoopOptions {
  const { model, history, transcript } = loop;
  const { system, tools: described } = prefix;
  transcript.append({ type: "prefix", model: model.id, system, tools: [...described], reason });
  history.sentCount = undefined;
  return { ...loop, prefix, tools };
}
