/** When the conversation nears what fits before the model, a port makes a shorter history of it (LO-6). */
import { createChannel } from "../base/channel.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { LoopOptions } from "./loop-options.ts";
import type { TurnState } from "./turn.ts";

export function isNearLimit(loop: LoopOptions, state: TurnState): boolean {
  if (!loop.compaction) return false;
  return state.promptTokens >= loop.compaction.at * loop.model.contextWindow;
}

export async function* compactHistory(
  loop: LoopOptions,
  options: { state: TurnState; trigger: "automatic" | "too-long" },
): AsyncGenerator<LoopEvent, void, undefined> {
  const { compaction, history, scope } = loop;
  if (!compaction) return;
  const { state, trigger } = options;
  yield { type: "compaction-start", trigger };
  const events = createChannel<LoopEvent>();
  const work = compaction
    .compact({
      messages: history.messages,
      mustFit: trigger === "too-long",
      signal: scope.signal,
      emit: events.push,
    })
    .finally(() => events.close());
  work.catch(() => {});
  yield* events;
  history.restart(await work);
  const promptTokensBefore = state.promptTokens;
  state.promptTokens = 0;
  yield { type: "compaction-end", promptTokensBefore };
}
