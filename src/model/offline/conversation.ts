/** A conversation as a playbook sees it: what was said to it, and what was said back. */
import type { Message, ToolUseBlock } from "../../contracts/message.ts";
import { toolUsesOf } from "../../contracts/message-content.ts";
import type { CallResult } from "./playbook.ts";

/** One user turn and the answer to it. The last exchange of a request has no answer yet. */
export interface Exchange {
  /** All text blocks, as they stand. */
  readonly texts: readonly string[];
  /** What a person asks for: the texts without what the runtime put in tags. Empty when nobody asked. */
  readonly prompts: readonly string[];
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

function toExchange(users: readonly Message[], assistants: readonly Message[]): Exchange {
  const texts: string[] = [];
  const prompts: string[] = [];
  const results = new Map<string, CallResult>();
  for (const message of users) {
    for (const block of message.content) {
      if (block.type === "tool_result") {
        results.set(block.tool_use_id, toResult(block.content, block.is_error ?? false));
      } else if (block.type === "text") {
        texts.push(block.text);
        const prompt = message.synthetic === true ? "" : withoutRuntimeTags(block.text);
        if (prompt !== "") prompts.push(prompt);
      }
    }
  }
  const calls = toolUsesOf(assistants.flatMap((message) => message.content));
  return { texts, prompts, results, answer: assistants.length > 0 ? { calls } : undefined };
}

function toResult(content: string | CallResult["blocks"], isError: boolean): CallResult {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return { text, isError, blocks };
}

// A directive is the one tag whose inside is a task: it is how a fork is told what to do.
const silentTag = /<(task-notification|system-reminder|agent-message)\b[^>]*>[\s\S]*?<\/\1\s*>/gi;
const directiveTag = /<\/?fork-directive\b[^>]*>/gi;

export function withoutRuntimeTags(text: string): string {
  return text.replace(silentTag, "").replace(directiveTag, "").trim();
}
