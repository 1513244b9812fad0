/**
 * Agents as lines: what each does, as long as few are at work; of a crowd only how each ended, and now and then
 * how all of them stand. Every line says whose it is.
 */
import type { LoopEvent } from "../../contracts/event.ts";
import { noUsage, totalTokensOf } from "../../contracts/usage.ts";
import type { Moment, WatchedAgent } from "../headless/watch-agents.ts";
import type { AgentLabels } from "./agent-labels.ts";
import { type CallLines, createCallLines, reasonOfFailure } from "./call-lines.ts";
import { counted, cut, oneLine } from "./describe-call.ts";

export interface AgentLines {
  start(agent: WatchedAgent): string[];
  event(agent: WatchedAgent, event: LoopEvent): string[];
  /** The call that had started it ended. */
  callEnd(agent: WatchedAgent, event: LoopEvent & { type: "call-end" }): string[];
  end(end: Extract<Moment, { type: "agent-end" }>): string[];
  leave(agent: WatchedAgent): string[];
}

/** More than these at once are a crowd, until none is left. */
const fewAgents = 3;
/** In a crowd the totals are told once in so many calls of each. */
const callsPerTotals = 10;

interface Shown {
  readonly label: string;
  /** Its start has a line, so its end need not say again what it was about. */
  announced: boolean;
  calls: CallLines | undefined;
  denied: number;
}

export function createAgentLines(options: { maxChars: number; labels: AgentLabels }): AgentLines {
  const { maxChars, labels } = options;
  const atWork = new Map<WatchedAgent, Shown>();
  /** They outlive the agents, as long as somebody speaks of them. */
  const labelOf = new WeakMap<WatchedAgent, string>();
  let crowded = false;
  let totals = noTotals();
  let callsUntold = 0;

  const count = (event: LoopEvent, shown: Shown) => {
    if (event.type === "turn-end") totals.tokens += totalTokensOf(event.usage);
    else if (event.type === "call-denied") shown.denied += 1;
    else if (event.type === "call-end") {
      totals.calls += 1;
      callsUntold += 1;
    }
  };
  const remove = (agent: WatchedAgent) => {
    atWork.delete(agent);
    labels.drop(agent.id);
    totals.ended += 1;
  };
  /** After an agent went: when none is left, the crowd is over. */
  const closing = (): string[] => {
    if (atWork.size > 0) return [];
    const lines = crowded ? [totalsLine(totals, 0)] : [];
    crowded = false;
    totals = noTotals();
    callsUntold = 0;
    return lines;
  };

  return {
    start(agent) {
      const label = labels.give(agent);
      const shown: Shown = { label, announced: false, calls: undefined, denied: 0 };
      atWork.set(agent, shown);
      labelOf.set(agent, label);
      if (crowded) return [];
      if (atWork.size > fewAgents) {
        crowded = true;
        for (const each of atWork.values()) Object.assign(each, { announced: false, calls: undefined });
        return [`(more than ${fewAgents} agents at once: each is told of when it ends)`];
      }
      shown.announced = true;
      shown.calls = createCallLines({ maxChars, who: label });
      const parent = agent.parent && labelOf.get(agent.parent);
      const whose = parent === undefined ? "" : ` (for ${cut(parent, 24)})`;
      const again = agent.resumed ? " goes on" : "";
      const head = `* Agent ${label}${whose}${again}: `;
      return [head + cut(`${oneLine(agent.description)} ...`, maxChars - head.length)];
    },
    event(agent, event) {
      const shown = atWork.get(agent);
      if (shown === undefined) return [];
      count(event, shown);
      if (!crowded) return shown.calls?.(event) ?? [];
      if (callsUntold < callsPerTotals * atWork.size) return [];
      callsUntold = 0;
      return [totalsLine(totals, atWork.size)];
    },
    callEnd(agent, event) {
      const parent = agent.parent && atWork.get(agent.parent);
      if (parent) count(event, parent);
      // How it ended has been told; why stands only in the result of the call.
      const reason = event.result.is_error === true ? reasonOfFailure(event, maxChars) : noteIn(event.output);
      return reason === undefined ? [] : [`  ${labelOf.get(agent) ?? agent.id}: ${reason}`];
    },
    end(end) {
      const shown = atWork.get(end.agent);
      if (shown === undefined) return [];
      // Reads that still wait for the end of their turn.
      const rest = shown.calls?.(turnOver) ?? [];
      remove(end.agent);
      return [...rest, endLine(end, shown, maxChars), ...closing()];
    },
    leave(agent) {
      const shown = atWork.get(agent);
      if (shown === undefined) return [];
      remove(agent);
      return [`* Agent ${shown.label}: goes on in the background`, ...closing()];
    },
  };
}

/** What an agent that has something to show for itself did not manage: a limit, an error. */
function noteIn(output: unknown): string | undefined {
  if (typeof output !== "object" || output === null || !("note" in output)) return undefined;
  return typeof output.note === "string" ? oneLine(output.note) : undefined;
}

const turnOver: LoopEvent = { type: "turn-end", turn: 0, usage: noUsage, modelMs: 0 };

interface Totals {
  ended: number;
  calls: number;
  tokens: number;
}

function noTotals(): Totals {
  return { ended: 0, calls: 0, tokens: 0 };
}

/** `(5 agents at work, 12 ended: 96 calls, 1.2M tokens)` */
function totalsLine({ ended, calls, tokens }: Totals, atWork: number): string {
  const agents = atWork === 0 ? counted(ended, "agent") : `${counted(atWork, "agent")} at work, ${ended}`;
  return `(${agents} ended: ${counted(calls, "call")}, ${tokensOf(tokens)})`;
}

const endWords = { completed: "done", failed: "failed", killed: "stopped" } as const;

/** `* Agent Explore: done (12 calls, 8,310 tokens, 4.2 s)` */
function endLine(
  end: Extract<Moment, { type: "agent-end" }>,
  { label, announced, denied }: Shown,
  maxChars: number,
): string {
  const facts = [
    counted(end.toolUses, "call"),
    ...(denied === 0 ? [] : [`${denied.toLocaleString("en-US")} denied`]),
    tokensOf(end.totalTokens),
    ...(end.durationMs === undefined ? [] : [durationOf(end.durationMs)]),
  ];
  const outcome = `${endWords[end.status]} (${facts.join(", ")})`;
  const sign = end.status === "completed" ? "* Agent " : "! Agent ";
  const head = `${sign}${keepEnd(label, maxChars - sign.length - outcome.length - 2)}: `;
  const room = maxChars - head.length - outcome.length - 2;
  const about = announced || room < 10 ? "" : `${cut(oneLine(end.agent.description), room)}: `;
  return head + about + outcome;
}

/** The number at its end tells it from others. */
function keepEnd(label: string, maxChars: number): string {
  return label.length <= maxChars ? label : `...${label.slice(-Math.max(5, maxChars - 3))}`;
}

function tokensOf(tokens: number): string {
  if (tokens < 1_000_000) return counted(tokens, "token");
  return `${(tokens / 1_000_000).toLocaleString("en-US", { maximumFractionDigits: 1 })}M tokens`;
}

function durationOf(durationMs: number): string {
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60).toLocaleString("en-US")} min ${seconds % 60} s`;
}
