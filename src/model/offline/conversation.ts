/** A conversation as a playbook sees it: what was said to it, and what was said back. */
import { runtimeTags } from "../../base/markup.ts";
import type { Message, ToolUseBlock } from "../../contracts/message.ts";
import { toolUsesOf } from "../../contracts/message-content.ts";
import type { CallResult } from "./playbook.ts";
import { isFromMain, readAgentMessages } from "./runtime-words.ts";

/** One user turn and the answer to it. The last exchange of a request has no answer yet. */
export interface Exchange {
  /** All text blocks, as they stand. */
  readonly texts: readonly string[];
  /** What a person asks for: the texts without what the runtime put in tags. Empty when nobody asked. */
  readonly prompts: readonly string[];
  /** What the main agent asks for, in a message. */
  readonly orders: readonly string[];
  /** By the id of the call. */
  readonly results: ReadonlyMap<string, CallResult>;
  readonly answer: { readonly calls: readonly ToolUseBlock[] } | undefined;
}

/** Neighbours of the same role count as one: a resumed or interrupted conversation may hold such. */
export function readExchanges(messages: readonly Message[]): Exchange[] {
  const exchanges: Exchange[] = [];
  let users: Message[] = [];
  let assistants: Message[] = [];
  const close = () => {
    if (users.length > 0) exchanges.push(toExchange(users, assistants));
    users = [];
    assistants = [];
  };
  for (const message of messages) {
    if (message.role === "assistant") assistants.push(message);
    else {
      if (assistants.length > 0) close();
      users.push(message);
    }
  }
  close();
  return exchanges;
}

/** What a person, or whoever started the agent, says in this message. */
export function ownWordsOf({ role, synthetic, content }: Message): string[] {
  if (role !== "user" || synthetic === true) return [];
  return content.flatMap((block) => (block.type === "text" ? ownWordsIn(block.text) : []));
}

function toExchange(users: readonly Message[], assistants: readonly Message[]): Exchange {
  const texts: string[] = [];
  const prompts: string[] = [];
  const orders: string[] = [];
  const results = new Map<string, CallResult>();
  for (const message of users) {
    for (const block of message.content) {
      if (block.type === "tool_result") {
        results.set(block.tool_use_id, toResult(block.content, block.is_error ?? false));
      } else if (block.type === "text") {
        texts.push(block.text);
        if (message.synthetic === true) continue;
        prompts.push(...ownWordsIn(block.text));
        orders.push(...ordersIn(block.text));
      }
    }
  }
  const calls = toolUsesOf(assistants.flatMap((message) => message.content));
  return { texts, prompts, orders, results, answer: assistants.length > 0 ? { calls } : undefined };
}

function toResult(content: string | CallResult["blocks"], isError: boolean): CallResult {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return { text, isError, blocks };
}

// A directive is the one tag whose inside is a task: it is how a fork is told what to do.
const silentTags = runtimeTags.filter((tag) => tag !== "fork-directive").join("|");
const silentTag = new RegExp(`<(${silentTags})\\b[^>]*>[\\s\\S]*?</\\1\\s*>`, "gi");
const directiveTag = /<\/?fork-directive\b[^>]*>/gi;

/** Without what the runtime put in tags. */
function ownWordsIn(text: string): string[] {
  const words = text.includes("<") ? text.replace(silentTag, "").replace(directiveTag, "") : text;
  return /\S/.test(words) ? [words.trim()] : [];
}

/** An agent hears its next task from the main agent as a message; others only tell something. */
function ordersIn(text: string): string[] {
  if (!text.includes("<agent-message")) return [];
  const messages = readAgentMessages(text).filter(isFromMain);
  return messages.map((message) => message.text).filter((words) => words !== "");
}
