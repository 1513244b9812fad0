/** The history that takes the place of a longer one: as much as fits of what is worth keeping. */
import { isDirective } from "../agents/fork.ts";
import { cutMiddle } from "../base/cut-middle.ts";
import { CadreError } from "../base/errors.ts";
import { isoTime } from "../base/iso-time.ts";
import type { Block, Message } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";
import { noUsage } from "../contracts/usage.ts";
import { charactersPerToken, tokensOfMessages, tokensOfPrefix } from "../loop/estimate.ts";
import { type CompactionPort, type LoopOptions, maxOutputTokensOf } from "../loop/loop-options.ts";
import { compactedContent, ownWords } from "./compaction-message.ts";
import { cutMessage, keptCount, waitingMessage } from "./compaction-parts.ts";

export type Wish = Parameters<CompactionPort["compact"]>[0];

export interface Told {
  readonly summary: string;
  readonly standing: readonly Block[];
}

/** First all that is worth keeping; if that is too much, less of it; and only then less of what waits for an answer. */
export function shorterHistory(wish: Wish, told: Told): readonly Message[] {
  const { loop, messages, trigger } = wish;
  const { contextWindow } = loop.model;
  const room = roomFor(wish);
  const kept = keptCount(messages, contextWindow);
  let fresh = freshHistory(wish, { told, kept, isLean: false });
  if (tokensOfMessages(fresh) > room) {
    const summary = cutMiddle(told.summary, Math.floor(contextWindow / 10));
    fresh = freshHistory(wish, { told: { ...told, summary }, kept: 0, isLean: true });
    if (tokensOfMessages(fresh) > room) fresh = withWaitingCut(wish, { fresh, room });
  }
  const [before, after] = [tokensOfMessages(messages), tokensOfMessages(fresh)];
  const fitsNow = before > room && after <= room;
  // Whoever asks for it by hand has a reason; by itself it would be done again at once.
  if (trigger !== "manual" && !fitsNow && after > mostThatStays * before)
    throw failed(`With a summary the conversation is hardly shorter: ${after} of ${before} tokens.`);
  return fresh;
}

/** There is nothing to summarise: it fits, or as much of it stands there as fits. */
export function onlyMessage(wish: Wish): readonly Message[] {
  const fresh = wish.messages.slice();
  const room = roomFor(wish);
  if (tokensOfMessages(fresh) <= room) throw failed("There is nothing to summarise yet.");
  return withWaitingCut(wish, { fresh, room });
}

const mostThatStays = 0.8;
/** At least so much of the window stays free for an answer. */
const freeForAnswer = 0.1;

/** How many tokens fit beside the prefix. Where the provider says that it is too much, its limit is not the known one. */
function roomFor({ loop, messages, trigger }: Wish): number {
  const { contextWindow } = loop.model;
  const reserve = Math.min(maxOutputTokensOf(loop), freeForAnswer * contextWindow);
  const room = contextWindow - reserve - tokensOfPrefix(loop.prefix);
  if (trigger !== "too-long") return room;
  const less = mostThatStays * tokensOfMessages(messages);
  return room > 0 ? Math.min(room, less) : less;
}

function freshHistory(
  { loop, messages }: Wish,
  { told, kept, isLean }: { told: Told; kept: number; isLean: boolean },
): Message[] {
  const waiting = waitingMessage(messages);
  const following = kept > 0 ? messages.slice(-kept) : waiting ? [waiting] : [];
  const first: Message = {
    ...runtimeMessage(loop),
    content: compactedContent({
      ...told,
      replaced: messages.slice(0, messages.length - following.length),
      following,
      waits: waiting !== undefined && ownWords(waiting) !== "",
      droppedCalls: kept > 0 ? [] : unansweredCalls(messages),
      transcriptPath: loop.transcript.path,
      contextWindow: loop.model.contextWindow,
      hasTask: loop.agent.agentId !== undefined,
      isLean,
    }),
  };
  return [first, ...keptMessages(following, first)];
}

/** Whose results the model has not yet answered. Those that a fork begins with are none of its own. */
function unansweredCalls(messages: readonly Message[]): string[] {
  const [calling, last] = messages.slice(-2);
  if (calling === undefined || last?.role !== "user" || last.content.some(isDirective)) return [];
  if (last.content.every(({ type }) => type !== "tool_result")) return [];
  return [...new Set(toolUsesOf(calling.content).map(({ name }) => name))];
}

function withWaitingCut(
  { loop, messages, trigger }: Wish,
  { fresh, room }: { fresh: Message[]; room: number },
): Message[] {
  const waiting = waitingMessage(messages);
  const last = fresh.at(-1);
  if (waiting === undefined || last === undefined) return fresh;
  const left = room - tokensOfMessages(fresh.slice(0, -1)) - tokensForNote;
  const isPossible = left >= leastOfWaiting && !waiting.content.some(isDirective);
  if (!isPossible && trigger === "manual") return fresh;
  if (!isPossible) throw failed("What was asked last does not fit before the model.");
  const { path: transcriptPath } = loop.transcript;
  const maxChars = Math.floor(left * charactersPerToken);
  return [...fresh.slice(0, -1), cutMessage(last, { maxChars, transcriptPath })];
}

const tokensForNote = 150;
const leastOfWaiting = 100;

/** They follow on the first, and no longer tell how much stood before the model when they were said. */
function keptMessages(messages: readonly Message[], first: Message): Message[] {
  return messages.map((message, index) => ({
    ...message,
    ...(index === 0 && { parentUuid: first.uuid }),
    ...(message.response && { response: { ...message.response, usage: noUsage } }),
  }));
}

export function runtimeMessage({ world, history, agent }: LoopOptions): Message {
  return {
    uuid: history.newUuid(),
    parentUuid: null,
    timestamp: isoTime(world.clock.now()),
    ...(agent.agentId !== undefined && { agentId: agent.agentId }),
    role: "user",
    content: [],
    synthetic: true,
  };
}

export function failed(message: string): CadreError {
  return new CadreError({ code: "compaction-failed", message });
}
