/** Which messages of a conversation are summarised, and which are kept as they are. All of it is pure. */
import { cutMiddle } from "../base/cut-middle.ts";
import { neutralizeTags } from "../base/markup.ts";
import type { Block, Message, ToolResultBlock } from "../contracts/message.ts";
import { mostOfEach } from "../loop/cut-results.ts";
import { tokensOfMessages } from "../loop/estimate.ts";

/** The latest messages stay word for word, if they are at most this share of the window and of the conversation. */
const keptOfWindow = 0.1;
const keptOfConversation = 0.25;

/** How many messages at the end are kept. Every call among them has its result among them, and the other way round. */
export function keptCount(messages: readonly Message[], contextWindow: number): number {
  const total = tokensOfMessages(messages);
  const budget = Math.min(keptOfWindow * contextWindow, keptOfConversation * total);
  const start = firstStart(messages, budget, canStart);
  return start === undefined ? 0 : messages.length - start;
}

/**
 * What was said last and waits for an answer, without the results that it stands beside: it must not be lost with them.
 */
export function waitingMessage(messages: readonly Message[]): Message | undefined {
  const last = messages.at(-1);
  if (last?.role !== "user" || last.synthetic === true) return undefined;
  const content = last.content.filter(({ type }) => type !== "tool_result");
  if (content.length === 0) return undefined;
  return content.length === last.content.length ? last : { ...last, content };
}

/** What is long in it has its beginning and its end, and it is told where the rest is. */
export function cutMessage(
  message: Message,
  { maxChars, transcriptPath }: { maxChars: number; transcriptPath: string | undefined },
): Message {
  const blocks = message.content.flatMap(shortened).filter((block) => !isNote(block));
  const sizes = blocks.flatMap((block) => (block.type === "text" ? [block.text.length] : []));
  const most = mostOfEach(sizes, maxChars);
  const where =
    transcriptPath === undefined
      ? ""
      : ` The whole stands in ${neutralizeTags(transcriptPath)}, in the record with the uuid ${message.uuid}: read there what is missing.`;
  return {
    ...message,
    content: [
      { type: "text", text: `${noteStart}${where}\n</system-reminder>` },
      ...blocks.map((block) =>
        block.type === "text" ? { ...block, text: cutMiddle(block.text, most) } : block,
      ),
    ],
  };
}

const noteStart =
  "<system-reminder>\nWhat follows waits for your answer. It is too long to stand here whole, so only its beginning and its end do.";

/** It may be cut a second time. */
function isNote(block: Block): boolean {
  return block.type === "text" && block.text.startsWith(noteStart);
}

const shares = [0.7, 0.5, 0.3, 0.15, 0.05];
const longestResult = 4_000;

/**
 * Ever less of a conversation that is too long to be summarised whole: the oldest turns are left out, and what tools
 * said at length is cut. `opening` says what is missing, and what of it must not be.
 */
export function* shorterParts(
  messages: readonly Message[],
  opening: Message,
): Generator<readonly Message[], void, undefined> {
  const total = tokensOfMessages(messages);
  const short = messages.map(withShortResults);
  let before = -1;
  for (const share of shares) {
    const start = startOfPart(short, share * total);
    if (start === undefined) return;
    if (start === before) continue;
    before = start;
    yield [opening, ...short.slice(start)];
  }
}

/** Whole turns of the user where there are such; of one long turn its latest rounds. */
function startOfPart(messages: readonly Message[], budget: number): number | undefined {
  const turn = firstStart(messages, budget, beginsTurn);
  if (turn !== undefined && tokensOfMessages(messages.slice(turn)) >= budget / 2) return turn;
  return firstStart(messages, budget, canStart);
}

/** The longest end of the conversation that fits and starts like this. */
function firstStart(
  messages: readonly Message[],
  budget: number,
  isStart: (message: Message) => boolean,
): number | undefined {
  let start: number | undefined;
  let tokens = 0;
  for (let index = messages.length - 1; index > 0; index--) {
    const message = messages[index];
    if (message === undefined) continue;
    tokens += tokensOfMessages([message]);
    if (tokens > budget) break;
    if (isStart(message)) start = index;
  }
  return start;
}

/** Results belong to the message before them. */
function canStart({ content }: Message): boolean {
  return content.every(({ type }) => type !== "tool_result");
}

function beginsTurn(message: Message): boolean {
  return message.role === "user" && canStart(message);
}

function withShortResults(message: Message): Message {
  if (message.content.every((block) => block.type === "text" || block.type === "tool_use")) return message;
  return { ...message, content: message.content.flatMap(shortened) };
}

function shortened(block: Block): Block[] {
  if (block.type === "image" || block.type === "document")
    return [{ type: "text", text: `(${block.type} left out)` }];
  return [block.type === "tool_result" ? { ...block, content: shortResult(block) } : block];
}

function shortResult({ content }: ToolResultBlock): string {
  if (typeof content === "string") return cutMiddle(content, longestResult);
  const texts = content.map((part) => (part.type === "text" ? part.text : `(${part.type} left out)`));
  return cutMiddle(texts.join("\n"), longestResult);
}
