/** The wire format of chat completions, and what its provider refuses. Its prompt cache needs no marks. */
import {
  halves,
  type MessageContext,
  type MockBlock,
  type MockDialect,
  type MockMessage,
} from "./mock-dialect.ts";
import type { MockUsage, WireRequest } from "./mock-prompt-cache.ts";

interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: unknown } }[];
  readonly tool_call_id?: string;
}

const smallestPrefixTokens = 1024;
const cacheStepTokens = 128;

export function createChatDialect(): MockDialect {
  const prompts: string[] = [];
  return {
    admit({ body, path }) {
      if (!path.endsWith("/chat/completions")) return `Invalid URL (POST ${path})`;
      const problem = problemOf(body);
      if (problem !== undefined) return problem;
      const prompt = JSON.stringify([body.model, body.tools, body.messages]).slice(0, -2);
      return { usage: usageOf(prompt, prompts), commit: () => prompts.push(prompt) };
    },
    eventsOf,
    errorEvent: ({ type, message }) => toEvent({ error: { message, type, param: null, code: null } }),
    refusalOf(status, message) {
      const type = status === 400 ? "invalid_request_error" : "server_error";
      return { error: { message, type, param: null, code: null } };
    },
  };
}

function problemOf(body: WireRequest): string | undefined {
  if (body.stream !== true) return "this provider only streams";
  for (const tool of body.tools ?? []) {
    const { name } = (tool.function ?? {}) as { name?: string };
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name ?? "")) return `Invalid 'tools[].function.name': ${name}`;
  }
  let awaited: string[] = [];
  for (const [index, message] of (body.messages as readonly ChatMessage[]).entries()) {
    if (message.role === "tool") {
      const id = message.tool_call_id ?? "";
      if (!awaited.includes(id))
        return `messages[${index}]: 'tool' must be a response to a preceding 'tool_calls'`;
      if (typeof message.content !== "string") return `messages[${index}]: content must be a string`;
      awaited = awaited.filter((each) => each !== id);
      continue;
    }
    if (awaited.length > 0) return `tool_call_ids did not have response messages: ${awaited}`;
    const problem = problemOfMessage(message);
    if (problem !== undefined) return `messages[${index}]: ${problem}`;
    awaited = (message.tool_calls ?? []).map(({ id }) => id);
    if (new Set(awaited).size < awaited.length) return `messages[${index}]: ids repeat`;
  }
  if (awaited.length > 0) return `tool_call_ids did not have response messages: ${awaited}`;
  return undefined;
}

function problemOfMessage({ role, content, tool_calls: calls }: ChatMessage): string | undefined {
  if (!["system", "user", "assistant"].includes(role)) return `unknown role ${role}`;
  if (calls !== undefined && calls.length === 0) return "tool_calls is too short";
  if (calls?.some((call) => typeof call.function.arguments !== "string")) return "arguments must be a string";
  if (typeof content === "string") return /\S/.test(content) ? undefined : "content is blank";
  if (Array.isArray(content)) return content.length === 0 ? "content is empty" : undefined;
  return content === null && calls !== undefined ? undefined : "content is missing";
}

function usageOf(prompt: string, earlier: readonly string[]): MockUsage {
  const tokens = Math.ceil(prompt.length / 4);
  const shared = Math.max(0, ...earlier.map((other) => Math.floor(commonLength(prompt, other) / 4)));
  const cached = shared < smallestPrefixTokens ? 0 : shared - (shared % cacheStepTokens);
  return { inputTokens: tokens - cached, cacheWriteTokens: 0, cacheReadTokens: cached };
}

function commonLength(a: string, b: string): number {
  if (a.startsWith(b)) return b.length;
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

const finishReasons: Readonly<Record<string, string>> = {
  end_turn: "stop",
  tool_use: "tool_calls",
  max_tokens: "length",
  refusal: "content_filter",
};

function eventsOf(message: MockMessage, { model, index, usage }: MessageContext): string[] {
  const calls = message.blocks.filter((block) => block.type === "tool_use");
  const reason = message.stopReason ?? (calls.length > 0 ? "tool_use" : "end_turn");
  const chunk = (choices: object[], more: object = { usage: null }) =>
    toEvent({
      id: `chatcmpl-${index}`,
      object: "chat.completion.chunk",
      created: 0,
      model,
      choices,
      ...more,
    });
  const delta = (change: object, finish: string | null = null) =>
    chunk([{ index: 0, delta: change, logprobs: null, finish_reason: finish }]);
  const prompt = usage.inputTokens + usage.cacheReadTokens;
  const output = Math.ceil(JSON.stringify(message.blocks).length / 4);
  return [
    delta({ role: "assistant", content: "", refusal: null }),
    ": keep-alive\n\n",
    ...message.blocks.flatMap((block) =>
      deltasOf(block, { request: index, call: calls.indexOf(block as never) }).map((change) => delta(change)),
    ),
    delta({}, finishReasons[reason] ?? reason),
    chunk([], {
      usage: {
        prompt_tokens: prompt,
        completion_tokens: output,
        total_tokens: prompt + output,
        prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
      },
    }),
    "data: [DONE]\n\n",
  ];
}

function deltasOf(block: MockBlock, place: { request: number; call: number }): object[] {
  switch (block.type) {
    case "text":
      return halves(block.text).map((content) => ({ content }));
    case "thinking":
      return halves(block.thinking).map((text) => ({ reasoning_content: text }));
    case "redacted_thinking":
      return [];
    case "tool_use": {
      const id = block.id ?? `call_${place.request}_${place.call}`;
      const start = {
        index: place.call,
        id,
        type: "function",
        function: { name: block.name, arguments: "" },
      };
      const pieces = halves(block.json ?? JSON.stringify(block.input ?? {}));
      return [
        { tool_calls: [start] },
        ...pieces.map((json) => ({ tool_calls: [{ index: place.call, function: { arguments: json } }] })),
      ];
    }
  }
}

function toEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
