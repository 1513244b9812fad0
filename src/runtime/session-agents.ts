/** The agents of a session: what they are given, the tool that starts them, and what the model is told of them. */
import { type AgentContext, createLiveAgents } from "../agents/agent-context.ts";
import type { AgentHost } from "../agents/agent-host.ts";
import { agentListReminder, isAgentList, listAgents } from "../agents/agent-prompt.ts";
import { createAgentSlots } from "../agents/agent-slots.ts";
import { createAgentTool } from "../agents/agent-tool.ts";
import { startableAgents } from "../agents/find-definition.ts";
import { createSpawn } from "../agents/spawn.ts";
import type { Block, Message, TextBlock } from "../contracts/message.ts";
import type { Tool } from "../tools/tool.ts";

export const defaultMaxLiveAgents = 64;
const defaultMaxAgentStarts = 1_000;

export interface SessionAgents {
  /** The tool that starts them, as it is described at first. */
  readonly tool: Tool;
  /** Makes the main agent one that can start others. */
  enter(main: AgentContext): void;
  /** What the model must hear before its next prompt: the list of agents, when it is not the one it has heard last. */
  news(messages: readonly Message[]): Promise<Block[]>;
  /** The same where settings want the list in the tool: its new description, when it has changed. */
  renewedTool(): Promise<Tool | undefined>;
  /** Looks at the definitions, so that `names` tells. */
  prepare(): Promise<void>;
  /** Names of those that can be started, as of the last look. */
  readonly names: readonly string[];
}

export function createSessionAgents(parts: Omit<AgentHost, "live" | "slots">): SessionAgents {
  const { settings } = parts;
  const host: AgentHost = {
    ...parts,
    live: createLiveAgents(),
    slots: createAgentSlots({
      maxLive: settings.maxLiveAgents ?? defaultMaxLiveAgents,
      maxStarts: settings.maxAgentStarts ?? defaultMaxAgentStarts,
    }),
  };
  const spawn = createSpawn(host);
  const gates = {
    background: false,
    fork: false,
    sendMessage: false,
    teams: false,
    cwd: settings.agentCwd ?? false,
    worktree: host.contributors.some(({ stage }) => stage === "place"),
    remote: false,
  };
  const inTool = settings.agentListIn === "tool";
  let names: readonly string[] = [];
  /** What the model has heard last, in a message or in the tool. */
  let told: string | undefined;

  const startable = async () => {
    const agents = startableAgents(await host.definitions.load(), host);
    names = agents.map(({ agentType }) => agentType);
    return agents;
  };

  return {
    tool: createAgentTool({ host, spawn, gates }),
    enter: host.live.enter,
    get names() {
      return names;
    },
    async prepare() {
      await startable();
    },
    async news(messages) {
      if (inTool || host.isHidden("Agent")) return [];
      const text = agentListReminder(await startable());
      told ??= lastList(messages);
      if (text === told) return [];
      told = text;
      return [{ type: "text", text }];
    },
    async renewedTool() {
      if (!inTool || host.isHidden("Agent")) return undefined;
      const list = listAgents(await startable());
      if (list === told) return undefined;
      told = list;
      return createAgentTool({ host, spawn, gates, list });
    },
  };
}

/** Of a conversation that goes on: what was said there last. */
function lastList(messages: readonly Message[]): string | undefined {
  const isList = (block: Block): block is TextBlock => block.type === "text" && isAgentList(block.text);
  const said = messages.flatMap(({ role, content }) => (role === "user" ? content.filter(isList) : []));
  return said.at(-1)?.text;
}
