/** What tools said at such length that nothing else fits beside it is shown in part. */
import { cutMiddle } from "../base/cut-middle.ts";
import type { Block, Message, ToolResultBlock } from "../contracts/message.ts";
import { charactersPerToken, tokensOfMessages } from "./estimate.ts";

/**
 * The message with results that take at most about `maxTokens` together. The short ones stay whole, the long ones
 * share what is left. Undefined: they take no more.
 */
export function cutResults(
  message: Message,
  { maxTokens, transcriptPath }: { maxTokens: number; transcriptPath: string | undefined },
): Message | undefined {
  const sizes = message.content.flatMap((block) => (block.type === "tool_result" ? [tokensOf(block)] : []));
  const most = mostOfEach(sizes, maxTokens);
  if (!sizes.some((size) => size > most)) return undefined;
  const note = noteOn(transcriptPath);
  const maxChars = Math.max(0, Math.floor(most * charactersPerToken) - note.length);
  const content = message.content.map((block): Block => {
    if (block.type !== "tool_result" || tokensOf(block) <= most) return block;
    return { ...block, content: `${cutMiddle(wordsOf(block), maxChars)}\n${note}` };
  });
  return { ...message, content };
}

export function tokensOfResults({ content }: Message): number {
  return content.reduce((sum, block) => sum + (block.type === "tool_result" ? tokensOf(block) : 0), 0);
}

/** The size to which all are cut that are larger, so that together they take no more than the limit. */
export function mostOfEach(sizes: readonly number[], limit: number): number {
  let left = limit;
  const ascending = sizes.toSorted((a, b) => a - b);
  for (const [index, size] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (size > share) return share;
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

function noteOn(transcriptPath: string | undefined): string {
  const where =
    transcriptPath === undefined ? "" : ` The whole stands in ${transcriptPath}, one JSON record a line.`;
  return `(Cut for its size: results like this one have filled the context window again and again. Ask for less at a time.${where})`;
}

function tokensOf(block: ToolResultBlock): number {
  return tokensOfMessages([{ content: [block] }]);
}

function wordsOf({ content }: ToolResultBlock): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `(${part.type} left out)`)).join("\n");
}
