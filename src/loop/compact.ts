/** When the conversation nears what fits before the model, a port makes a shorter history of it (LO-6). */
import { isCancelled, messageOf } from "../base/errors.ts";
import type { CompactionTrigger, LoopEnd } from "../contracts/event.ts";
import { promptTokensOf } from "../contracts/usage.ts";
import { estimateUsage, tokensOfPrefix } from "./estimate.ts";
import { unlessStopped } from "./interrupt.ts";
import type { LoopOptions } from "./loop-options.ts";
import { abortedBetweenTurns } from "./stop.ts";
import type { TurnState } from "./turn.ts";

/** What failed is tried again when so much more, as a share of the window, stands before the model. */
const growthToTryAgain = 0.05;
/** Whoever summarises less than this share of the window gains nothing. */
const leastGain = 0.1;

export function isNearLimit(loop: LoopOptions, state: TurnState): boolean {
  const { compaction, model, prefix } = loop;
  if (!compaction) return false;
  const tokens = tokensBefore(loop);
  if (tokens < compaction.at * model.contextWindow || tokens < state.compactAgainAt) return false;
  return tokens - tokensOfPrefix(prefix) >= Math.min(leastGain, compaction.at / 2) * model.contextWindow;
}

/** What does not fit the summariser may still fit the model: a failure does not end the run. */
export async function compactNear(loop: LoopOptions, state: TurnState): Promise<LoopEnd | undefined> {
  const { promptTokensBefore, problem } = await compactHistory(loop, { trigger: "automatic" });
  state.compactAgainAt =
    problem === undefined ? 0 : promptTokensBefore + growthToTryAgain * loop.model.contextWindow;
  return isCancelled(problem) ? abortedBetweenTurns(problem.reason) : undefined;
}

/** The provider said that the prompt is too long. Once that is mended; if that did not help, it is the end. */
export async function compactTooLong(
  loop: LoopOptions,
  state: TurnState,
  error: Error,
): Promise<LoopEnd | undefined> {
  // A request has gone well since.
  const helped = state.promptTokens > 0;
  if (!loop.compaction || (state.compactionForced && !helped))
    return { reason: "context_exhausted", message: error.message };
  state.compactionForced = true;
  const { problem } = await compactHistory(loop, { trigger: "too-long" });
  state.promptTokens = 0;
  if (problem === undefined) return undefined;
  if (isCancelled(problem)) return abortedBetweenTurns(problem.reason);
  const message = `${error.message} Shortening the conversation failed, too: ${problem.message}`;
  return { reason: "context_exhausted", message };
}

export interface CompactionEnd {
  readonly promptTokensBefore: number;
  /** What went wrong, if anything did: then the history is as it was. */
  readonly problem: Error | undefined;
}

/** `instructions`: of a person who asks for it, what to keep in mind. */
export async function compactHistory(
  loop: LoopOptions,
  { trigger, instructions }: { trigger: CompactionTrigger; instructions?: string | undefined },
): Promise<CompactionEnd> {
  const { compaction, history, listener } = loop;
  const promptTokensBefore = tokensBefore(loop);
  if (!compaction) return { promptTokensBefore, problem: new Error("nothing here can summarise") };
  const { messages } = history;
  let problem: Error | undefined;
  // What was said must not be lost while the model sums it up.
  await loop.transcript.durable();
  listener.emit({ type: "compaction-start", trigger });
  try {
    const shorter = await unlessStopped(loop, (signal) =>
      compaction.compact({
        loop,
        messages,
        trigger,
        instructions,
        signal,
        emit: (event) => listener.emit(event),
      }),
    );
    history.restart(shorter);
    // What it had read is no longer before it: a file is read again before it is changed.
    loop.agent.fileReads.forget();
  } catch (error) {
    problem = error instanceof Error ? error : new Error(messageOf(error));
  }
  const why = isCancelled(problem) ? problem.reason : problem?.message;
  const failure = why !== undefined && { problem: why };
  listener.emit({ type: "compaction-end", trigger, promptTokensBefore, ...failure });
  return { promptTokensBefore, problem };
}

/** What the next request would put before the model. */
function tokensBefore({ prefix, history }: LoopOptions): number {
  return promptTokensOf(estimateUsage({ prefix, history, maxOutputTokens: 0 }));
}
