/**
 * Thinking is signed for the model that did it, and providers reject what another one has thought. It is left
 * out, by a rule that depends on nothing but the message and the model, so that what a model is sent stays the
 * same from request to request.
 */
import type { Block, Message } from "../contracts/message.ts";
import { claudeFamilyOf } from "./claude-models.ts";
import type { Model, ModelRequest } from "./model.ts";

/** The request without what `other` has thought. */
export type ForeignThinkingFilter = (other: Model, request: ModelRequest) => ModelRequest;

export function createForeignThinkingFilter(): ForeignThinkingFilter {
  // The same copy every time: implementations keep by identity what they derived from a message.
  const copies = new WeakMap<Message, Message>();

  const strip = (message: Message): Message => {
    let copy = copies.get(message);
    if (copy === undefined) {
      copy = { ...message, content: message.content.filter((block) => !isThinking(block)) };
      copies.set(message, copy);
    }
    return copy;
  };

  return (other, request) => {
    const isForeign = (message: Message) =>
      message.role === "assistant" && message.content.some(isThinking) && isOf(other, message);
    if (!request.messages.some(isForeign)) return request;
    const messages = request.messages.map((message) => (isForeign(message) ? strip(message) : message));
    const { thinking, ...rest } = request;
    // Within a round of tool calls thinking must stand before every call or not be asked for.
    const mayThink = thinking !== undefined && !sincePrompt(request.messages).some(isForeign);
    return { ...rest, messages, ...(mayThink && { thinking }) };
  };
}

function isThinking(block: Block): boolean {
  return block.type === "thinking" || block.type === "redacted_thinking";
}

/** Providers answer with a more precise name than they are asked by. */
function isOf(model: Model, message: Message): boolean {
  const answeredBy = message.response?.model;
  if (answeredBy === undefined) return false;
  return answeredBy === model.id || nameOf(answeredBy) === nameOf(model.id);
}

function nameOf(modelId: string): string {
  return claudeFamilyOf(modelId) ?? modelId;
}

/** What came after the last message of a person: the round of calls that is still going on. */
function sincePrompt(messages: readonly Message[]): readonly Message[] {
  const prompt = messages.findLastIndex(
    ({ role, content }) => role === "user" && !content.some((block) => block.type === "tool_result"),
  );
  return messages.slice(prompt + 1);
}
