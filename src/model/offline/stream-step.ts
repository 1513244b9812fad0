/** A step as the stream of events that a provider would send for it. */
import { createHash } from "node:crypto";
import type { ModelEvent } from "../../contracts/event.ts";
import type { Message, StopReasonOfModel } from "../../contracts/message.ts";
import { noUsage, type Usage } from "../../contracts/usage.ts";
import type { ModelRequest, ToolDescription } from "../model.ts";
import type { Call, Step } from "./playbook.ts";

export interface StreamOptions {
  readonly request: ModelRequest;
  readonly model: string;
  readonly stopReason?: StopReasonOfModel;
  readonly usage?: Partial<Usage>;
  /** The input as it goes over the wire; for models that misbehave on purpose. */
  readonly inputJson?: (call: Call) => string;
}

export function* eventsOf(step: Step, options: StreamOptions): Generator<ModelEvent, void, undefined> {
  const position = positionOf(options.request.messages);
  const calls = step.calls ?? [];
  const inputJson = options.inputJson ?? ((call) => JSON.stringify(call.input));
  const usage: Usage = {
    ...noUsage,
    inputTokens: countTokens(options.request),
    outputTokens: tokensOf(JSON.stringify([step.thinking ?? "", step.text ?? "", calls])),
    ...options.usage,
  };
  yield {
    type: "message-start",
    id: idOf("msg", `${position}:message`),
    model: options.model,
    usage: { ...usage, outputTokens: 0 },
  };
  let index = 0;
  if (step.thinking) {
    yield { type: "block-start", index, block: { type: "thinking", thinking: "", signature: "" } };
    for (const piece of inPieces(step.thinking))
      yield { type: "block-delta", index, delta: { type: "thinking", thinking: piece } };
    yield { type: "block-stop", index };
    index += 1;
  }
  if (step.text) {
    yield { type: "block-start", index, block: { type: "text", text: "" } };
    for (const piece of inPieces(step.text))
      yield { type: "block-delta", index, delta: { type: "text", text: piece } };
    yield { type: "block-stop", index };
    index += 1;
  }
  for (const [callIndex, call] of calls.entries()) {
    const id = call.id ?? idOf("toolu", `${position}:${callIndex}`);
    yield { type: "block-start", index, block: { type: "tool_use", id, name: call.name } };
    for (const piece of inPieces(inputJson(call)))
      yield { type: "block-delta", index, delta: { type: "input-json", json: piece } };
    yield { type: "block-stop", index };
    index += 1;
  }
  const stopReason = options.stopReason ?? (calls.length > 0 ? "tool_use" : "end_turn");
  yield { type: "message-stop", stopReason, usage };
}

/** Two different points of a conversation differ in their last message; a fork differs in its own. */
function positionOf(messages: readonly Message[]): string {
  return `${messages.length}:${messages.at(-1)?.uuid ?? ""}`;
}

function idOf(prefix: string, seed: string): string {
  return `${prefix}_${createHash("sha256").update(seed).digest("hex").slice(0, 24)}`;
}

const pieceLength = 48;

/** Never cuts between the two halves of a surrogate pair. */
function* inPieces(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + pieceLength, text.length);
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last <= 0xdbff && end < text.length) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}

const charsPerToken = 4;

function tokensOf(text: string): number {
  return Math.ceil(text.length / charsPerToken);
}

const tokensByMessage = new WeakMap<Message, number>();
const tokensByTool = new WeakMap<ToolDescription, number>();

function countTokens(request: ModelRequest): number {
  let total = tokensOf(request.system);
  for (const tool of request.tools) total += remembered(tokensByTool, tool, tool);
  for (const message of request.messages) total += remembered(tokensByMessage, message, message.content);
  return total;
}

function remembered<Key extends object>(cache: WeakMap<Key, number>, key: Key, value: unknown): number {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const tokens = tokensOf(JSON.stringify(value));
  cache.set(key, tokens);
  return tokens;
}
