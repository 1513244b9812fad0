/** Tells an agent which agents it can start, and tells it again only when that has changed (AD-13). */
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { Block, Message, TextBlock } from "../contracts/message.ts";
import type { AgentPermissions } from "../tools/tool-context.ts";
import type { AgentHost } from "./agent-host.ts";
import { agentListReminder, isAgentList } from "./agent-prompt.ts";
import { startableAgents } from "./find-definition.ts";

export interface AgentNews {
  /** What an agent with these permissions may start. */
  startable(starter: AgentPermissions | undefined): Promise<readonly AgentDefinition[]>;
  /** What it must hear of them, after these messages: nothing, if it has heard just that last. */
  of(agents: readonly AgentDefinition[], messages: readonly Message[]): readonly Block[];
}

export function createAgentNews(host: Pick<AgentHost, "definitions" | "mayStart" | "servers">): AgentNews {
  let last: { agents: readonly AgentDefinition[]; block: TextBlock } | undefined;

  /** Many agents hear the same: they share one text. */
  function blockFor(agents: readonly AgentDefinition[]): TextBlock {
    if (last === undefined || !isSame(last.agents, agents))
      last = { agents, block: { type: "text", text: agentListReminder(agents) } };
    return last.block;
  }

  return {
    startable: async (starter) => startableAgents(await host.definitions.load(), host, starter),
    of(agents, messages) {
      const block = blockFor(agents);
      return lastList(messages) === block.text ? [] : [block];
    },
  };
}

/** Looked up each time: a conversation that was resumed or shortened holds another one, or none. */
function lastList(messages: readonly Message[]): string | undefined {
  for (const { role, content } of messages.toReversed()) {
    if (role !== "user") continue;
    const list = content.findLast((block) => block.type === "text" && isAgentList(block.text));
    if (list?.type === "text") return list.text;
  }
  return undefined;
}

function isSame<T>(before: readonly T[], now: readonly T[]): boolean {
  return before.length === now.length && before.every((one, index) => one === now[index]);
}
