/** The agents of a session: what they are given, the tool that starts them, and what the model is told of them. */
import type { AddressResolver } from "../agents/address-book.ts";
import { type AgentContext, createLiveAgents, type LiveAgents } from "../agents/agent-context.ts";
import type { AgentHost } from "../agents/agent-host.ts";
import { maxDepthOf } from "../agents/agent-limits.ts";
import { createAgentNames } from "../agents/agent-names.ts";
import { createAgentNews } from "../agents/agent-news.ts";
import { listAgents } from "../agents/agent-prompt.ts";
import { createAgentSlots } from "../agents/agent-slots.ts";
import { createAgentTool } from "../agents/agent-tool.ts";
import { createSendMessageTool } from "../agents/send-message.ts";
import type { Spawn } from "../agents/spawn.ts";
import { createTaskOutputTool } from "../agents/task-output-tool.ts";
import { createTaskStopTool } from "../agents/task-stop-tool.ts";
import type { Wake } from "../agents/wake-agent.ts";
import { messageOf } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import type { Block, Message } from "../contracts/message.ts";
import type { Settings } from "../contracts/settings.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import type { Tool } from "../tools/tool.ts";
import type { AgentStanding } from "../transcript/agent-standing.ts";
import type { SessionWork } from "./session-work.ts";

export const defaultMaxLiveAgents = 64;
const defaultMaxAgentStarts = 1_000;

export interface SessionAgents {
  /** The tools that start, message and stop them, as they are described at first. Without those that settings do not allow. */
  readonly tools: readonly Tool[];
  readonly live: Pick<LiveAgents, "of">;
  /** For whoever starts one that no call of a model asks for. */
  readonly starting: { readonly host: AgentHost; readonly spawn: Spawn };
  /** Starts those that had ended when something came for them, in an earlier process. */
  wakeWaiting(): Promise<void>;
  /** Makes the main agent one that can start others. */
  enter(main: AgentContext): void;
  /** What the model must hear before its next prompt: the list of agents, when it is not the one it has heard last. */
  news(messages: readonly Message[]): Promise<readonly Block[]>;
  /** The same for one whose conversation was shortened: what it had heard is gone. */
  newsAgain(loop: Pick<LoopOptions, "agent" | "tools">): Promise<readonly Block[]>;
  /** The same where settings want the list in the tool: its new description, when it has changed. */
  renewedTool(): Promise<Tool | undefined>;
  /** Looks at the definitions, so that `names` tells. */
  prepare(): Promise<void>;
  /** Names of those that can be started, as of the last look. */
  readonly names: readonly string[];
}

/** Off in sessions that nobody watches, unless the setting says `always` (FK-1). */
export function forksIn(
  { forkSubagent }: Settings,
  { env, isWatched }: { env: World["env"]; isWatched: boolean },
): boolean {
  if (forkSubagent === "always") return true;
  return isWatched && (forkSubagent === true || env.CADRE_FORK_SUBAGENT === "1");
}

export interface SessionAgentsParts
  extends Omit<AgentHost, "live" | "slots" | "names" | "queue" | "tasks" | "background" | "handOver"> {
  readonly work: SessionWork;
  /** As they stood when the session was restored. */
  readonly earlier: readonly AgentStanding[];
  /** Agent without a type forks its caller. */
  readonly mayFork: boolean;
  /** Whom else a message can be sent to. */
  readonly resolvers: () => readonly AddressResolver[];
}

export function createSessionAgents({
  work,
  earlier,
  resolvers,
  mayFork,
  ...parts
}: SessionAgentsParts): SessionAgents {
  const { settings } = parts;
  const { registry, queue } = work;
  const names = createAgentNames();
  names.restore(earlier.map(({ meta }) => meta));
  const ended = [...earlier];
  const wake: Wake = async (agentId, by) => {
    const { createWake } = await import("../agents/wake-agent.ts");
    woken ??= createWake(host, spawn);
    return await woken(agentId, by);
  };
  let woken: Wake | undefined;
  const host: AgentHost = {
    ...parts,
    queue,
    tasks: registry,
    background: work.agents,
    names,
    async handOver(ended) {
      try {
        const { handOver } = await import("../agents/wake-agent.ts");
        await handOver(ended, host, wake);
      } catch (error) {
        host.onProblem?.(messageOf(error));
      }
    },
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
    background: host.background !== undefined,
    fork: host.background !== undefined && mayFork,
    sendMessage: host.background !== undefined && !host.isHidden("SendMessage"),
    teams: false,
    cwd: settings.agentCwd ?? false,
    worktree: host.contributors.some(({ stage }) => stage === "place"),
    remote: false,
  };
  const isOffered = maxDepthOf(host) > 0 && !host.isHidden("Agent");
  const inTool = settings.agentListIn === "tool";
  let types: readonly string[] = [];
  /** What the description of the tool says. */
  let described: string | undefined;

  /** What the main agent may start. */
  const look = async () => {
    const agents = isOffered ? await news.startable(undefined) : [];
    types = agents.map(({ agentType }) => agentType);
    return agents;
  };

  const messaging = {
    queue,
    tasks: registry,
    names,
    isAlive: (agentId: string) => host.live.of(agentId) !== undefined,
    knows: async (agentId: string) => (await host.transcripts?.has(agentId)) ?? false,
    wake,
    takeBack: work.takeBack,
    resolvers,
  };
  const { background, waits, output: taskOutput } = work;
  const tasks = registry;

  return {
    tools: [
      ...(isOffered ? [createAgentTool({ host, spawn, gates })] : []),
      ...(isOffered && background ? [createSendMessageTool(messaging)] : []),
      ...(background
        ? [
            createTaskOutputTool({ tasks, waits, background, taskOutput }),
            createTaskStopTool({ tasks, waits }),
          ]
        : []),
    ],
    live: host.live,
    starting: { host, spawn },
    enter: host.live.enter,
    async wakeWaiting() {
      // Once: what becomes of them after that is theirs.
      for (const { meta, status } of ended.splice(0))
        if ((status === "completed" || status === "failed") && queue.waiting(meta.agentId) > 0)
          await wake(meta.agentId).catch(async (error: unknown) => {
            const { tellUnreachable } = await import("../agents/wake-agent.ts");
            await tellUnreachable(meta.agentId, host, messageOf(error));
          });
    },
    get names() {
      return types;
    },
    async prepare() {
      await look();
    },
    async news(messages) {
      return inTool || !isOffered ? [] : news.of(await look(), messages);
    },
    async newsAgain({ agent, tools }) {
      if (inTool || agent.source.kind === "fork" || !tools.some(({ name }) => name === "Agent")) return [];
      return news.of(await news.startable(agent.permissions), []);
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
