/**
 * Takes apart what a session tells: whose each event is, and when an agent began and ended, each exactly once. Agents
 * that somebody waits for tell it in the events of the run, those in the background beside them; an agent can move
 * from the one to the other at any moment.
 */
import {
  type AgentActivity,
  agentActivityOf,
  type BackgroundActivity,
  type LoopEvent,
} from "../../contracts/event.ts";
import { toolUsesOf } from "../../contracts/message-content.ts";
import type { ReceiptSummary } from "../../contracts/receipt.ts";
import { totalTokensOf } from "../../contracts/usage.ts";

/** An agent that a call of the main agent, or of another agent, has started. */
export interface WatchedAgent {
  readonly id: string;
  readonly type: string;
  readonly description: string;
  readonly depth: number;
  /** It goes on from an earlier run. */
  readonly resumed: boolean;
  /** The call that started it; absent when the runtime itself did. */
  readonly toolUseId: string | undefined;
  /** Absent: the main agent started it. */
  readonly parent: WatchedAgent | undefined;
  /** Nobody waits for it. */
  readonly inBackground: boolean;
  readonly toolUses: number;
  /** Its own and those of the agents below it. */
  readonly tokens: number;
  readonly lastToolName: string | undefined;
}

export type AgentEndStatus = Extract<AgentActivity, { type: "agent-end" }>["status"];

export type Moment =
  | { type: "agent-start"; agent: WatchedAgent; prompt: string }
  | {
      type: "event";
      /** Absent: the main agent's. */
      agent: WatchedAgent | undefined;
      event: LoopEvent;
      /** Of the end of a call: the agents that it had started. */
      started: readonly WatchedAgent[];
    }
  | {
      type: "agent-end";
      agent: WatchedAgent;
      status: AgentEndStatus;
      totalTokens: number;
      toolUses: number;
      /** Absent: it never said how it ended. */
      durationMs: number | undefined;
      receipt: ReceiptSummary | undefined;
    }
  /** It goes on, and nobody waits for it any longer. */
  | { type: "agent-leave"; agent: WatchedAgent };

export interface AgentWatch {
  /** An event of a run of the main agent. */
  see(event: LoopEvent): Moment[];
  seeBeside(activity: BackgroundActivity): Moment[];
  /** The run is over, and with it whatever it waited for and has not said so. */
  endRun(): Moment[];
  /** Nothing will be heard any more. */
  close(): Moment[];
}

export function createAgentWatch(
  options: {
    /** Whether an agent that only begins is in the background already. Default: it is not. */
    isBackgrounded?: (agentId: string) => boolean;
  } = {},
): AgentWatch {
  const { isBackgrounded = () => false } = options;
  const main = createNode(undefined);
  /** Those at work. */
  const byId = new Map<string, Node>();

  function momentsOf(event: LoopEvent, owner: Node): Moment[] {
    const activity = agentActivityOf(event);
    if (activity === undefined) return momentsOfOwn(event, owner);
    if (activity.type === "agent-start")
      return [start(activity, owner, activity.inBackground === true || isBackgrounded(activity.agentId))];
    const node = owner.byCall
      .get(activity.toolUseId)
      ?.find(({ agent, ended }) => agent?.id === activity.agentId && !ended);
    // Before its start and after its end an agent has nothing to say.
    if (node === undefined) return [];
    return activity.type === "agent-event" ? momentsOf(activity.event, node) : end(node, activity);
  }

  function momentsOfOwn(event: LoopEvent, owner: Node): Moment[] {
    count(event, owner);
    const moment: Moment = { type: "event", agent: owner.agent, event, started: [] };
    if (event.type === "response-discard") return [...endBelow(owner), moment];
    const nodes = event.type === "call-end" ? owner.byCall.get(event.call.id) : undefined;
    if (event.type !== "call-end" || nodes === undefined) return [moment];
    owner.byCall.delete(event.call.id);
    const status = event.result.is_error === true ? "failed" : "completed";
    const launched = wasLaunched(event.output);
    const rest = nodes.flatMap((node) => {
      if (launched) return leave(node);
      return node.agent?.inBackground === true ? [] : end(node, { status });
    });
    return [...rest, { ...moment, started: nodes.flatMap(({ agent }) => agent ?? []) }];
  }

  function start(activity: AgentStart, owner: Node, inBackground: boolean): Moment {
    const { agentId: id, agentType: type, description, prompt, depth, resumed, toolUseId } = activity;
    const agent: WatchedAgent = {
      id,
      type,
      description,
      depth,
      resumed,
      toolUseId,
      parent: owner.agent,
      inBackground,
      toolUses: 0,
      tokens: 0,
      lastToolName: undefined,
    };
    const node = createNode(agent, owner);
    byId.set(id, node);
    if (toolUseId !== undefined) {
      const siblings = owner.byCall.get(toolUseId);
      if (siblings === undefined) owner.byCall.set(toolUseId, [node]);
      else siblings.push(node);
    }
    return { type: "agent-start", agent, prompt };
  }

  /** Told once, by whatever is heard of it first: the end of its call, or what it does beside the run. */
  function leave(node: Node): Moment[] {
    const { agent } = node;
    if (agent === undefined || node.ended || agent.inBackground) return [];
    agent.inBackground = true;
    return [{ type: "agent-leave", agent }];
  }

  /** The agents below it that it waited for end before it; others go on. */
  function end(node: Node, ending: Ending): Moment[] {
    const { agent } = node;
    if (agent === undefined || node.ended) return [];
    node.ended = true;
    if (byId.get(agent.id) === node) byId.delete(agent.id);
    const { status, totalTokens = agent.tokens, toolUses = agent.toolUses, durationMs, receipt } = ending;
    return [
      ...endBelow(node),
      { type: "agent-end", agent, status, totalTokens, toolUses, durationMs, receipt },
    ];
  }

  function endBelow(owner: Node): Moment[] {
    const nodes = [...owner.byCall.values()].flat();
    owner.byCall.clear();
    return nodes.flatMap((node) =>
      node.agent?.inBackground === true ? [] : end(node, { status: "killed" }),
    );
  }

  return {
    see: (event) => momentsOf(event, main),
    seeBeside({ activity, toolUseId, parentAgentId }) {
      const node = byId.get(activity.agentId);
      if (activity.type === "agent-start") {
        if (node !== undefined) return leave(node);
        const owner = (parentAgentId === undefined ? undefined : byId.get(parentAgentId)) ?? main;
        return [start({ ...activity, toolUseId }, owner, true)];
      }
      if (node === undefined) return [];
      const left = leave(node);
      return [
        ...left,
        ...(activity.type === "agent-event" ? momentsOf(activity.event, node) : end(node, activity)),
      ];
    },
    endRun: () => endBelow(main),
    close: () => [
      ...endBelow(main),
      ...[...byId.values()].reverse().flatMap((node) => end(node, { status: "killed" })),
    ],
  };
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
type AgentStart = Extract<AgentActivity, { type: "agent-start" }> & { toolUseId: string | undefined };

/** The main agent or another, with what it has started. Call ids are unique only within one conversation. */
interface Node {
  readonly agent: Mutable<WatchedAgent> | undefined;
  readonly parent: Node | undefined;
  /** Calls that have not ended. */
  readonly byCall: Map<string, Node[]>;
  ended: boolean;
}

function createNode(agent: Mutable<WatchedAgent> | undefined, parent?: Node): Node {
  return { agent, parent, byCall: new Map(), ended: false };
}

interface Ending {
  readonly status: AgentEndStatus;
  readonly totalTokens?: number;
  readonly toolUses?: number;
  readonly durationMs?: number;
  readonly receipt?: ReceiptSummary | undefined;
}

function count(event: LoopEvent, owner: Node): void {
  const { agent } = owner;
  if (agent === undefined) return;
  if (event.type === "turn-end") {
    const tokens = totalTokensOf(event.usage);
    for (let node: Node | undefined = owner; node?.agent !== undefined; node = node.parent)
      node.agent.tokens += tokens;
  } else if (event.type === "message-append" && event.message.role === "assistant") {
    const calls = toolUsesOf(event.message.content);
    agent.toolUses += calls.length;
    agent.lastToolName = calls.at(-1)?.name ?? agent.lastToolName;
  }
}

function wasLaunched(output: unknown): boolean {
  return (
    typeof output === "object" && output !== null && "status" in output && output.status === "async_launched"
  );
}
