/** The agents of a session: what they are given, the tool that starts them, and what the model is told of them. */
import { type AgentContext, createLiveAgents } from "../agents/agent-context.ts";
import type { AgentHost } from "../agents/agent-host.ts";
import { maxDepthOf } from "../agents/agent-limits.ts";
import { createAgentNews } from "../agents/agent-news.ts";
import { listAgents } from "../agents/agent-prompt.ts";
import { createAgentSlots } from "../agents/agent-slots.ts";
import { createAgentTool } from "../agents/agent-tool.ts";
import type { Spawn } from "../agents/spawn.ts";
import type { Block, Message } from "../contracts/message.ts";
import type { Tool } from "../tools/tool.ts";

export const defaultMaxLiveAgents = 64;
const defaultMaxAgentStarts = 1_000;

export interface SessionAgents {
  /** The tool that starts them, as it is described at first. Absent: settings allow none. */
  readonly tool: Tool | undefined;
  /** Makes the main agent one that can start others. */
  enter(main: AgentContext): void;
  /** What the model must hear before its next prompt: the list of agents, when it is not the one it has heard last. */
  news(messages: readonly Message[]): Promise<readonly Block[]>;
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
  const news = createAgentNews(host);
  let loading: Promise<Spawn> | undefined;
  let loaded: Spawn | undefined;
  // Most sessions start no agent: what does that is loaded with the first. Later ones do not wait for it.
  const spawn: Spawn = (request) => {
    if (loaded) return loaded(request);
    loading ??= import("../agents/spawn.ts").then(({ createSpawn }) => {
      loaded = createSpawn(host, news);
      return loaded;
    });
    return loading.then((start) => start(request));
  };
  const gates = {
    background: false,
    fork: false,
    sendMessage: false,
    teams: false,
    cwd: settings.agentCwd ?? false,
    worktree: host.contributors.some(({ stage }) => stage === "place"),
    remote: false,
  };
  const isOffered = maxDepthOf(host) > 0 && !host.isHidden("Agent");
  const inTool = settings.agentListIn === "tool";
  let names: readonly string[] = [];
  /** What the description of the tool says. */
  let described: string | undefined;

  /** What the main agent may start. */
  const look = async () => {
    const agents = isOffered ? await news.startable(undefined) : [];
    names = agents.map(({ agentType }) => agentType);
    return agents;
  };

  return {
    tool: isOffered ? createAgentTool({ host, spawn, gates }) : undefined,
    enter: host.live.enter,
    get names() {
      return names;
    },
    async prepare() {
      await look();
    },
    async news(messages) {
      return inTool || !isOffered ? [] : news.of(await look(), messages);
    },
    async renewedTool() {
      if (!inTool || !isOffered) return undefined;
      const list = listAgents(await look());
      if (list === described) return undefined;
      described = list;
      return createAgentTool({ host, spawn, gates, list });
    },
  };
}
