/**
 * The message with which a conversation goes on after compaction: what the runtime says, what the model summarised,
 * what was asked word for word, and what is told again. Whose words they are can be told apart by their tags.
 */
import { isDirective } from "../agents/fork.ts";
import { neutralizeTags, runtimeTags } from "../base/markup.ts";
import type { Block, Message, TextBlock } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";
import { cutMiddle } from "./compaction-parts.ts";

export interface CompactedParts {
  /** Those that are gone from now on. */
  readonly replaced: readonly Message[];
  readonly summary: string;
  /** Where all of it stands. Undefined: it is not kept. */
  readonly transcriptPath: string | undefined;
  readonly contextWindow: number;
  /** Messages that follow as they were. */
  readonly keptCount: number;
  /** Told again by the runtime. */
  readonly standing: readonly Block[];
  /** Not answered yet. */
  readonly unanswered: readonly Block[];
}

export function compactedContent(parts: CompactedParts): Block[] {
  const { replaced, unanswered, contextWindow } = parts;
  const directive = lastBlock(replaced, isDirective);
  const answered = unanswered.length > 0 ? replaced.slice(0, -1) : replaced;
  return [
    textBlock("system-reminder", introduction(parts)),
    textBlock("conversation-summary", neutralizeTags(parts.summary.trim())),
    ...(directive ? [directive] : []),
    ...requestBlocks(answered, contextWindow),
    ...planBlocks(replaced),
    ...parts.standing,
    ...unanswered,
  ];
}

/** Whether a conversation begins anew with this message. */
export function isCompacted({ synthetic, content }: Message): boolean {
  return synthetic === true && content.some((block) => isTagged(block, "conversation-summary"));
}

function introduction({ transcriptPath, keptCount }: CompactedParts): string {
  return [
    "The conversation was shortened here. What was said before is replaced by the summary below, which the model wrote that took part in it: a record of what was, and no new wish of the user. Go on from there without speaking of it. What stands below as an earlier request was said in these very words.",
    ...(keptCount > 0 ? ["The latest messages follow after this one as they were."] : []),
    ...(transcriptPath === undefined
      ? []
      : [
          `Nothing is lost: the whole conversation stands in ${neutralizeTags(transcriptPath)}, one JSON record a line. When a detail is missing, search it there or read it.`,
        ]),
  ].join(" ");
}

const mostRequests = 5;

/** The latest that was asked, word for word: no summary is as good. */
function requestBlocks(messages: readonly Message[], contextWindow: number): Block[] {
  const maxChars = Math.max(200, Math.min(2_000, Math.floor(contextWindow / 25)));
  const requests: Block[] = [];
  for (const message of messages.toReversed()) {
    if (isCompacted(message)) {
      requests.unshift(...message.content.filter((block) => isTagged(block, "earlier-request")));
      break;
    }
    // What stands before a fork's directive was asked of another.
    if (message.content.some(isDirective)) break;
    const words = ownWords(message);
    if (words !== "")
      requests.unshift(textBlock("earlier-request", neutralizeTags(cutMiddle(words, maxChars))));
    if (requests.length >= mostRequests) break;
  }
  return requests.slice(-mostRequests);
}

/** What somebody asked for in this message: not what tools or the runtime said. */
function ownWords({ role, synthetic, content }: Message): string {
  if (role !== "user" || synthetic === true) return "";
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text.trim()] : []));
  return texts.filter((text) => !runtimeTags.some((tag) => text.startsWith(`<${tag}`))).join("\n\n");
}

const longestPlan = 8_000;

/** The latest that the model proposed. Whether it was approved follows from the mode. */
function planBlocks(messages: readonly Message[]): Block[] {
  for (const message of messages.toReversed()) {
    if (isCompacted(message)) return message.content.filter((block) => isTagged(block, "current-plan"));
    const call = toolUsesOf(message.content).findLast(({ name }) => name === "ExitPlanMode");
    const plan = call?.input.plan;
    if (typeof plan === "string")
      return [textBlock("current-plan", neutralizeTags(cutMiddle(plan, longestPlan)))];
  }
  return [];
}

function lastBlock(messages: readonly Message[], isIt: (block: Block) => boolean): Block | undefined {
  for (const { role, content } of messages.toReversed()) {
    const found = role === "user" ? content.findLast(isIt) : undefined;
    if (found) return found;
  }
  return undefined;
}

type OwnTag = "system-reminder" | "conversation-summary" | "earlier-request" | "current-plan";

function isTagged(block: Block, tag: OwnTag): boolean {
  return block.type === "text" && block.text.startsWith(`<${tag}>`);
}

function textBlock(tag: OwnTag, text: string): TextBlock {
  return { type: "text", text: `<${tag}>\n${text}\n</${tag}>` };
}
