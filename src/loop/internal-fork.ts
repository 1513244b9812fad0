/**
 * A short run for the runtime itself: it sees what a run has seen, byte for byte, and one prompt more (FK-11). So it
 * reads that run's entry in the prompt cache, and nothing of it enters that run's history or transcript.
 */
import { type Scope, throwIfCancelled } from "../base/cancellation.ts";
import type { LoopEnd } from "../contracts/event.ts";
import type { Block, Message } from "../contracts/message.ts";
import { textOf, toolUsesOf } from "../contracts/message-content.ts";
import type { Usage } from "../contracts/usage.ts";
import type { Gate } from "../tools/executor.ts";
import type { AgentScope } from "../tools/tool-context.ts";
import { createUnkeptTranscript } from "../transcript/writer.ts";
import type { BudgetLimits } from "./budget-limit.ts";
import { createHistory, type History } from "./history.ts";
import { createInterrupt } from "./interrupt.ts";
import { type Listener, type LoopLimits, type LoopOptions, maxOutputTokensOf } from "./loop-options.ts";
import { runLoop } from "./query-loop.ts";

export interface InternalFork {
  /** The run that it shares its prefix with: prefix, tools, model, thinking, agent, budget are taken from here. */
  readonly loop: LoopOptions;
  /** Its history, or less of it. */
  readonly messages: readonly Message[];
  /** Of the service, for logs: `{ kind: "service", name }` is the source of its requests. */
  readonly name: string;
  readonly prompt: string;
  /** What its calls may do. Default: nothing; the tools stay in the list, since the bytes must be the same. */
  readonly gate?: Gate;
  readonly limits: InternalForkLimits;
  readonly scope: Scope;
  readonly listener?: Listener;
}

export interface InternalForkLimits {
  readonly maxTurns: number;
  /** Of each answer, beside what it thinks. */
  readonly maxOutputTokens?: number;
  /** Beside those of the run, to which all is charged. */
  readonly budget?: BudgetLimits;
}

export interface InternalForkEnd {
  readonly end: LoopEnd;
  /** What it said at its end, after all calls; may be empty. */
  readonly answer: string;
  /** Of its last message that says something, be it only what it was about to do; may be empty. */
  readonly text: string;
  /** What came after those it was given: the prompt, answers, results. */
  readonly messages: readonly Message[];
  readonly usage: Usage;
}

/** Nothing of it enters the parent's history or transcript. Never throws but for cancellation of its scope. */
export async function runInternalFork(fork: InternalFork): Promise<InternalForkEnd> {
  const { loop, name, scope } = fork;
  throwIfCancelled(scope);
  const transcript = createUnkeptTranscript();
  const { world } = loop;
  const { agentId } = loop.agent;
  const history = createHistory({
    world,
    transcript,
    ...(agentId !== undefined && { agentId }),
    messages: fork.messages,
  });
  history.sentCount = sharedCount(loop.history, fork.messages);
  const budget = loop.budget.child(fork.limits.budget ?? {}, { whose: `the runtime's ${name}` });
  const end = await endOf({
    world,
    agent: agentOf(fork),
    model: loop.model,
    prefix: loop.prefix,
    tools: loop.tools,
    history,
    transcript,
    input: { content: [...placeholders(fork), { type: "text", text: fork.prompt }] },
    scope,
    listener: fork.listener ?? nobody,
    interrupt: createInterrupt(),
    limits: limitsOf(fork),
    budget,
    priceOf: loop.priceOf,
    gate: fork.gate ?? denyAll(name),
    queue: nothingWaits,
  });
  throwIfCancelled(scope);
  const messages = history.messages.slice(fork.messages.length);
  return { end, answer: answerOf(messages), text: lastText(messages), messages, usage: budget.usage };
}

async function endOf(loop: LoopOptions): Promise<LoopEnd> {
  try {
    return await runLoop(loop);
  } catch (error) {
    // Whatever it is, it must not become the failure of the run beside it.
    return { reason: "model_error", error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/**
 * How many of its messages the run's last request held: there its cache entry ends, if they begin alike. Messages
 * without content are never sent, and not counted.
 */
function sharedCount({ messages, sentCount }: History, own: readonly Message[]): number | undefined {
  if (sentCount === undefined) return undefined;
  const sent = messages.filter(isSent).slice(0, sentCount);
  const begins = own.filter(isSent);
  return sent.every((message, index) => begins[index] === message) ? sentCount : undefined;
}

function isSent({ content }: Message): boolean {
  return content.length > 0;
}

/** What it does to the agent's state (files read, folder, todo list, mode) is its own. */
function agentOf({ loop: { agent }, name }: InternalFork): AgentScope {
  return {
    ...agent,
    source: { kind: "service", name },
    folder: { ...agent.folder },
    fileReads: agent.fileReads.copy(),
    todos: { items: agent.todos.items },
    mode: { current: agent.mode.current },
  };
}

/** Thinking is part of the cached bytes, and providers count it as output: the limit must leave room for it. */
function limitsOf({ loop, limits: { maxTurns, maxOutputTokens } }: InternalFork): LoopLimits {
  const { thinking } = loop.limits;
  const most = maxOutputTokensOf(loop);
  const wanted = maxOutputTokens === undefined ? most : maxOutputTokens + (thinking?.budgetTokens ?? 0);
  return { ...loop.limits, maxTurns, maxOutputTokens: Math.min(most, wanted) };
}

/** The run may be in the middle of its calls: every call needs a result before anything else is said. */
function placeholders({ messages }: InternalFork): Block[] {
  const last = messages.findLast(isSent);
  if (last?.role !== "assistant") return [];
  const content = "(This call is still at work. What comes of it is not known here.)";
  return toolUsesOf(last.content).map(({ id }) => ({ type: "tool_result", tool_use_id: id, content }));
}

const nobody: Listener = { emit() {} };

/** What waits is for the agent itself. */
const nothingWaits: LoopOptions["queue"] = { take: () => [], waiting: () => 0, acknowledge() {} };

function denyAll(name: string): Gate {
  const message = `Not run: the runtime's ${name} only wants an answer in words. Give it without calling tools.`;
  return async () => ({ allowed: false, message });
}

/** A provider that pauses goes on in a further message. */
function answerOf(messages: readonly Message[]): string {
  const start = messages.findLastIndex(({ role }) => role === "user") + 1;
  const last = messages.slice(start);
  if (last.some(({ content }) => toolUsesOf(content).length > 0)) return "";
  return last.map(({ content }) => textOf(content)).join("");
}

function lastText(messages: readonly Message[]): string {
  for (const { role, content } of messages.toReversed()) {
    const text = role === "assistant" ? textOf(content) : "";
    if (text.trim() !== "") return text;
  }
  return "";
}
