/** When the conversation nears what fits before the model, a port makes a shorter history of it (LO-6). */
import { createChannel } from "../base/channel.ts";
import { messageOf } from "../base/errors.ts";
import type { LoopEvent } from "../contracts/event.ts";
import { unlessStopped } from "./interrupt.ts";
import type { LoopOptions } from "./loop-options.ts";
import type { TurnState } from "./turn.ts";

export function isNearLimit(loop: LoopOptions, state: TurnState): boolean {
  if (!loop.compaction) return false;
  return state.promptTokens >= loop.compaction.at * loop.model.contextWindow;
}

/** Answers with what went wrong, if anything did: then the history is as it was. */
export async function* compactHistory(
  loop: LoopOptions,
  options: { state: TurnState; trigger: "automatic" | "too-long" },
): AsyncGenerator<LoopEvent, Error | undefined, undefined> {
  const { compaction, history } = loop;
  if (!compaction) return undefined;
  const { state, trigger } = options;
  yield { type: "compaction-start", trigger };
  const events = createChannel<LoopEvent>();
  const work = unlessStopped(loop, (signal) =>
    compaction.compact({
      messages: history.messages,
      mustFit: trigger === "too-long",
      signal,
      emit: events.push,
    }),
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
