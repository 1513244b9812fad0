/** Makes a history that was read back one that can be sent (LO-4, TA-24). The same input gives the same output. */
import { hashOf } from "../base/files.ts";
import type { Block, Message, ToolResultBlock, ToolUseBlock } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";
import { type AgentAnswer, repairHistory } from "./repair.ts";

export interface MendInput {
  readonly messages: readonly Message[];
  /** The beginning of a message that streamed when the process died. */
  readonly unfinished: { readonly messageUuid: string; readonly content: Block[] } | undefined;
  readonly keptResults: ReadonlyMap<string, ToolResultBlock>;
  readonly startedCalls: ReadonlySet<string>;
  /** Asked only if a call that starts agents has no result. */
  readonly interruptedAgents: (() => Promise<AgentAnswer>) | undefined;
}

export interface Mended {
  readonly messages: readonly Message[];
  /** The last of them, which no record holds yet. */
  readonly added: readonly Message[];
}

export async function mend(input: MendInput): Promise<Mended> {
  const made = new Set<Message>();
  const make = (after: Message, message: Pick<Message, "uuid" | "role" | "content">): Message => {
    const { uuid, timestamp, agentId } = after;
    const full: Message = {
      uuid: message.uuid,
      parentUuid: uuid,
      timestamp,
      ...(agentId !== undefined && { agentId }),
      role: message.role,
      content: message.content,
      synthetic: true,
    };
    made.add(full);
    return full;
  };

  let messages = withoutEmpty(input.messages);
  const last = messages.at(-1);
  if (input.unfinished && last) {
    const { messageUuid, content } = input.unfinished;
    messages = [...messages, make(last, { uuid: messageUuid, role: "assistant", content })];
  }
  const interruptedAgent = unansweredCalls(messages).some(startsAgents)
    ? await input.interruptedAgents?.()
    : undefined;
  const repaired = repairHistory(messages, {
    keptResults: input.keptResults,
    startedCalls: input.startedCalls,
    ...(interruptedAgent && { interruptedAgent }),
    createUserMessage: (after, content) => make(after, { uuid: uuidAfter(after), role: "user", content }),
  });
  let recorded = repaired.length;
  for (let next = repaired[recorded - 1]; next && made.has(next); next = repaired[recorded - 1]) recorded--;
  return { messages: repaired, added: repaired.slice(recorded) };
}

/** A message without words or calls says nothing, and providers refuse it. */
function withoutEmpty(messages: readonly Message[]): readonly Message[] {
  return messages.some(isEmpty) ? messages.filter((message) => !isEmpty(message)) : messages;
}

function isEmpty({ content }: Message): boolean {
  return content.every(
    (block) =>
      block.type === "thinking" ||
      block.type === "redacted_thinking" ||
      (block.type === "text" && block.text.trim() === ""),
  );
}

function unansweredCalls(messages: readonly Message[]): ToolUseBlock[] {
  return messages.flatMap((message, index) => {
    const calls = message.role === "assistant" ? toolUsesOf(message.content) : [];
    if (calls.length === 0) return [];
    const next = messages[index + 1];
    const answered = new Set(
      next?.content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : [])),
    );
    return calls.filter(({ id }) => !answered.has(id));
  });
}

function startsAgents({ name }: ToolUseBlock): boolean {
  return name === "Agent" || name === "Task";
}

/** Always the same for the same message, so that a history which was mended twice is the same. */
function uuidAfter({ uuid }: Message): string {
  const digits = hashOf(`results after ${uuid}`);
  const part = (from: number, to: number) => digits.slice(from, to);
  // Version 8: made by a rule of one's own.
  return `${part(0, 8)}-${part(8, 12)}-8${part(13, 16)}-8${part(17, 20)}-${part(20, 32)}`;
}
