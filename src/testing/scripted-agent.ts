/** What an agent hands up while it runs, as the events of the run that started it: for tests of surfaces. */
import {
  type AgentActivity,
  agentActivityOf,
  type BackgroundActivity,
  type LoopEvent,
} from "../contracts/event.ts";
import type { Block, ToolUseBlock } from "../contracts/message.ts";
import { noUsage } from "../contracts/usage.ts";
import { appended } from "./scripted-session.ts";

export interface ScriptedAgent {
  readonly id: string;
  /** The call in its parent that it belongs to. */
  readonly call: ToolUseBlock;
  readonly start: LoopEvent;
  event(event: LoopEvent): LoopEvent;
  /** A turn in which it calls tools, all of which answer with one line. */
  turn(...calls: readonly { name: string; input: Record<string, unknown> }[]): LoopEvent[];
  end(how?: Partial<Extract<AgentActivity, { type: "agent-end" }>>): LoopEvent;
  /** The end of its call, as its parent hears of it. */
  callEnd(text?: string, how?: { isError?: boolean; output?: unknown }): LoopEvent;
}

export function createScriptedAgent(
  id: string,
  options: {
    type?: string;
    description?: string;
    depth?: number;
    resumed?: boolean;
    inBackground?: boolean;
    parent?: ScriptedAgent;
  } = {},
): ScriptedAgent {
  const {
    type = "Explore",
    description = `task of ${id}`,
    depth = 1,
    resumed = false,
    inBackground = false,
    parent,
  } = options;
  const call: ToolUseBlock = {
    type: "tool_use",
    id: `call-${id}`,
    name: "Agent",
    input: { subagent_type: type, description, prompt: `Do ${id}.` },
  };
  const inParent = (event: LoopEvent) => parent?.event(event) ?? event;
  const report = (data: AgentActivity) =>
    inParent({ type: "call-progress", toolUseId: call.id, toolName: call.name, progress: { data } });
  const event = (inner: LoopEvent) => report({ type: "agent-event", agentId: id, event: inner });
  let turns = 0;
  return {
    id,
    call,
    start: report({
      type: "agent-start",
      agentId: id,
      agentType: type,
      description,
      prompt: `Do ${id}.`,
      modelId: "scripted",
      depth,
      resumed,
      ...(inBackground && { inBackground }),
    }),
    event,
    turn(...calls) {
      turns += 1;
      return turnEvents(
        turns,
        calls.map((each, index) => ({ type: "tool_use", id: `${turns}.${index}`, ...each })),
      ).map(event);
    },
    end: (how = {}) =>
      report({
        type: "agent-end",
        agentId: id,
        status: "completed",
        totalTokens: 8310,
        toolUses: 12,
        durationMs: 4200,
        ...how,
      }),
    callEnd: (text = "its report", { isError = false, output } = {}) =>
      inParent({
        type: "call-end",
        call,
        result: {
          type: "tool_result",
          tool_use_id: call.id,
          content: text,
          ...(isError && { is_error: true }),
        },
        output,
        durationMs: 5000,
      }),
  };
}

/** The same as an agent in the background tells it: `event` is one that the scripted agent made. */
export function besideOf(event: LoopEvent, parentAgentId?: string): BackgroundActivity {
  const told = agentActivityOf(event);
  if (told === undefined) throw new Error(`no agent tells ${event.type}`);
  const { toolUseId, ...activity } = told;
  return { activity, toolUseId, parentAgentId };
}

function turnEvents(turn: number, calls: readonly ToolUseBlock[]): LoopEvent[] {
  const results = calls.map(({ id }) => ({
    type: "tool_result" as const,
    tool_use_id: id,
    content: "one line",
  }));
  const said: Block[] = [{ type: "text", text: `turn ${turn}` }, ...calls];
  return [
    { type: "turn-start", turn },
    appended({ role: "assistant", content: said, stopReason: calls.length > 0 ? "tool_use" : "end_turn" }),
    ...calls.flatMap((call, index): LoopEvent[] => {
      const result = results[index];
      if (result === undefined) return [];
      return [
        { type: "call-start", call },
        { type: "call-end", call, result, durationMs: 5 },
      ];
    }),
    ...(results.length > 0 ? [appended({ role: "user", content: results })] : []),
    { type: "turn-end", turn, usage: { ...noUsage, inputTokens: 90, outputTokens: 10 }, modelMs: 1 },
  ];
}
