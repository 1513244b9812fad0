/** For how long the provider keeps what a request puts into its prompt cache (setting `cache.ttl`). */
import type { Clock } from "../base/world.ts";
import { promptTokensOf } from "../contracts/usage.ts";
import {
  assumedChance,
  type CacheTtl,
  cacheLifeMs,
  isLongPause,
  isWithinLookBack,
  learnedChance,
  longCachePays,
} from "../model/prompt-cache.ts";
import { estimateUsage } from "./estimate.ts";
import type { History } from "./history.ts";
import { type LoopOptions, maxOutputTokensOf } from "./loop-options.ts";

/** Asked before every request. Undefined: as is usual. */
export type ChooseCacheTtl = (loop: LoopOptions) => CacheTtl | undefined;

/** What is known of a conversation from the requests it made. */
interface Known {
  askedMs: number;
  ttl: CacheTtl;
  /** Where its newest entry ends that is kept for an hour. */
  long: { readonly messages: number; readonly tokens: number } | undefined;
  /** Whether it had something to wait for then. */
  mood: Mood;
  readonly chances: Record<Mood, number>;
}

type Mood = keyof typeof assumedChance;

/**
 * The longer one where that pays. How long a conversation will pause is not known when it asks, but it is known how
 * often it did so far, and whether something runs in the background whose end it will want to hear.
 */
export function createTtlChooser(options: {
  readonly clock: Pick<Clock, "now">;
  /** Something that this agent has started runs in the background. */
  readonly isAwaiting: (agentId: string | undefined) => boolean;
}): ChooseCacheTtl {
  // Kept here, not with the agent: only who has set this pays for it.
  const conversations = new WeakMap<History, Known>();

  return (loop) => {
    const { prefix, history, agent } = loop;
    // It asks once or twice, and nobody goes on with what it was told.
    if (agent.source.kind === "service") return "5m";
    const nowMs = options.clock.now();
    const known = conversations.get(history) ?? newConversation(nowMs);
    const pauseMs = nowMs - known.askedMs;
    if (conversations.has(history)) learn(known, pauseMs);
    known.mood = options.isAwaiting(agent.agentId) ? "awaiting" : "pausing";
    // A request that failed has written nothing, and after a compaction nothing of it is left.
    if (pauseMs >= cacheLifeMs["1h"] || (history.sentCount ?? 0) < (known.long?.messages ?? 0))
      known.long = undefined;
    const usage = estimateUsage({ prefix, history, maxOutputTokens: maxOutputTokensOf(loop) });
    const promptTokens = promptTokensOf(usage);
    const atRiskTokens = promptTokens - safeTokens(known, history);
    const ttl = longCachePays({
      newTokens: pauseMs < cacheLifeMs[known.ttl] ? usage.cacheWriteTokens : atRiskTokens,
      atRiskTokens,
      chance: known.chances[known.mood],
    })
      ? "1h"
      : "5m";
    if (ttl === "1h") known.long = { messages: history.messages.length, tokens: promptTokens };
    known.ttl = ttl;
    known.askedMs = nowMs;
    conversations.set(history, known);
    return ttl;
  };
}

function newConversation(nowMs: number): Known {
  return { askedMs: nowMs, ttl: "5m", long: undefined, mood: "pausing", chances: { ...assumedChance } };
}

function learn({ chances, mood }: Known, pauseMs: number): void {
  chances[mood] = learnedChance(chances[mood], isLongPause(pauseMs));
}

/** What the next request would find of it after a long pause anyway. */
function safeTokens({ long }: Known, { messages }: History): number {
  if (long === undefined) return 0;
  return isWithinLookBack(messages, { from: long.messages, to: messages.length }) ? long.tokens : 0;
}
