/** Takes the events of a run apart: whose each of them is, and when an agent began and ended, each exactly once. */
import { type AgentActivity, agentActivityOf, type LoopEvent } from "../../contracts/event.ts";
import { toolUsesOf } from "../../contracts/message-content.ts";
import { totalTokensOf } from "../../contracts/usage.ts";

/** An agent that a call of the main agent, or of another agent, has started. */
export interface WatchedAgent {
  readonly id: string;
  readonly type: string;
  readonly description: string;
  readonly depth: number;
  /** It goes on from an earlier run. */
  readonly resumed: boolean;
  /** The call that started it. */
  readonly toolUseId: string;
  /** Absent: the main agent started it. */
  readonly parent: WatchedAgent | undefined;
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
    }
  /** Its call has ended, and it goes on without anybody waiting. */
  | { type: "agent-leave"; agent: WatchedAgent };

export interface AgentWatch {
  see(event: LoopEvent): Moment[];
  /** The run is over, and with it whatever has not said so. */
  close(): Moment[];
}

export function createAgentWatch(): AgentWatch {
  const main = createNode(undefined);
  return {
    see: (event) => momentsOf(event, main),
    close: () => endAll(main, "killed"),
  };
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

/** The main agent or another, with what it has started. Call ids are unique only within one conversation. */
interface Node {
  readonly agent: Mutable<WatchedAgent> | undefined;
  readonly parent: Node | undefined;
  readonly byCall: Map<string, Node[]>;
  ended: boolean;
}

function createNode(agent: Mutable<WatchedAgent> | undefined, parent?: Node): Node {
  return { agent, parent, byCall: new Map(), ended: false };
}

function momentsOf(event: LoopEvent, owner: Node): Moment[] {
  const activity = agentActivityOf(event);
  if (activity === undefined) return momentsOfOwn(event, owner);
  if (activity.type === "agent-start") return [start(activity, owner)];
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
  if (event.type === "response-discard") return [...endAll(owner, "killed"), moment];
  const nodes = event.type === "call-end" ? owner.byCall.get(event.call.id) : undefined;
  if (event.type !== "call-end" || nodes === undefined) return [moment];
  owner.byCall.delete(event.call.id);
  const status = event.result.is_error === true ? "failed" : "completed";
  const rest = wasLaunched(event.output)
    ? nodes.flatMap(({ agent, ended }): Moment[] =>
        agent === undefined || ended ? [] : [{ type: "agent-leave", agent }],
      )
    : nodes.flatMap((node) => end(node, { status }));
  return [...rest, { ...moment, started: nodes.flatMap(({ agent }) => agent ?? []) }];
}

function start(
  activity: Extract<AgentActivity, { type: "agent-start" }> & { toolUseId: string },
  owner: Node,
): Moment {
  const { agentId: id, agentType: type, description, prompt, depth, resumed, toolUseId } = activity;
  const agent: WatchedAgent = {
    id,
    type,
    description,
    depth,
    resumed,
    toolUseId,
    parent: owner.agent,
    toolUses: 0,
    tokens: 0,
    lastToolName: undefined,
  };
  const siblings = owner.byCall.get(toolUseId);
  if (siblings === undefined) owner.byCall.set(toolUseId, [createNode(agent, owner)]);
  else siblings.push(createNode(agent, owner));
  return { type: "agent-start", agent, prompt };
}

interface Ending {
  readonly status: AgentEndStatus;
  readonly totalTokens?: number;
  readonly toolUses?: number;
  readonly durationMs?: number;
}

/** The agents below it end before it. */
function end(node: Node, ending: Ending): Moment[] {
  const { agent } = node;
  if (agent === undefined || node.ended) return [];
  node.ended = true;
  const { status, totalTokens = agent.tokens, toolUses = agent.toolUses, durationMs } = ending;
  return [...endAll(node, "killed"), { type: "agent-end", agent, status, totalTokens, toolUses, durationMs }];
}

function endAll(owner: Node, status: AgentEndStatus): Moment[] {
  const nodes = [...owner.byCall.values()].flat();
  owner.byCall.clear();
  return nodes.flatMap((node) => end(node, { status }));
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
