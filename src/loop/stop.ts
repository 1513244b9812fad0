/** Why a run ends between two turns, and why it does not (LO-2, LO-3). */
import { reasonOf } from "../base/cancellation.ts";
import { isCancelled } from "../base/errors.ts";
import type { LoopEnd } from "../contracts/event.ts";
import type { Message } from "../contracts/message.ts";
import { unlessStopped } from "./interrupt.ts";
import type { LoopOptions } from "./loop-options.ts";
import type { TurnEnd } from "./turn.ts";

/** Limits are looked at between turns only: what was begun is brought to its end (LO-7). */
export function reasonToStop(loop: LoopOptions, turn: number): LoopEnd | undefined {
  if (loop.scope.cancelled) return abortedBetweenTurns(reasonOf(loop.scope));
  const { maxTurns } = loop.limits;
  if (maxTurns !== undefined && turn > maxTurns) return { reason: "max_turns", limit: maxTurns };
  return loop.budget.exhausted();
}

/** Whether the time of the budget has stopped the run: then that is why it ended, and not a person. */
export interface TimeWatch {
  reasonOf(end: LoopEnd): LoopEnd;
  release(): void;
}

const unlimitedTime: TimeWatch = { reasonOf: (end) => end, release() {} };

/** When its time is over a run is stopped as a person stops it: what blocks goes on to its end (LO-25). */
export function watchTime({ budget, interrupt, scope }: LoopOptions): TimeWatch {
  let over: LoopEnd | undefined;
  const release = budget.onTimeOver((end) => {
    // Whoever was first is the reason.
    if (scope.cancelled || interrupt.requested === "stop") return;
    over = end;
    interrupt.request("stop", "the agent's time was up");
  });
  if (release === undefined) return unlimitedTime;
  return { reasonOf: (end) => (end.reason === "aborted" && over ? over : end), release };
}

/**
 * A reply without tool calls ends the run, unless something has come for the agent meanwhile, or a hook sends it on:
 * then the message that does so. What comes for the main agent is taken by whoever drives its runs (TA-12).
 */
export async function endOrGoOn(
  loop: LoopOptions,
  answer: Extract<TurnEnd, { kind: "answer" }>,
): Promise<LoopEnd | Message> {
  const { hooks, history } = loop;
  const news = takeNews(loop);
  if (news) return news;
  try {
    const word = hooks && (await unlessStopped(loop, () => hooks.beforeEnd(answer.message)));
    if (word === undefined)
      return (hooks && takeNews(loop)) ?? { reason: "completed", stopReason: answer.stopReason };
    if ("stop" in word) return { reason: "hook_stopped", message: word.stop };
    return history.append({ role: "user", content: [{ type: "text", text: word.goOn }], synthetic: true });
  } catch (error) {
    if (isCancelled(error)) return abortedBetweenTurns(error.reason);
    throw error;
  }
}

function takeNews({ agent, queue, history, interrupt, scope }: LoopOptions): Message | undefined {
  if (agent.agentId === undefined || queue.waiting(agent.agentId) === 0) return undefined;
  if (scope.cancelled || interrupt.requested === "stop") return undefined;
  const items = queue.take(agent.agentId);
  const content = items.flatMap((item) => item.content);
  const message = history.append({ role: "user", content, queueItems: items.map((item) => item.uuid) });
  // On disk they leave the queue with this very message.
  queue.acknowledge(items);
  return message;
}

export function abortedBetweenTurns(why: string): LoopEnd {
  return { reason: "aborted", during: "between-turns", why };
}
