/**
 * The stream of a Messages API answer, event by event. What is unknown is skipped, because the provider adds
 * kinds; what contradicts itself is an error, because nobody could say what the model meant.
 */
import type { BlockDelta, ModelEvent, StreamedBlock } from "../contracts/event.ts";
import type { StopReasonOfModel } from "../contracts/message.ts";
import { noUsage, type Usage } from "../contracts/usage.ts";
import { countOr, type Fields, fieldsOf, isFields, MalformedStream, textOr } from "./wire-fields.ts";

export interface StreamReader {
  /** Throws a `MalformedStream` for what makes no sense. */
  read(event: Fields): ModelEvent[];
  /** The message has ended. */
  readonly finished: boolean;
}

/** `skipped`: of a kind that we do not know. */
type OpenBlock =
  | { type: "skipped" }
  | { type: StreamedBlock["type"]; index: number; wholeInput: string | undefined };

export function createStreamReader(): StreamReader {
  return new MessageReader();
}

class MessageReader implements StreamReader {
  finished = false;
  /** Made with the first block: a request waits for it longest. */
  #open: Map<unknown, OpenBlock> | undefined;
  #usage: Usage | undefined;
  #stopReason: unknown;
  #blockCount = 0;
  #calledTool = false;

  read(event: Fields): ModelEvent[] {
    if (this.finished) return [];
    if (event.type !== "message_start" && this.#usage === undefined && isKnown(event.type)) {
      throw new MalformedStream(`${event.type} came before message_start`);
    }
    switch (event.type) {
      case "message_start":
        return this.#startMessage(event);
      case "content_block_start":
        return this.#startBlock(event);
      case "content_block_delta":
        return this.#continueBlock(event);
      case "content_block_stop":
        return this.#stopBlock(event);
      case "message_delta":
        this.#usage = mergeUsage(this.#usage ?? noUsage, event.usage);
        if (isFields(event.delta)) this.#stopReason = event.delta.stop_reason ?? this.#stopReason;
        return [];
      case "message_stop":
        return this.#stopMessage();
      default:
        return [];
    }
  }

  #startMessage(event: Fields): ModelEvent[] {
    if (this.#usage !== undefined) throw new MalformedStream("the message started twice");
    const message = fieldsOf(event.message, "message_start without a message");
    const usage = mergeUsage(noUsage, message.usage);
    this.#usage = usage;
    return [{ type: "message-start", id: textOr(message.id, ""), model: textOr(message.model, ""), usage }];
  }

  #startBlock(event: Fields): ModelEvent[] {
    this.#open ??= new Map();
    if (this.#open.has(event.index)) throw new MalformedStream(`block ${event.index} started twice`);
    const content = fieldsOf(event.content_block, "content_block_start without a block");
    const block = toStreamedBlock(content);
    if (block === undefined) {
      this.#open.set(event.index, { type: "skipped" });
      return [];
    }
    const index = this.#blockCount;
    this.#blockCount += 1;
    this.#calledTool ||= block.type === "tool_use";
    const wholeInput = block.type === "tool_use" ? wholeInputOf(content.input) : undefined;
    this.#open.set(event.index, { type: block.type, index, wholeInput });
    return [{ type: "block-start", index, block }];
  }

  #continueBlock(event: Fields): ModelEvent[] {
    const block = this.#open?.get(event.index);
    if (block === undefined) throw new MalformedStream(`a delta for block ${event.index}, which is not open`);
    if (block.type === "skipped") return [];
    const delta = toDelta(fieldsOf(event.delta, "content_block_delta without a delta"));
    if (delta === undefined) return [];
    if (!fits(delta, block.type)) {
      throw new MalformedStream(`a ${delta.type} delta for a block of type ${block.type}`);
    }
    block.wholeInput = undefined;
    return [{ type: "block-delta", index: block.index, delta }];
  }

  #stopBlock(event: Fields): ModelEvent[] {
    const block = this.#open?.get(event.index);
    if (block === undefined) throw new MalformedStream(`the end of block ${event.index}, which is not open`);
    this.#open?.delete(event.index);
    if (block.type === "skipped") return [];
    const { index, wholeInput } = block;
    const stop: ModelEvent = { type: "block-stop", index };
    if (wholeInput === undefined) return [stop];
    return [{ type: "block-delta", index, delta: { type: "input-json", json: wholeInput } }, stop];
  }

  #stopMessage(): ModelEvent[] {
    if (this.#open !== undefined && this.#open.size > 0)
      throw new MalformedStream("the message ended before its last block did");
    this.finished = true;
    const stopReason = toStopReason(this.#stopReason, this.#calledTool);
    return [{ type: "message-stop", stopReason, usage: this.#usage ?? noUsage }];
  }
}

function isKnown(type: unknown): boolean {
  return typeof type === "string" && /^(content_block_(start|delta|stop)|message_(delta|stop))$/.test(type);
}

function toStreamedBlock(content: Fields): StreamedBlock | undefined {
  switch (content.type) {
    case "text":
      return { type: "text", text: textOr(content.text, "") };
    case "thinking":
      return {
        type: "thinking",
        thinking: textOr(content.thinking, ""),
        signature: textOr(content.signature, ""),
      };
    case "redacted_thinking":
      return { type: "redacted_thinking", data: textOr(content.data, "") };
    case "tool_use": {
      const { id, name } = content;
      if (typeof id !== "string" || id === "" || typeof name !== "string" || name === "") {
        throw new MalformedStream("a tool call without an id or a name");
      }
      return { type: "tool_use", id, name };
    }
    default:
      return undefined;
  }
}

/** Some servers send a call's input whole, with its start, and no deltas. */
function wholeInputOf(input: unknown): string | undefined {
  return isFields(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : undefined;
}

function toDelta(delta: Fields): BlockDelta | undefined {
  switch (delta.type) {
    case "text_delta":
      return { type: "text", text: textOf(delta.text, "text_delta") };
    case "thinking_delta":
      return { type: "thinking", thinking: textOf(delta.thinking, "thinking_delta") };
    case "signature_delta":
      return { type: "signature", signature: textOf(delta.signature, "signature_delta") };
    case "input_json_delta":
      return { type: "input-json", json: textOf(delta.partial_json, "input_json_delta") };
    default:
      return undefined;
  }
}

function fits(delta: BlockDelta, blockType: StreamedBlock["type"]): boolean {
  switch (delta.type) {
    case "text":
      return blockType === "text";
    case "thinking":
    case "signature":
      return blockType === "thinking";
    case "input-json":
      return blockType === "tool_use";
  }
}

/** The counts of `message_delta` are totals: they replace those of `message_start`. */
function mergeUsage(usage: Usage, update: unknown): Usage {
  if (!isFields(update)) return usage;
  const merged: Usage = {
    inputTokens: countOr(update.input_tokens, usage.inputTokens),
    outputTokens: countOr(update.output_tokens, usage.outputTokens),
    cacheWriteTokens: countOr(update.cache_creation_input_tokens, usage.cacheWriteTokens),
    cacheReadTokens: countOr(update.cache_read_input_tokens, usage.cacheReadTokens),
  };
  const written = isFields(update.cache_creation) ? update.cache_creation : {};
  const longCacheWriteTokens = countOr(written.ephemeral_1h_input_tokens, usage.longCacheWriteTokens ?? 0);
  return longCacheWriteTokens > 0 ? { ...merged, longCacheWriteTokens } : merged;
}

function toStopReason(reason: unknown, calledTool: boolean): StopReasonOfModel {
  switch (reason) {
    case "end_turn":
    case "tool_use":
    case "max_tokens":
    case "stop_sequence":
    case "refusal":
    case "pause_turn":
      return reason;
    case "model_context_window_exceeded":
      return "max_tokens";
    default:
      return calledTool ? "tool_use" : "end_turn";
  }
}

function textOf(value: unknown, where: string): string {
  if (typeof value !== "string") throw new MalformedStream(`${where} without its text`);
  return value;
}
