/** When the conversation nears what fits before the model, a port makes a shorter history of it (LO-6). */
import { isCancelled, messageOf } from "../base/errors.ts";
import type { CompactionTrigger, LoopEnd } from "../contracts/event.ts";
import { promptTokensOf } from "../contracts/usage.ts";
import { estimateUsage, tokensOfPrefix } from "./estimate.ts";
import type { History } from "./history.ts";
import { unlessStopped } from "./interrupt.ts";
import type { LoopOptions } from "./loop-options.ts";
import { abortedBetweenTurns } from "./stop.ts";
import type { TurnState } from "./turn.ts";

/** What failed is tried again when so much more, as a share of the window, stands before the model. */
const growthToTryAgain = 0.05;
/** Whoever summarises less than this share of the window gains nothing. */
const leastGain = 0.1;
/** So often in a row the window may be full again at once. */
const mostInARow = 3;
const turnsBetween = 2;

/** What became of the last attempts to shorten a history. It outlives a run, and few histories have one. */
interface Attempts {
  readonly modelId: string;
  /** With fewer tokens before the model it is not worth trying. */
  readonly againAt: number;
  /** Compactions that gained little, or came close upon another. */
  readonly inARow: number;
  /** How long the history was after the last. */
  readonly length: number;
  readonly resultsWereCut: boolean;
  /** It was told that no conversation fits. */
  readonly filledWasTold: boolean;
}

const attemptsByHistory = new WeakMap<History, Attempts>();

export function isNearLimit(loop: LoopOptions): boolean {
  const { compaction, model, prefix } = loop;
  if (!compaction) return false;
  // Whether a prompt alone is too long, the provider knows better than an estimate.
  if (isUnanswered(loop)) return false;
  const tokens = tokensBefore(loop);
  if (tokens < compaction.at * model.contextWindow) return false;
  const { againAt, filledWasTold } = attemptsOf(loop);
  if (isFilledByPrefix(loop)) return !filledWasTold;
  if (tokens < againAt) return false;
  return tokens - tokensOfPrefix(prefix) >= Math.min(leastGain, compaction.at / 2) * model.contextWindow;
}

/** What does not fit the summariser may still fit the model: a failure does not end the run. */
export async function compactNear(loop: LoopOptions): Promise<LoopEnd | undefined> {
  if (isFilledByPrefix(loop)) {
    tellFilled(loop);
    return undefined;
  }
  const limit = (loop.compaction?.at ?? 1) * loop.model.contextWindow;
  const braked = await brake(loop, { trigger: "automatic", limit });
  if (braked) return braked === "cut" ? undefined : braked;
  const { problem } = await compactHistory(loop, { trigger: "automatic" });
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
  const most = isUnanswered(loop) ? mostForAPrompt : 1;
  if (!loop.compaction || (state.forcedCompactions >= most && !helped)) return exhausted(error.message);
  // Unless a request went well before: then the window is larger than what is known of it.
  if (isFilledByPrefix(loop) && loop.history.sentCount === undefined)
    return exhausted(`${error.message} ${filledMessage(loop)}`);
  state.forcedCompactions = helped ? 1 : state.forcedCompactions + 1;
  state.promptTokens = 0;
  const braked = await brake(loop, { trigger: "too-long", limit: mostOfTooLong * tokensBefore(loop) });
  if (braked) return braked === "cut" ? undefined : braked;
  const { problem } = await compactHistory(loop, { trigger: "too-long" });
  if (problem === undefined) return undefined;
  if (isCancelled(problem)) return abortedBetweenTurns(problem.reason);
  return exhausted(`${error.message} Shortening the conversation failed, too: ${problem.message}`);
}

const mostOfTooLong = 0.8;
/** It is cut shorter each time: how much fits is not known for sure. */
const mostForAPrompt = 3;

/** There is nothing to sum up. */
function isUnanswered({ history }: LoopOptions): boolean {
  return history.messages.every(({ role }) => role === "user");
}

/** However short the conversation is, it does not fit beside what stands before it. */
function isFilledByPrefix({ prefix, model }: LoopOptions): boolean {
  return tokensOfPrefix(prefix) >= (1 - leastGain) * model.contextWindow;
}

function tellFilled(loop: LoopOptions): void {
  const { history, listener } = loop;
  attemptsByHistory.set(history, { ...attemptsOf(loop), filledWasTold: true });
  listener.emit({ type: "compaction-start", trigger: "automatic" });
  listener.emit({
    type: "compaction-end",
    trigger: "automatic",
    promptTokensBefore: tokensBefore(loop),
    problem: filledMessage(loop),
  });
}

function filledMessage({ prefix, model }: LoopOptions): string {
  return `The system prompt and the tools alone take about ${tokensOfPrefix(prefix)} of the ${model.contextWindow} tokens that fit before the model "${model.id}", so a shorter conversation does not help. Choose a model with a larger context window, or fewer tools.`;
}

/**
 * When every round of tools fills the window, a summary after each is work without end: then what the tools said is cut
 * so that some rounds fit, or the run ends. Undefined: nothing of that is needed.
 */
async function brake(
  loop: LoopOptions,
  { trigger, limit }: { trigger: CompactionTrigger; limit: number },
): Promise<"cut" | LoopEnd | undefined> {
  const attempts = attemptsOf(loop);
  if (attempts.inARow < mostInARow) return undefined;
  const { history, listener, transcript } = loop;
  const last = history.messages.at(-1);
  if (last === undefined) return undefined;
  // Rare: not among the files that every run loads.
  const { cutResults, tokensOfResults } = await import("./cut-results.ts");
  const promptTokensBefore = tokensBefore(loop);
  const free = limit - (promptTokensBefore - tokensOfResults(last));
  const cut =
    free >= leastRoomForResults
      ? cutResults(last, { maxTokens: free / 2, transcriptPath: transcript.path })
      : undefined;
  if (cut === undefined) {
    if (turnsSince(attempts, history) >= turnsBetween) return undefined;
    return exhausted(
      `The conversation was shortened ${attempts.inARow} times in a row, and each time the next answer or its results filled the context window again. Ask for less at a time, or choose a model with a larger context window.`,
    );
  }
  await transcript.durable();
  listener.emit({ type: "compaction-start", trigger });
  history.restart([...history.messages.slice(0, -1), cut]);
  attemptsByHistory.set(history, { ...attempts, resultsWereCut: true });
  listener.emit({ type: "compaction-end", trigger, promptTokensBefore });
  return "cut";
}

const leastRoomForResults = 200;

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
  const attempts = attemptsOf(loop);
  const turns = turnsSince(attempts, history);
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
  remember(loop, { attempts, turns, trigger, promptTokensBefore, problem });
  const why = isCancelled(problem) ? problem.reason : problem?.message;
  const failure = why !== undefined && { problem: why };
  listener.emit({ type: "compaction-end", trigger, promptTokensBefore, ...failure });
  return { promptTokensBefore, problem };
}

function remember(
  loop: LoopOptions,
  {
    attempts,
    turns,
    trigger,
    promptTokensBefore,
    problem,
  }: CompactionEnd & { attempts: Attempts; turns: number; trigger: CompactionTrigger },
): void {
  const { history, model } = loop;
  // Whoever stops it has not found out whether it can be done.
  if (isCancelled(problem)) return;
  const growth = growthToTryAgain * model.contextWindow;
  if (problem !== undefined) {
    attemptsByHistory.set(history, { ...attempts, againAt: promptTokensBefore + growth });
    return;
  }
  const tokens = tokensBefore(loop);
  const isClose = turns < turnsBetween || tokens > (1 - leastGain) * promptTokensBefore;
  const inARow = isClose ? attempts.inARow + 1 : attempts.resultsWereCut ? attempts.inARow : 1;
  attemptsByHistory.set(history, {
    ...attempts,
    againAt: tokens + growth,
    // A person may ask for it as often as they like.
    inARow: trigger === "manual" ? 0 : inARow,
    length: history.messages.length,
    resultsWereCut: false,
  });
}

/** What another model could not do says nothing about this one. */
function attemptsOf({ history, model }: LoopOptions): Attempts {
  const attempts = attemptsByHistory.get(history);
  if (attempts?.modelId === model.id) return attempts;
  return { ...untried, modelId: model.id };
}

const untried = { againAt: 0, inARow: 0, length: 0, resultsWereCut: false, filledWasTold: false };

function turnsSince({ length }: Attempts, { messages }: History): number {
  return messages.slice(length).filter(({ role }) => role === "assistant").length;
}

function exhausted(message: string): LoopEnd {
  return { reason: "context_exhausted", message };
}

/** What the next request would put before the model. */
function tokensBefore({ prefix, history }: LoopOptions): number {
  return promptTokensOf(estimateUsage({ prefix, history, maxOutputTokens: 0 }));
}
