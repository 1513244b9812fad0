/** The tool Agent, as a question with an answer. */
import { shortened } from "./doc-comment.ts";
import type { Asking, CallResult } from "./playbook.ts";
import { startedAgentId } from "./started-task.ts";
import { ask } from "./tool-calls.ts";

export interface AgentOrder {
  /** 3 to 5 words. */
  readonly description: string;
  readonly prompt: string;
  readonly agentType: string;
  readonly inBackground?: boolean;
  /** Under which messages reach it. */
  readonly name?: string;
}

export type AgentAnswer =
  | { readonly kind: "answered"; readonly text: string }
  /** It goes on beside us: what it found comes in a notification. */
  | { readonly kind: "started"; readonly agentId: string }
  /** No agent, or none that said anything; `problem` says why, on one line. */
  | { readonly kind: "failed"; readonly problem: string };

/** All of them side by side; the answers in the order of the orders. */
export function* askAgents(orders: readonly AgentOrder[], text?: string): Asking<AgentAnswer[]> {
  const calls = orders.map(({ description, prompt, agentType, inBackground, name }) => ({
    name: "Agent",
    input: {
      description,
      prompt,
      subagent_type: agentType,
      ...(inBackground === true ? { run_in_background: true } : {}),
      ...(name === undefined ? {} : { name }),
    },
  }));
  return (yield* ask(calls, text)).map(parseAgentAnswer);
}

export function parseAgentAnswer(result: CallResult): AgentAnswer {
  if (result.isError) return { kind: "failed", problem: onOneLine(result.text) };
  const agentId = startedAgentId(result);
  if (agentId !== undefined) return { kind: "started", agentId };
  const text = withoutTrailer(result.text);
  return text === "" ? { kind: "failed", problem: "it said nothing" } : { kind: "answered", text };
}

/** The id, the usage and the receipt that follow some reports are the runtime's words, not the agent's. */
function withoutTrailer(text: string): string {
  const words = text.replace(/\s*<task-receipt\b[^>]*>[\s\S]*?<\/task-receipt>\s*$/, "");
  return words.replace(/(?:^|\n)agentId: \S[^\n]*(?:\n(?:<|\w+: )[^\n]*)*\s*$/, "").trim();
}

const longestProblem = 240;

function onOneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line === "" ? "no reason was given" : shortened(line, longestProblem).replace(/[.\s]+$/, "");
}
