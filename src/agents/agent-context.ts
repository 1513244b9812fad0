/**
 * agents/ owns loops that are started by loops: who such an agent is, what it gets, how its result comes back.
 * It must not know surfaces, teams or remote machines: what they add to a start comes in by ports.
 */
import type { Scope } from "../base/cancellation.ts";
import type { Effort } from "../contracts/agent-definition.ts";
import type { Budget } from "../loop/budget.ts";
import type { History } from "../loop/history.ts";
import type { Interrupt } from "../loop/interrupt.ts";
import type { Model } from "../model/model.ts";
import type { AgentScope } from "../tools/tool-context.ts";

/** One agent of a session: all that differs between it and another (SP-16). The main agent has one, too. */
export interface AgentContext {
  /** As its tools see it. Its `agentId` is absent for the main agent. */
  readonly agent: AgentScope;
  /** Whoever started it. Absent: it is the main one. */
  readonly parent?: AgentContext;
  /** The main agent and teammates are at 0; whoever they start is one below. */
  readonly depth: number;
  readonly model: Model;
  readonly effort?: Effort;
  /** What it uses, with all below it. */
  readonly budget: Budget;
  readonly cancellation: Scope;
  /** Of its present run. */
  readonly interrupt: Interrupt;
  readonly history: History;
}

/** The agents of a session whose loops run now, by id; the main one has none. */
export interface LiveAgents {
  of(agentId: string | undefined): AgentContext | undefined;
  enter(context: AgentContext): void;
  leave(agentId: string): void;
}

/** The nearest above this one that is alive. */
export function livingAbove({ parent }: AgentContext, live: LiveAgents): AgentContext | undefined {
  if (parent === undefined || live.of(parent.agent.agentId) === parent) return parent;
  return livingAbove(parent, live);
}

export function createLiveAgents(): LiveAgents {
  const contexts = new Map<string | undefined, AgentContext>();
  return {
    of: (agentId) => contexts.get(agentId),
    enter: (context) => void contexts.set(context.agent.agentId, context),
    leave: (agentId) => void contexts.delete(agentId),
  };
}
