/**
 * Makes a shorter conversation of a long one (LO-6). An internal fork summarises it, so that what it reads is read from
 * the prompt cache; what the runtime knows better than any summary is told again after it.
 */
import { createScope, type Scope } from "../base/cancellation.ts";
import { cutMiddle } from "../base/cut-middle.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import type { Block, Message } from "../contracts/message.ts";
import { charactersPerToken, tokensOfMessages } from "../loop/estimate.ts";
import { type InternalForkEnd, runInternalFork } from "../loop/internal-fork.ts";
import { type CompactionPort, type LoopOptions, maxOutputTokensOf } from "../loop/loop-options.ts";
import { failed, onlyMessage, runtimeMessage, shorterHistory, type Wish } from "./compaction-history.ts";
import { isCompacted } from "./compaction-message.ts";
import { cutMessage, shorterParts, waitingMessage } from "./compaction-parts.ts";
import { compactionPrompt } from "./compaction-prompt.ts";

export interface CompactionParts {
  /** What must be told again to this agent, in blocks of the runtime. */
  readonly standing: (loop: LoopOptions) => Promise<readonly Block[]>;
  /** Of the main conversation: notes that were kept while it went on. */
  readonly notes?: (() => Promise<string | undefined>) | undefined;
}

/** One for all agents of a session. Rejects, and changes nothing, if it cannot be done. */
export function createCompaction(parts: CompactionParts): CompactionPort["compact"] {
  return async (wish) => {
    const { loop, messages } = wish;
    if (messages.length === 0) throw failed("There is nothing to summarise yet.");
    if (messages.length === 1 && wish.trigger !== "manual") return onlyMessage(wish);
    const scope = createScope(wish.signal);
    try {
      const summary = await summarize(wish, { scope, notes: await notesFor(loop, parts) });
      return shorterHistory(wish, { summary, standing: await parts.standing(loop) });
    } finally {
      scope.release();
    }
  };
}

/** A help and nothing more: if they cannot be had, it is done without. */
async function notesFor({ agent }: LoopOptions, { notes }: CompactionParts): Promise<string | undefined> {
  if (agent.agentId !== undefined) return undefined;
  const text = await notes?.().catch(() => undefined);
  return text === undefined || text.trim() === "" ? undefined : text;
}

async function summarize(
  wish: Wish,
  { scope, notes }: { scope: Scope; notes: string | undefined },
): Promise<string> {
  const { loop, instructions } = wish;
  const maxTokens = maxSummaryTokens(loop);
  // Fewer than would fit: a word is more than a token, and the limit must not cut it off.
  const prompt = compactionPrompt({ instructions, notes, maxWords: Math.floor(maxTokens / 2) });
  for (const messages of partsToTry(wish)) {
    const asked = await runInternalFork({
      loop,
      messages,
      name: "compaction",
      prompt,
      // A model that calls a tool is told not to, and can still answer.
      limits: { maxTurns: 3, maxOutputTokens: maxTokens },
      scope,
      listener: { emit: (event) => forwardWaiting(event, wish) },
    });
    if (asked.end.reason !== "context_exhausted") return summaryOf(asked, maxTokens);
  }
  if (notes !== undefined) return cutMiddle(notes, maxTokens * charactersPerToken);
  throw failed("Even the latest part of the conversation does not fit before the model.");
}

/** A tenth of the window: with what is told again and kept, most of it is free afterwards. */
function maxSummaryTokens(loop: LoopOptions): number {
  const tenth = Math.max(1_000, Math.floor(loop.model.contextWindow / 10));
  return Math.min(tenth, 16_000, maxOutputTokensOf(loop));
}

/** The whole, from the cache; then, or if it is known not to fit, ever less of it. */
function* partsToTry(wish: Wish): Generator<readonly Message[], void, undefined> {
  const { loop, messages, trigger } = wish;
  if (trigger !== "too-long") yield messages;
  const short = withShortEnd(messages, loop);
  if (short !== messages) yield short;
  yield* shorterParts(short, openingOf(wish));
}

/** What waits for an answer stays as it is: whoever summarises needs to know only what it is about. */
function withShortEnd(messages: readonly Message[], { transcript }: LoopOptions): readonly Message[] {
  const [last, waiting] = [messages.at(-1), waitingMessage(messages)];
  if (last === undefined || waiting === undefined) return messages;
  if (tokensOfMessages([waiting]) * charactersPerToken <= longestOpening) return messages;
  const { content } = cutMessage(waiting, { maxChars: longestOpening, transcriptPath: transcript.path });
  const results = last.content.filter(({ type }) => type === "tool_result");
  return [...messages.slice(0, -1), { ...last, content: [...results, ...content] }];
}

/** What must not be left out with the oldest: an earlier summary, or what the conversation began with. */
function openingOf({ loop, messages }: Wish): Message {
  const [first] = messages;
  if (first !== undefined && isCompacted(first)) return first;
  const begun = (first?.content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : []));
  const texts = [cutMiddle(begun.join("\n\n"), longestOpening), "(What followed is left out here.)"];
  return {
    ...runtimeMessage(loop),
    content: texts.filter((text) => text !== "").map((text): Block => ({ type: "text", text })),
  };
}

const longestOpening = 8_000;

/** That it has to wait is worth telling; what it says is nobody's business. */
function forwardWaiting(event: LoopEvent, { emit }: Wish): void {
  if (event.type === "model-retry") emit(event);
}

function summaryOf({ end, answer }: InternalForkEnd, maxTokens: number): string {
  const problem = problemOf(end);
  if (problem !== undefined) throw failed(problem);
  const summary = answer.trim();
  if (summary === "") throw failed("The model's summary was empty.");
  if (summary.length > 2 * charactersPerToken * maxTokens)
    throw failed(`The model's summary was far too long (${summary.length} characters).`);
  return isCutOff(end) ? `${summary}\n(The summary was cut off here.)` : summary;
}

function problemOf(end: LoopEnd): string | undefined {
  switch (end.reason) {
    case "completed":
      return end.stopReason === "refusal" ? "The model declined to summarise." : undefined;
    case "model_error":
      return end.error.message;
    case "max_turns":
      return "The model called tools instead of summarising.";
    case "aborted":
      return `It was stopped: ${end.why}.`;
    case "context_exhausted":
    case "hook_stopped":
    case "budget_exhausted":
      return end.message;
  }
}

function isCutOff(end: LoopEnd): boolean {
  return end.reason === "completed" && end.stopReason === "max_tokens";
}
