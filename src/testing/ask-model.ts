/** One request to a model, and what came of it: for the tests of every provider. */
import { createScope } from "../base/cancellation.ts";
import type { ModelEvent } from "../contracts/event.ts";
import type { Block, Message } from "../contracts/message.ts";
import { createAssembler } from "../model/assemble-message.ts";
import type { Model, ModelRequest } from "../model/model.ts";
import { ModelError } from "../model/model-error.ts";
import { placeCacheMarks } from "../model/prompt-cache.ts";

let nextId = 0;

export function messageOf(role: Message["role"], content: Block[]): Message {
  nextId += 1;
  return { uuid: `u${nextId}`, parentUuid: null, timestamp: "2026-01-01T00:00:00Z", role, content };
}

export function requestOf(more: Partial<ModelRequest> = {}): ModelRequest {
  const messages = more.messages ?? [messageOf("user", [{ type: "text", text: "hello" }])];
  return {
    system: "You are an agent.",
    tools: [],
    messages,
    cacheMarks: placeCacheMarks({ messageCount: messages.length }),
    maxOutputTokens: 4096,
    scope: createScope(),
    ...more,
  };
}

export interface CollectedAnswer {
  readonly events: readonly ModelEvent[];
  readonly blocks: Block[];
  readonly end: ModelEvent | undefined;
}

export async function collectAnswer(
  model: Model,
  more: Partial<ModelRequest> = {},
): Promise<CollectedAnswer> {
  const assembler = createAssembler();
  const events: ModelEvent[] = [];
  const blocks: Block[] = [];
  for await (const event of model.stream(requestOf(more))) {
    events.push(event);
    const completed = assembler.accept(event);
    if (completed) blocks.push(completed.block);
  }
  return { events, blocks, end: events.at(-1) };
}

/** The error with which the model fails; nothing of it may show `secret`. */
export async function failureOfModel(
  model: Model,
  options: { secret: string; request?: Partial<ModelRequest> },
): Promise<ModelError> {
  const error: unknown = await collectAnswer(model, options.request).catch((thrown: unknown) => thrown);
  if (!(error instanceof ModelError)) throw new Error("No ModelError was thrown", { cause: error });
  const shown = JSON.stringify([error.message, error.data, String(error.cause)]);
  if (shown.includes(options.secret)) throw new Error(`The error shows the key: ${shown}`);
  return error;
}
