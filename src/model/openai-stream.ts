/**
 * The stream of a chat completions answer, chunk by chunk. It has no blocks: they begin where the kind of
 * content changes, and end with the next one or with the message.
 */
import type { ModelEvent } from "../contracts/event.ts";
import type { StopReasonOfModel } from "../contracts/message.ts";
import { noUsage, type Usage } from "../contracts/usage.ts";
import type { ServerSentEvent } from "./event-parser.ts";
import type { ToolDescription } from "./model.ts";
import { toRefusal } from "./openai-error.ts";
import { createCallCollector } from "./openai-tool-calls.ts";
import { toWireName } from "./openai-tool-name.ts";
import { callWrittenIn, mayBecomeCall } from "./openai-written-call.ts";
import { type ErrorContext, refusalToModelError } from "./provider-error.ts";
import type { AnswerReader } from "./provider-exchange.ts";
import { countOr, type Fields, isFields, MalformedStream, parseFields, textOr } from "./wire-fields.ts";

export interface ChatReaderOptions {
  readonly tools: readonly ToolDescription[];
  /** Stands in until the server has counted, and if it never does. */
  readonly promptTokens: number;
  /** Whether an answer that is a call written as text is taken for that call. */
  readonly recoverWrittenCalls: boolean;
  readonly newId: () => string;
  readonly context: ErrorContext;
}

const charsPerToken = 4;

export function createChatReader(options: ChatReaderOptions): AnswerReader {
  const { context } = options;
  const offered = new Map(options.tools.map((tool) => [toWireName(tool.name), tool]));
  let blockCount = 0;
  const nextIndex = () => blockCount++;
  const calls = createCallCollector({
    offered: new Map([...offered].map(([wireName, { name }]) => [wireName, name])),
    nextIndex,
    newId: () => `call_${options.newId()}`,
  });
  let started = false;
  let prose: { type: "text" | "thinking"; index: number } | undefined;
  let proseChars = 0;
  /** Text that may yet turn out to be a call; undefined once that is decided. */
  let held: string | undefined = options.recoverWrittenCalls && offered.size > 0 ? "" : undefined;
  let wroteCall = false;
  let refused = false;
  let finishReason: string | undefined;
  let usage: Usage | undefined;
  let complete = false;
  let finished = false;

  const startMessage = (chunk: Fields): ModelEvent[] => {
    if (started) return [];
    started = true;
    return [
      {
        type: "message-start",
        id: textOr(chunk.id, "") || `chatcmpl_${options.newId()}`,
        model: textOr(chunk.model, "") || context.modelId,
        usage: { ...noUsage, inputTokens: options.promptTokens },
      },
    ];
  };

  const endProse = (): ModelEvent[] => {
    if (prose === undefined) return [];
    const { index } = prose;
    prose = undefined;
    return [{ type: "block-stop", index }];
  };

  const say = (type: "text" | "thinking", text: string): ModelEvent[] => {
    if (text === "") return [];
    const events: ModelEvent[] = [];
    if (prose?.type !== type) {
      events.push(...endProse());
      prose = { type, index: nextIndex() };
      const block = type === "text" ? { type, text: "" } : ({ type, thinking: "", signature: "" } as const);
      events.push({ type: "block-start", index: prose.index, block });
    }
    proseChars += text.length;
    const delta = type === "text" ? { type, text } : ({ type, thinking: text } as const);
    events.push({ type: "block-delta", index: prose.index, delta });
    return events;
  };

  const sayText = (text: string): ModelEvent[] => {
    if (held === undefined || text === "") return say("text", text);
    held += text;
    return mayBecomeCall(held, offered) ? [] : release();
  };

  const release = (): ModelEvent[] => {
    const text = held ?? "";
    held = undefined;
    return say("text", text);
  };

  const readDelta = (delta: Fields): ModelEvent[] => {
    const { thinking, text } = contentOf(delta);
    const refusal = textOr(delta.refusal, "");
    refused ||= refusal !== "";
    const events = [...say("thinking", thinking), ...sayText(text), ...sayText(refusal)];
    const { tool_calls: deltas } = delta;
    if (!Array.isArray(deltas) || deltas.length === 0) return events;
    return [...events, ...release(), ...endProse(), ...calls.add(deltas)];
  };

  /** What was held back, as what it is. */
  const settle = (): ModelEvent[] => {
    const call = held && finishReason !== "length" ? callWrittenIn(held, offered) : undefined;
    if (call === undefined) return release();
    wroteCall = true;
    held = undefined;
    const before = endProse();
    const index = nextIndex();
    const block = { type: "tool_use" as const, id: `call_${options.newId()}`, name: call.name };
    const json = JSON.stringify(call.input);
    proseChars += json.length;
    return [
      ...before,
      { type: "block-start", index, block },
      { type: "block-delta", index, delta: { type: "input-json", json } },
      { type: "block-stop", index },
    ];
  };

  const finishMessage = (): ModelEvent[] => {
    if (complete) return [];
    if (!started) throw new MalformedStream("it ended before it began");
    complete = true;
    return [...settle(), ...endProse(), ...calls.finish()];
  };

  const readChunk = (chunk: Fields): ModelEvent[] => {
    const events = startMessage(chunk);
    if (isFields(chunk.usage)) usage = usageOf(chunk.usage, options.promptTokens) ?? usage;
    const choice = firstChoice(chunk.choices);
    if (choice === undefined || complete) return events;
    const delta = choice.delta ?? choice.message;
    if (isFields(delta)) events.push(...readDelta(delta));
    if (typeof choice.finish_reason === "string" && choice.finish_reason !== "") {
      finishReason = choice.finish_reason;
      events.push(...finishMessage());
    }
    return events;
  };

  return {
    read({ event, data }: ServerSentEvent) {
      if (finished || data.trim() === "") return [];
      if (data.trim() === "[DONE]") {
        const events = finishMessage();
        finished = true;
        return events;
      }
      const chunk = parseFields(data);
      if (isError(chunk) || event === "error") throw refusalToModelError(toRefusal(chunk, data), context);
      return readChunk(chunk);
    },
    get complete() {
      return complete;
    },
    get finished() {
      return finished;
    },
    end: () => [
      {
        type: "message-stop",
        stopReason: toStopReason({ finishReason, called: wroteCall || calls.count > 0, refused }),
        usage: usage ?? {
          ...noUsage,
          inputTokens: options.promptTokens,
          outputTokens: Math.ceil((proseChars + calls.chars) / charsPerToken),
        },
      },
    ],
  };
}

function isError(chunk: Fields): boolean {
  return (chunk.error !== undefined && chunk.error !== null) || chunk.object === "error";
}

/** One answer was asked for; whatever a server adds to it is not ours. */
function firstChoice(choices: unknown): Fields | undefined {
  if (!Array.isArray(choices)) return undefined;
  return choices.find((choice): choice is Fields => isFields(choice) && (choice.index ?? 0) === 0);
}

function contentOf(delta: Fields): { thinking: string; text: string } {
  const reasoning = textOr(delta.reasoning_content, "") || textOr(delta.reasoning, "");
  if (!Array.isArray(delta.content)) return { thinking: reasoning, text: textOr(delta.content, "") };
  const parts = delta.content.filter(isFields);
  return {
    thinking: reasoning,
    text: parts.map((part) => (part.type === "text" ? textOr(part.text, "") : "")).join(""),
  };
}

/** The prompt's count includes what came from the cache. Undefined: nothing was counted. */
function usageOf(wire: Fields, promptTokens: number): Usage | undefined {
  const details = isFields(wire.prompt_tokens_details) ? wire.prompt_tokens_details : {};
  const prompt = countOr(wire.prompt_tokens, 0) || promptTokens;
  const outputTokens = countOr(wire.completion_tokens, 0);
  if (outputTokens === 0 && countOr(wire.prompt_tokens, 0) === 0) return undefined;
  const cacheReadTokens = Math.min(
    prompt,
    countOr(details.cached_tokens, countOr(wire.prompt_cache_hit_tokens, 0)),
  );
  const cacheWriteTokens = Math.min(prompt - cacheReadTokens, countOr(details.cache_write_tokens, 0));
  return {
    inputTokens: prompt - cacheReadTokens - cacheWriteTokens,
    outputTokens,
    cacheWriteTokens,
    cacheReadTokens,
  };
}

function toStopReason(end: {
  finishReason: string | undefined;
  called: boolean;
  refused: boolean;
}): StopReasonOfModel {
  if (end.finishReason === "length") return "max_tokens";
  if (end.finishReason === "content_filter") return "refusal";
  if (end.called) return "tool_use";
  return end.refused ? "refusal" : "end_turn";
}
