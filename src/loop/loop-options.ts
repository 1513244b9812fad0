import type { Scope } from "../base/cancellation.ts";
import type { CompactionTrigger, LoopEvent } from "../contracts/event.ts";
import type { Block, Message } from "../contracts/message.ts";
import type { Usage } from "../contracts/usage.ts";
import type { Model } from "../model/model.ts";
import type { CacheTtl } from "../model/prompt-cache.ts";
import type { Queue } from "../tasks/queue.ts";
import type { ExecutorLimits, ExecutorRun } from "../tools/executor.ts";
import type { Tool } from "../tools/tool.ts";
import type { TranscriptWriter } from "../transcript/writer.ts";
import type { Budget } from "./budget.ts";
import type { History } from "./history.ts";
import type { Interrupt } from "./interrupt.ts";
import type { Prefix } from "./request.ts";

/** Everything a run of the loop needs. What lies above the loop comes in as a port. */
export interface LoopOptions extends ExecutorRun {
  readonly model: Model;
  readonly prefix: Prefix;
  /**
   * Asked at the start of every turn: something that must stand before the messages has changed (a tool came to
   * be, an agent was added). Every answer costs the whole prompt cache, so it is rare and says why (LO-5).
   */
  readonly renewPrefix?: () => PrefixChange | undefined;
  readonly history: History;
  readonly transcript: TranscriptWriter;
  /** What this run begins with; absent when the history already ends with it. */
  readonly input?: { readonly content: Block[]; readonly queueItems?: string[] };
  readonly scope: Scope;
  readonly listener: Listener;
  readonly interrupt: Interrupt;
  readonly limits: LoopLimits;
  readonly budget: Budget;
  /** In dollars; undefined for a model whose price is not known. */
  readonly priceOf: (model: Model, modelId: string, usage: Usage) => number | undefined;
  /** The session's: this run takes what is addressed to its agent. */
  readonly queue: Pick<Queue, "take" | "waiting" | "acknowledge">;
  /** Said again after every round of tools. */
  readonly reminder?: string | undefined;
  readonly hooks?: HooksPort | undefined;
  /** Absent: a conversation that no longer fits ends the run with `context_exhausted`. */
  readonly compaction?: CompactionPort | undefined;
}

/** Whoever is told what happens. */
export interface Listener {
  /** Must not throw. */
  emit(event: LoopEvent): void;
  /** Asked between turns: a run waits for a listener that has not caught up. */
  caughtUp?(): Promise<void> | undefined;
}

export interface PrefixChange {
  readonly prefix: Prefix;
  readonly tools: readonly Tool[];
  readonly reason: string;
}

export interface LoopLimits extends ExecutorLimits {
  /** Of this run alone; those of all that it starts are the budget's. */
  readonly maxTurns?: number | undefined;
  readonly maxOutputTokens?: number;
  readonly thinking?: { budgetTokens: number } | undefined;
  /** For how long the provider keeps what the next request of this run caches; absent: as is usual. */
  readonly cacheTtl?: ((loop: LoopOptions) => CacheTtl | undefined) | undefined;
}

const defaultMaxOutputTokens = 16_384;
/** Some servers refuse a request whose prompt and longest answer together do not fit. */
const mostOfWindow = 0.2;

export function maxOutputTokensOf({ limits, model }: Pick<LoopOptions, "limits" | "model">): number {
  const fallback = () => Math.min(defaultMaxOutputTokens, Math.floor(mostOfWindow * model.contextWindow));
  return limits.maxOutputTokens ?? model.maxOutputTokens ?? fallback();
}

export interface HooksPort {
  /** A reply without tool calls is about to end the run: a text sends the agent on, `stop` ends it as stopped. */
  beforeEnd(lastMessage: Message | undefined): Promise<{ goOn: string } | { stop: string } | undefined>;
}

export interface CompactionPort {
  /** Share of the context window at which the history is compacted before the next request. */
  readonly at: number;
  /** The history that replaces the old one. `too-long`: the provider has said so of the present one. */
  compact(options: {
    /** The run whose history it is. One port serves all agents of a session. */
    loop: LoopOptions;
    messages: readonly Message[];
    trigger: CompactionTrigger;
    /** Of the person who asks for it. */
    instructions?: string | undefined;
    signal: AbortSignal;
    emit: (event: LoopEvent) => void;
  }): Promise<readonly Message[]>;
}
