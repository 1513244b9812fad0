/** When the conversation nears what fits before the model, a port makes a shorter history of it (LO-6). */
import { createChannel } from "../base/channel.ts";
import { isCancelled, messageOf } from "../base/errors.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import { unlessStopped } from "./interrupt.ts";
import type { LoopOptions } from "./loop-options.ts";
import { abortedBetweenTurns } from "./stop.ts";
import type { TurnState } from "./turn.ts";

type Compacting = AsyncGenerator<LoopEvent, LoopEnd | undefined, undefined>;

/** What does not fit the summariser may still fit the model: a failure does not end the run, nor is it repeated. */
export async function* compactIfNear(loop: LoopOptions, state: TurnState): Compacting {
  const { compaction, model } = loop;
  if (!compaction || state.compaction.failed) return undefined;
  if (state.promptTokens < compaction.at * model.contextWindow) return undefined;
  const failure = yield* compactHistory(loop, state, "automatic");
  state.compaction.failed = failure !== undefined;
  return isCancelled(failure) ? abortedBetweenTurns(failure.reason) : undefined;
}

/** The provider said that the prompt is too long. Once that is mended; the second time it is the end. */
export async function* compactTooLong(loop: LoopOptions, state: TurnState, error: Error): Compacting {
  if (!loop.compaction || state.compaction.forced)
    return { reason: "context_exhausted", message: error.message };
  state.compaction.forced = true;
  const failure = yield* compactHistory(loop, state, "too-long");
  if (failure === undefined) return undefined;
  if (isCancelled(failure)) return abortedBetweenTurns(failure.reason);
  const message = `${error.message} Shortening the conversation failed, too: ${failure.message}`;
  return { reason: "context_exhausted", message };
}

/** Answers with what went wrong, if anything did: then the history is as it was. */
async function* compactHistory(
  loop: LoopOptions,
  state: TurnState,
  trigger: "automatic" | "too-long",
): AsyncGenerator<LoopEvent, Error | undefined, undefined> {
  const { compaction, history } = loop;
  if (!compaction) return undefined;
  yield { type: "compaction-start", trigger };
  const events = createChannel<LoopEvent>();
  const mustFit = trigger === "too-long";
  const work = unlessStopped(loop, (signal) =>
    compaction.compact({ messages: history.messages, mustFit, signal, emit: (event) => events.push(event) }),
  ).finally(() => events.close());
  // It is awaited below; until then a rejection must not count as unhandled.
  work.catch(() => {});
  yield* events;
  try {
    history.restart(await work);
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
  const promptTokensBefore = state.promptTokens;
  state.promptTokens = 0;
  yield { type: "compaction-end", promptTokensBefore };
  return undefined;
}
