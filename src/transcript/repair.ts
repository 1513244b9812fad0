/**
 * Every `tool_use` gets exactly one `tool_result`, in the next user message, in the same order (LO-4).
 * A history that breaks this, after a crash or from another hand, is mended before it is sent.
 */
import type { Block, Message, ToolResultBlock, ToolUseBlock } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";

/** What became of the agent that an unanswered call had started; undefined if it had started none. */
export type AgentAnswer = (call: ToolUseBlock) => string | ToolResultBlock | undefined;

export interface RepairOptions {
  /** Results that were kept although their message never was (see `ResultRecord`). */
  readonly keptResults: ReadonlyMap<string, ToolResultBlock>;
  /** Calls with effects that had been started: their outcome is unknown, not "not run". */
  readonly startedCalls: ReadonlySet<string>;
  readonly interruptedAgent?: AgentAnswer;
  /** Makes the message that carries results which no message carries. */
  readonly createUserMessage: (after: Message, content: Block[]) => Message;
}

const unknownOutcome =
  "The run was interrupted while this call was at work. Its outcome is unknown: look before you repeat it.";
const notFinished = "The run was interrupted before this call gave a result. It had no effects that last.";

/** The same array if nothing had to be mended: identity tells. */
export function repairHistory(messages: readonly Message[], options: RepairOptions): readonly Message[] {
  const repaired: Message[] = [];
  let changed = false;
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    if (message === undefined) continue;
    const mended = message.role === "user" ? dropStrayResults(message, repaired.at(-1)) : message;
    if (mended !== message) changed = true;
    if (mended === undefined) continue;
    repaired.push(mended);
    const calls = message.role === "assistant" ? toolUsesOf(message.content) : [];
    if (calls.length === 0) continue;

    const next = messages[index + 1];
    const answer = next?.role === "user" ? next : undefined;
    const results = calls.map((call) => resultFor(call, answer, options));
    if (answer === undefined) {
      repaired.push(options.createUserMessage(message, results));
      changed = true;
    } else {
      index++;
      const rest = answer.content.filter((block) => block.type !== "tool_result");
      const content = [...results, ...rest];
      const same =
        content.length === answer.content.length && content.every((block, i) => block === answer.content[i]);
      repaired.push(same ? answer : { ...answer, content });
      changed ||= !same;
    }
  }
  return changed ? repaired : messages;
}

function resultFor(call: ToolUseBlock, answer: Message | undefined, options: RepairOptions): ToolResultBlock {
  const { id } = call;
  const given = answer?.content.find((block) => block.type === "tool_result" && block.tool_use_id === id);
  if (given?.type === "tool_result") return given;
  const kept = options.keptResults.get(id);
  if (kept) return kept;
  const told = options.interruptedAgent?.(call);
  if (typeof told === "object") return told;
  const text = told ?? (options.startedCalls.has(id) ? unknownOutcome : notFinished);
  return { type: "tool_result", tool_use_id: id, content: text, is_error: true };
}

/** A result without its call just before it would be rejected by the provider. */
function dropStrayResults(message: Message, previous: Message | undefined): Message | undefined {
  const calls = new Set(
    previous?.role === "assistant" ? toolUsesOf(previous.content).map((call) => call.id) : [],
  );
  const content = message.content.filter(
    (block) => block.type !== "tool_result" || calls.has(block.tool_use_id),
  );
  if (content.length === message.content.length) return message;
  return content.length === 0 ? undefined : { ...message, content };
}
