/**
 * The message with which a conversation goes on after compaction: what the runtime says, what the model summarised,
 * what was asked word for word, and what is told again. Whose words they are can be told apart by their tags.
 */
import { isDirective } from "../agents/fork.ts";
import { cutMiddle } from "../base/cut-middle.ts";
import { neutralizeTags, runtimeTags } from "../base/markup.ts";
import type { Block, Message, TextBlock } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";

export interface CompactedParts {
  /** Those that are gone from now on. */
  readonly replaced: readonly Message[];
  /** Those that follow as they were. */
  readonly following: readonly Message[];
  /** The last of them was asked by somebody, and not answered. */
  readonly waits: boolean;
  /** Calls whose results are gone before they were answered. */
  readonly droppedCalls: readonly string[];
  readonly summary: string;
  /** Where all of it stands. Undefined: it is not kept. */
  readonly transcriptPath: string | undefined;
  readonly contextWindow: number;
  /** It is an agent's conversation, which begins with its task. */
  readonly hasTask: boolean;
  /** There is little room: what was asked earlier is cut to a tenth. */
  readonly isLean: boolean;
  /** Told again by the runtime. */
  readonly standing: readonly Block[];
}

export function compactedContent(parts: CompactedParts): Block[] {
  const own = sinceDirective(parts);
  return [
    textBlock("system-reminder", introduction(parts)),
    textBlock("conversation-summary", neutralizeTags(parts.summary.trim())),
    ...directiveBlocks(own, parts),
    ...taskBlocks(own, parts),
    ...requestBlocks(own, parts),
    ...planBlocks(own, parts),
    ...parts.standing,
  ];
}

/** What stands before a fork's directive was said to another. */
function sinceDirective({ replaced, following }: CompactedParts): readonly Message[] {
  if (following.some(holdsDirective)) return [];
  return replaced.slice(Math.max(0, replaced.findLastIndex(holdsDirective)));
}

function holdsDirective({ role, content }: Message): boolean {
  return role === "user" && content.some(isDirective);
}

/** Whether a conversation begins anew with this message. */
export function isCompacted({ synthetic, content }: Message): boolean {
  return synthetic === true && content.some((block) => isTagged(block, "conversation-summary"));
}

function introduction({ transcriptPath, following, waits, droppedCalls }: CompactedParts): string {
  return [
    "The conversation was shortened here. What was said before is replaced by the summary below, which the model wrote that took part in it: a record of what was, and no new wish of the user. Go on from there without speaking of it. What stands below as an earlier request was said in these very words.",
    ...(following.length > (waits ? 1 : 0)
      ? ["The latest messages follow after this one as they were."]
      : []),
    ...(waits ? ["The last message, at the very end, is not answered yet: it waits for you."] : []),
    ...(droppedCalls.length > 0
      ? [
          `The results of your latest calls (${neutralizeTags(droppedCalls.join(", "))}) were too long to be kept. What the summary does not say of them you have to ask for again, less at a time.`,
        ]
      : []),
    ...(transcriptPath === undefined
      ? []
      : [
          `Nothing is lost: the whole conversation stands in ${neutralizeTags(transcriptPath)}, one JSON record a line. When a detail is missing, search it there or read it.`,
        ]),
  ].join(" ");
}

/** Characters: a quarter of the window. A task that is longer is cut in the middle. */
function longestTask({ contextWindow, isLean }: CompactedParts): number {
  return Math.floor(contextWindow / (isLean ? leanness : 1));
}

const leanness = 10;

function directiveBlocks(own: readonly Message[], parts: CompactedParts): Block[] {
  const directive = own[0]?.content.findLast(isDirective);
  if (directive?.type !== "text") return [];
  return [shortTask(directive, parts)];
}

/** What an agent was started for outlives whatever it is asked later. */
function taskBlocks([first]: readonly Message[], parts: CompactedParts): Block[] {
  if (!parts.hasTask || first === undefined) return [];
  if (isCompacted(first))
    return first.content.flatMap((block) => (isTask(block) ? [shortTask(block, parts)] : []));
  const words = first.content.some(isDirective) ? "" : ownWords(first);
  if (words === "") return [];
  const text = neutralizeTags(cutMiddle(words, longestTask(parts)));
  return [{ type: "text", text: `${taskStart}\n${text}\n</earlier-request>` }];
}

/** With its tags. One that was cut before is a little longer, and is not cut again for that. */
function shortTask(block: Block, parts: CompactedParts): Block {
  if (block.type !== "text" || block.text.length <= longestTask(parts) + 200) return block;
  return { ...block, text: cutMiddle(block.text, longestTask(parts)) };
}

const taskStart = '<earlier-request kind="task">';

function isTask(block: Block): boolean {
  return block.type === "text" && block.text.startsWith(taskStart);
}

const mostRequests = 5;

/** The latest that was asked, word for word: no summary is as good. */
function requestBlocks(own: readonly Message[], { contextWindow, hasTask, isLean }: CompactedParts): Block[] {
  const maxChars = isLean ? 200 : Math.max(200, Math.min(2_000, Math.floor(contextWindow / 25)));
  const requests: Block[] = [];
  for (const [index, message] of [...own.entries()].toReversed()) {
    if (isCompacted(message)) {
      requests.unshift(...message.content.filter((block) => isTagged(block, "earlier-request")));
      break;
    }
    if (holdsDirective(message) || (hasTask && index === 0)) break;
    const words = ownWords(message);
    if (words !== "")
      requests.unshift(textBlock("earlier-request", neutralizeTags(cutMiddle(words, maxChars))));
    if (requests.length >= mostRequests) break;
  }
  return requests.slice(-mostRequests);
}

/** What somebody asked for in this message: not what tools or the runtime said. */
export function ownWords({ role, synthetic, content }: Message): string {
  if (role !== "user" || synthetic === true) return "";
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text.trim()] : []));
  return texts.filter((text) => !runtimeTags.some((tag) => text.startsWith(`<${tag}`))).join("\n\n");
}

const longestPlan = 8_000;

/** The latest that the model proposed. Whether it was approved follows from the mode. */
function planBlocks(own: readonly Message[], { isLean }: CompactedParts): Block[] {
  const maxChars = longestPlan / (isLean ? leanness : 1);
  for (const message of own.toReversed()) {
    if (isCompacted(message)) return message.content.filter((block) => isTagged(block, "current-plan"));
    const call = toolUsesOf(message.content).findLast(({ name }) => name === "ExitPlanMode");
    const plan = call?.input.plan;
    if (typeof plan === "string")
      return [textBlock("current-plan", neutralizeTags(cutMiddle(plan, maxChars)))];
  }
  return [];
}

type OwnTag = "system-reminder" | "conversation-summary" | "earlier-request" | "current-plan";

function isTagged(block: Block, tag: OwnTag): boolean {
  return block.type === "text" && block.text.startsWith(`<${tag}>`);
}

function textBlock(tag: OwnTag, text: string): TextBlock {
  return { type: "text", text: `<${tag}>\n${text}\n</${tag}>` };
}
