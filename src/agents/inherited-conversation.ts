/** A `forkContext` agent begins with what its parent knows; a marker divides that from its own task. */
import type { Block, Message } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";
import type { History } from "../loop/history.ts";
import type { SpawnRequest } from "./spawn-request.ts";

/** Puts the parent's conversation into `history`; answers with the block that has to follow it. */
export function inheritConversation(request: SpawnRequest, history: History, timestamp: string): Block[] {
  const { parent, definition, description, prompt } = request;
  const known = finished(parent.history.messages);
  const toolUseId = request.toolUseId ?? history.claimCallId("");
  const call: Message = {
    uuid: history.newUuid(),
    parentUuid: known.at(-1)?.uuid ?? null,
    timestamp,
    role: "assistant",
    content: [
      {
        type: "tool_use",
        id: toolUseId,
        name: "Agent",
        input: { description, prompt, subagent_type: definition.agentType },
      },
    ],
    synthetic: true,
  };
  history.restart([...known, call]);
  const marker = `You are now the agent "${definition.agentType}" that this call started. What stands above is the conversation of the agent that started you: it is what you know, not what you have to do. Your task follows.`;
  return [{ type: "tool_result", tool_use_id: toolUseId, content: marker }];
}

/** Without the message that is at work now: its calls have no results yet. */
function finished(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  return last?.role === "assistant" && toolUsesOf(last.content).length > 0 ? messages.slice(0, -1) : messages;
}
