/** The wire format of the Messages API, and what its provider refuses. */
import {
  halves,
  type MessageContext,
  type MockBlock,
  type MockDialect,
  type MockMessage,
} from "./mock-dialect.ts";
import { blocksOf, createMockPromptCache, RefusedMarks, type WireRequest } from "./mock-prompt-cache.ts";

export function createMessagesDialect(options: { now?: () => number } = {}): MockDialect {
  const cache = createMockPromptCache(options);
  return {
    admit({ headers, body }) {
      if (!headers["x-api-key"] && !headers.authorization) return "no credentials";
      if (!headers["anthropic-version"]) return "anthropic-version: header is required";
      const problem = problemOf(body);
      if (problem !== undefined) return problem;
      try {
        return cache.account(body);
      } catch (error) {
        if (error instanceof RefusedMarks) return error.message;
        throw error;
      }
    },
    eventsOf,
    errorEvent: (error) => toEvent("error", { error }),
    refusalOf(status, message) {
      const type = status === 400 ? "invalid_request_error" : "api_error";
      return { type: "error", error: { type, message } };
    },
  };
}

function problemOf(body: WireRequest): string | undefined {
  if (body.stream !== true) return "this provider only streams";
  if (body.messages[0]?.role !== "user") return "messages: first message must use the user role";
  let awaited: string[] = [];
  for (const [index, message] of body.messages.entries()) {
    const blocks = blocksOf(message.content);
    if (blocks.length === 0) return `messages.${index}: content must not be empty`;
    const results = blocks.flatMap((block) =>
      block.type === "tool_result" ? [String(block.tool_use_id)] : [],
    );
    if (results.join() !== awaited.join()) {
      return `messages.${index}: expected tool_result blocks for [${awaited}], found [${results}]`;
    }
    awaited = blocks.flatMap((block) => (block.type === "tool_use" ? [String(block.id)] : []));
    for (const block of blocks) {
      if (block.type === "text" && !/\S/.test(String(block.text))) {
        return `messages.${index}: text content blocks must be non-empty`;
      }
      if (/thinking/.test(block.type ?? "") && block.cache_control) {
        return `messages.${index}: thinking blocks cannot be marked`;
      }
    }
  }
  if (awaited.length > 0) return `tool_use ids were found without tool_result blocks: ${awaited}`;
  return undefined;
}

function eventsOf(message: MockMessage, { model, index, usage }: MessageContext): string[] {
  const longWriteTokens = usage.longCacheWriteTokens ?? 0;
  const outputTokens = Math.ceil(JSON.stringify(message.blocks).length / 4);
  const calls = message.blocks.some((block) => block.type === "tool_use");
  const wireUsage = {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens - longWriteTokens,
      ephemeral_1h_input_tokens: longWriteTokens,
    },
    output_tokens: 1,
  };
  const head = { id: `msg_${index}`, type: "message", role: "assistant", model, content: [] };
  return [
    toEvent("message_start", { message: { ...head, stop_reason: null, usage: wireUsage } }),
    toEvent("ping", {}),
    ...message.blocks.flatMap((block, at) => blockEvents(block, at, index)),
    toEvent("message_delta", {
      delta: { stop_reason: message.stopReason ?? (calls ? "tool_use" : "end_turn"), stop_sequence: null },
      usage: { output_tokens: outputTokens },
    }),
    toEvent("message_stop", {}),
  ];
}

function blockEvents(block: MockBlock, index: number, request: number): string[] {
  const start = (content: object) => toEvent("content_block_start", { index, content_block: content });
  const delta = (change: object) => toEvent("content_block_delta", { index, delta: change });
  const stop = toEvent("content_block_stop", { index });
  switch (block.type) {
    case "text":
      return [
        start({ type: "text", text: "" }),
        ...halves(block.text).map((text) => delta({ type: "text_delta", text })),
        stop,
      ];
    case "thinking":
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...halves(block.thinking).map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: block.signature }),
        stop,
      ];
    case "redacted_thinking":
      return [start(block), stop];
    case "tool_use":
      return [
        start({
          type: "tool_use",
          id: block.id ?? `toolu_${request}_${index}`,
          name: block.name,
          input: {},
        }),
        ...halves(block.json ?? JSON.stringify(block.input ?? {})).map((json) =>
          delta({ type: "input_json_delta", partial_json: json }),
        ),
        stop,
      ];
  }
}

function toEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
