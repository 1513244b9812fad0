/** What a request will take, guessed before it is made. Only budgets go by it, and only while it is on its way. */
import type { Block, Message, ResultContentBlock } from "../contracts/message.ts";
import { noUsage, promptTokensOf, type Usage } from "../contracts/usage.ts";
import type { History } from "./history.ts";
import type { Prefix } from "./request.ts";

export const charactersPerToken = 4;
/** What an agent's first answer is taken to be. */
const firstAnswerTokens = 1_000;
/** Among them are the answers by whose length the next is guessed. */
const lookBackMessages = 6;

export function estimateUsage(options: {
  prefix: Prefix;
  history: Pick<History, "messages" | "sentCount">;
  maxOutputTokens: number;
}): Usage {
  const { messages, sentCount } = options.history;
  const outputTokens = Math.min(answerTokens(messages), options.maxOutputTokens);
  // Nothing that stands there was sent like this: a first request, a shorter history, another prefix.
  const lastAnswer = sentCount === undefined ? -1 : messages.findLastIndex(tellsPromptTokens);
  const usage = messages[lastAnswer]?.response?.usage;
  if (usage === undefined)
    return {
      ...noUsage,
      cacheWriteTokens: tokensOfPrefix(options.prefix) + tokensOfMessages(messages),
      outputTokens,
    };
  const sentTokens = promptTokensOf(usage);
  const isCached = usage.cacheReadTokens + usage.cacheWriteTokens > 0;
  return {
    inputTokens: isCached ? 0 : sentTokens,
    cacheReadTokens: isCached ? sentTokens : 0,
    cacheWriteTokens: usage.outputTokens + tokensOfMessages(messages.slice(lastAnswer + 1)),
    outputTokens,
  };
}

/** Some servers count nothing. */
function tellsPromptTokens({ response }: Message): boolean {
  return response !== undefined && promptTokensOf(response.usage) > 0;
}

function answerTokens(messages: readonly Message[]): number {
  const latest = messages.slice(-lookBackMessages).map(({ response }) => response?.usage.outputTokens ?? 0);
  return Math.max(0, ...latest) || firstAnswerTokens;
}

/** Tools are the same for many agents, and long. */
const toolCharacters = new WeakMap<Prefix["tools"], number>();

export function tokensOfPrefix({ system, tools }: Prefix): number {
  const characters = toolCharacters.get(tools) ?? JSON.stringify(tools).length;
  toolCharacters.set(tools, characters);
  return Math.ceil((system.length + characters) / charactersPerToken);
}

export function tokensOfMessages(messages: readonly Pick<Message, "content">[]): number {
  let tokens = 0;
  for (const { content } of messages) for (const block of content) tokens += blockTokens(block);
  return Math.ceil(tokens);
}

function blockTokens(block: Block | ResultContentBlock): number {
  switch (block.type) {
    case "text":
      return block.text.length / charactersPerToken;
    case "thinking":
      return block.thinking.length / charactersPerToken;
    case "redacted_thinking":
      return block.data.length / charactersPerToken;
    case "tool_use":
      return (block.name.length + JSON.stringify(block.input).length) / charactersPerToken;
    case "tool_result":
      if (typeof block.content === "string") return block.content.length / charactersPerToken;
      return block.content.reduce((sum, part) => sum + blockTokens(part), 0);
    // Models look at pictures and pages, not at bytes.
    case "image":
      return 1_600;
    case "document":
      return 2_000 + block.source.data.length / 40;
  }
}
