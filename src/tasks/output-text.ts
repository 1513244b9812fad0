/**
 * The text of an agent's output file (TA-6), for people and models to read: `> ` before a call, two blanks before what
 * came of it, `< ` before what the agent was told, its own words as they are, at last how it ended.
 *
 * All of it follows from messages alone, so that it can be made from a transcript afterwards. Nothing in it acts on a
 * terminal, and no words of an agent look like a line of the runtime.
 */
import { counted } from "../base/counted.ts";
import { forTerminal } from "../base/markup.ts";
import { cutAtCharacter, toOneLine } from "../base/one-line.ts";
import { describeReceipt } from "../contracts/describe-receipt.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { Block, Message, ToolResultBlock, ToolUseBlock } from "../contracts/message.ts";
import type { ReceiptSummary } from "../contracts/receipt.ts";
import { subjectOf } from "../contracts/subject-of-call.ts";
import type { TaskEndStatus } from "../contracts/task.ts";
import type { TaskEnd } from "./notification.ts";

const maxLineChars = 200;
const maxToldChars = 2_000;
const maxWordsChars = 20_000;
/** A message may hold thousands of calls. */
const maxMessageChars = 64_000;
const mostReceiptLines = 100;

/** What an event adds; "" if it has nothing to tell. */
export function textOfEvent(event: LoopEvent): string {
  switch (event.type) {
    case "message-append":
      return textOfMessage(event.message);
    case "model-retry":
      return `(asks its model again in ${duration(event.delayMs)}: ${toOneLine(event.reason.trim(), maxLineChars)})\n`;
    case "compaction-end":
      return event.problem === undefined ? "(its conversation was shortened)\n" : "";
    default:
      return "";
  }
}

/** The same from a transcript, but for what is not said in messages. */
export function textOfMessages(messages: readonly Message[]): string {
  return messages.map(textOfMessage).join("");
}

export interface EndText {
  readonly status: TaskEndStatus;
  readonly result?: string | undefined;
  readonly error?: string | undefined;
  readonly receipt?: ReceiptSummary | undefined;
  readonly usage?: TaskEnd["usage"] | undefined;
  /** Where there is no usage. */
  readonly durationMs?: number | undefined;
}

/** `--- completed (12 calls, 8,310 tokens, 4.2 s) ---`, the error, the receipt, the result. */
export function textOfEnd({ status, result = "", error = "", receipt, usage, durationMs }: EndText): string {
  const tookMs = usage?.durationMs ?? durationMs;
  const facts = [
    ...(usage ? [counted(usage.toolUses, "call"), counted(usage.totalTokens, "token")] : []),
    ...(tookMs === undefined ? [] : [duration(tookMs)]),
  ];
  const lines = [`--- ${status}${facts.length > 0 ? ` (${facts.join(", ")})` : ""} ---`];
  if (error.trim() !== "") lines.push(`Error: ${toOneLine(error.trim(), maxToldChars)}`);
  if (receipt) {
    const [counts, ...deeds] = describeReceipt(receipt, mostReceiptLines);
    lines.push(`Receipt: ${counts}`, ...deeds.map((deed) => `  ${deed}`));
  }
  const said = result.trim() === "" ? "" : `Result:\n${words(result)}`;
  return `${lines.join("\n")}\n${said}`;
}

function textOfMessage({ role, content }: Message): string {
  const text = role === "assistant" ? saidText(content) : toldText(content);
  return text.length <= maxMessageChars
    ? text
    : `${cutAtCharacter(text, maxMessageChars)}\n(the rest of this message is left out)\n`;
}

function saidText(content: readonly Block[]): string {
  return content
    .map((block) => {
      if (block.type === "tool_use") return `> ${describeCall(block)}\n`;
      return block.type === "text" && block.text.trim() !== "" ? words(block.text) : "";
    })
    .join("");
}

function toldText(content: readonly Block[]): string {
  const results = content.filter((block) => block.type === "tool_result");
  // They stand in the order of the calls; of several each is numbered, so that they can be told apart.
  const answers = results.map((result, index) => {
    const number = results.length === 1 ? "" : `${index + 1}. `;
    return `  ${number}${describeResult(result)}\n`;
  });
  return answers.join("") + content.map(toldBlock).join("");
}

function toldBlock(block: Block): string {
  if (block.type === "image" || block.type === "document") return `< [${block.type}]\n`;
  if (block.type !== "text" || isReminder(block.text)) return "";
  return prefixed(shortened(block.text.trim(), maxToldChars), "< ");
}

/** The runtime repeats these, and they are about no work. */
function isReminder(text: string): boolean {
  return text.startsWith("<system-reminder>");
}

function describeCall({ name, input }: ToolUseBlock): string {
  return inLine(`${name} ${subjectOf(input).trim()}`.trim());
}

/** Its first line. Of an error the last as well, where a command's exit code stands. */
function describeResult({ content, is_error: failed }: ToolResultBlock): string {
  const text = (typeof content === "string" ? content : content.map(textOfContent).join("\n")).trim();
  const first = firstLine(text);
  const last = text.slice(text.lastIndexOf("\n") + 1).trim();
  if (failed) return `failed: ${inLine(first)}${last === first ? "" : ` ... ${inLine(last)}`}`;
  const more = countLines(text) - 1;
  return more > 0 ? `${inLine(first)} (${counted(more, "more line")})` : inLine(first);
}

function textOfContent(block: Exclude<ToolResultBlock["content"], string>[number]): string {
  return block.type === "text" ? block.text : `[${block.type}]`;
}

function firstLine(text: string): string {
  const end = text.indexOf("\n");
  return (end === -1 ? text : text.slice(0, end)).trim();
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** Columns and line numbers are of no use in a line of its own. */
function inLine(text: string): string {
  return toOneLine(text.slice(0, 4 * maxLineChars).replace(/[ \t]+/g, " "), maxLineChars);
}

/** What begins like a line of the runtime is moved by a blank. */
function words(text: string): string {
  return `${shortened(text.trimEnd(), maxWordsChars).replace(/^(?=[<>]|---)/gm, " ")}\n`;
}

function prefixed(text: string, prefix: string): string {
  return text === "" ? "" : `${text.replace(/^/gm, prefix)}\n`;
}

function shortened(text: string, maxChars: number): string {
  const kept = cutAtCharacter(text, maxChars);
  const left = text.length - kept.length;
  return left === 0 ? forTerminal(kept) : `${forTerminal(kept)}\n(${counted(left, "more character")})`;
}

function duration(ms: number): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 3_600
    ? `${Math.floor(whole / 60)} min ${whole % 60} s`
    : `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}
