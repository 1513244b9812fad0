/**
 * Agents as lines: what each does, as long as few are at work; of a crowd only how each ended, and now and then
 * how all of them stand. Every line says whose it is.
 */

import { counted } from "../../base/counted.ts";
import { groupDigits } from "../../base/group-digits.ts";
import type { LoopEvent } from "../../contracts/event.ts";
import { noUsage, totalTokensOf } from "../../contracts/usage.ts";
import type { Moment, WatchedAgent } from "../headless/watch-agents.ts";
import type { AgentLabels } from "./agent-labels.ts";
import { type CallLines, createCallLines, reasonOfFailure } from "./call-lines.ts";
import { cut, oneLine } from "./describe-call.ts";
import { durationOf, receiptLines } from "./task-lines.ts";

export interface AgentLines {
  start(agent: WatchedAgent): string[];
  event(agent: WatchedAgent, event: LoopEvent): string[];
  /** The call that had started it ended. */
  callEnd(agent: WatchedAgent, event: LoopEvent & { type: "call-end" }): string[];
  end(end: AgentEnd): string[];
  leave(agent: WatchedAgent): string[];
}

type AgentEnd = Extract<Moment, { type: "agent-end" }>;

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

export function createAgentLines(options: {
  maxChars: number;
  labels: AgentLabels;
  /** Paths in it are shown without it. */
  folder?: string | undefined;
}): AgentLines {
  const { maxChars, labels, folder } = options;
  const atWork = new Map<WatchedAgent, Shown>();
  /** Of these only the start and the end are told. */
  const inBackground = new Map<WatchedAgent, Pick<Shown, "label" | "denied">>();
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

  /** `* Agent Explore: find the parser ...`: what it is about takes the room that `tail` leaves. */
  const startLine = (agent: WatchedAgent, label: string, tail: string): string => {
    const parent = agent.parent && labelOf.get(agent.parent);
    const whose = parent === undefined ? "" : ` (for ${cut(parent, 24)})`;
    const again = agent.resumed ? " goes on" : "";
    const head = `* Agent ${label}${whose}${again}: `;
    return `${head}${cut(`${oneLine(agent.description)} ...`, maxChars - head.length - tail.length)}${tail}`;
  };
  const startInBackground = (agent: WatchedAgent, label: string): string[] => {
    inBackground.set(agent, { label, denied: 0 });
    if (inBackground.size <= fewAgents) return [startLine(agent, label, " in the background")];
    if (inBackground.size > fewAgents + 1) return [];
    return [`(more than ${fewAgents} agents in the background: each is told of when it ends)`];
  };
  const endInBackground = (end: AgentEnd, { label, denied }: Pick<Shown, "label" | "denied">): string[] => {
    inBackground.delete(end.agent);
    labels.drop(end.agent.id);
    const shown = { label: `${label} (background)`, denied, announced: false };
    return [endLine(end, shown, maxChars), ...receiptLines(end.receipt, { maxChars, folder })];
  };

  return {
    start(agent) {
      const label = labels.give(agent);
      labelOf.set(agent, label);
      if (agent.inBackground) return startInBackground(agent, label);
      const shown: Shown = { label, announced: false, calls: undefined, denied: 0 };
      atWork.set(agent, shown);
      if (crowded) return [];
      if (atWork.size > fewAgents) {
        crowded = true;
        for (const each of atWork.values()) Object.assign(each, { announced: false, calls: undefined });
        return [`(more than ${fewAgents} agents at once: each is told of when it ends)`];
      }
      shown.announced = true;
      shown.calls = createCallLines({ maxChars, who: label });
      return [startLine(agent, label, "")];
    },
    event(agent, event) {
      const beside = inBackground.get(agent);
      if (beside !== undefined && event.type === "call-denied") beside.denied += 1;
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
      const beside = inBackground.get(end.agent);
      if (beside !== undefined) return endInBackground(end, beside);
      const shown = atWork.get(end.agent);
      if (shown === undefined) return [];
      // Reads that still wait for the end of their turn.
      const rest = shown.calls?.(turnOver) ?? [];
      remove(end.agent);
      labels.drop(end.agent.id);
      return [...rest, endLine(end, shown, maxChars), ...closing()];
    },
    leave(agent) {
      const shown = atWork.get(agent);
      if (shown === undefined) return [];
      remove(agent);
      inBackground.set(agent, { label: shown.label, denied: shown.denied });
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
  end: AgentEnd,
  { label, announced, denied }: Pick<Shown, "label" | "announced" | "denied">,
  maxChars: number,
): string {
  const facts = [
    counted(end.toolUses, "call"),
    ...(denied === 0 ? [] : [`${groupDigits(denied)} denied`]),
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
  return `${(tokens / 1_000_000).toFixed(1).replace(/\.0$/, "")}M tokens`;
}
