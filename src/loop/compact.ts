/** When the conversation nears what fits before the model, a port makes a shorter history of it (LO-6). */
import { isCancelled, messageOf } from "../base/errors.ts";
import type { LoopEnd } from "../contracts/event.ts";
import { unlessStopped } from "./interrupt.ts";
import type { LoopOptions } from "./loop-options.ts";
import { abortedBetweenTurns } from "./stop.ts";
import type { TurnState } from "./turn.ts";

export function isNearLimit({ compaction, model }: LoopOptions, state: TurnState): boolean {
  if (!compaction || state.compactionFailed) return false;
  return state.promptTokens >= compaction.at * model.contextWindow;
}

/** What does not fit the summariser may still fit the model: a failure does not end the run, nor is it repeated. */
export async function compactNear(loop: LoopOptions, state: TurnState): Promise<LoopEnd | undefined> {
  const failure = await compactHistory(loop, state, "automatic");
  state.compactionFailed = failure !== undefined;
  return isCancelled(failure) ? abortedBetweenTurns(failure.reason) : undefined;
}

/** The provider said that the prompt is too long. Once that is mended; the second time it is the end. */
export async function compactTooLong(
  loop: LoopOptions,
  state: TurnState,
  error: Error,
): Promise<LoopEnd | undefined> {
  if (!loop.compaction || state.compactionForced)
    return { reason: "context_exhausted", message: error.message };
  state.compactionForced = true;
  const failure = await compactHistory(loop, state, "too-long");
  if (failure === undefined) return undefined;
  if (isCancelled(failure)) return abortedBetweenTurns(failure.reason);
  const message = `${error.message} Shortening the conversation failed, too: ${failure.message}`;
  return { reason: "context_exhausted", message };
}

/** Answers with what went wrong, if anything did: then the history is as it was. */
async function compactHistory(
  loop: LoopOptions,
  state: TurnState,
  trigger: "automatic" | "too-long",
): Promise<Error | undefined> {
  const { compaction, history, listener } = loop;
  if (!compaction) return undefined;
  listener.emit({ type: "compaction-start", trigger });
  const mustFit = trigger === "too-long";
  const { messages } = history;
  try {
    const shorter = await unlessStopped(loop, (signal) =>
      compaction.compact({ loop, messages, mustFit, signal, emit: (event) => listener.emit(event) }),
    );
    history.restart(shorter);
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
  const promptTokensBefore = state.promptTokens;
  state.promptTokens = 0;
  listener.emit({ type: "compaction-end", promptTokensBefore });
  return undefined;
}
