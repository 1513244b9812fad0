/** What a run of the loop tells while it happens, and why it ended. */
import type { Message, StopReasonOfModel, ToolResultBlock, ToolUseBlock } from "./message.ts";
import type { CallReceipt, ReceiptSummary } from "./receipt.ts";
import type { Usage } from "./usage.ts";

/** A model's answer as it streams. Every `block-start` is followed by its deltas and one `block-stop`. */
export type ModelEvent =
  | { type: "message-start"; id: string; model: string; usage: Usage }
  | { type: "block-start"; index: number; block: StreamedBlock }
  | { type: "block-delta"; index: number; delta: BlockDelta }
  | { type: "block-stop"; index: number }
  | { type: "message-stop"; stopReason: StopReasonOfModel; usage: Usage };

/** How a block begins: what is known before its deltas. */
export type StreamedBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string };

export type BlockDelta =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string }
  | { type: "signature"; signature: string }
  | { type: "input-json"; json: string };

/** Who runs this loop. Guards, logs and traces go by it. */
export type RunSource =
  | { kind: "main" }
  | { kind: "agent"; agentType: string }
  | { kind: "fork" }
  | { kind: "service"; name: string };

export type LoopEvent =
  | { type: "turn-start"; turn: number }
  | { type: "model-event"; event: ModelEvent }
  | { type: "model-retry"; attempt: number; delayMs: number; reason: string }
  /** What has streamed of this answer is void; it will be asked for again. */
  | { type: "response-discard"; reason: string }
  /** A message stands in the history (and is on its way to disk). */
  | { type: "message-append"; message: Message }
  | { type: "call-start"; call: ToolUseBlock }
  | { type: "call-progress"; toolUseId: string; toolName: string; progress: ToolProgress }
  | {
      type: "call-end";
      call: ToolUseBlock;
      result: ToolResultBlock;
      output?: unknown;
      durationMs: number;
      receipt?: CallReceipt;
    }
  | { type: "call-denied"; call: ToolUseBlock; reason: string }
  | { type: "prefix-change"; reason: string }
  | { type: "compaction-start"; trigger: CompactionTrigger }
  /** `problem`: why the conversation stayed as it was. */
  | {
      type: "compaction-end";
      trigger?: CompactionTrigger;
      promptTokensBefore: number;
      problem?: string;
    }
  | { type: "turn-end"; turn: number; usage: Usage; modelMs: number };

export type CompactionTrigger = "automatic" | "manual" | "too-long";

/** What a tool reports while it runs; surfaces show `text`, programs read `data`. */
export interface ToolProgress {
  readonly text?: string;
  readonly data?: unknown;
}

/** What an agent does, handed up as the progress of the call that started it (SP-23): the `data` of a `ToolProgress`. */
export type AgentActivity =
  | {
      type: "agent-start";
      agentId: string;
      agentType: string;
      description: string;
      prompt: string;
      modelId: string;
      depth: number;
      /** It goes on from an earlier run. */
      resumed: boolean;
      /** Nobody waits for it, from the start. */
      inBackground?: boolean;
    }
  /** Everything but the pieces of a message as they stream. */
  | { type: "agent-event"; agentId: string; event: LoopEvent }
  | {
      type: "agent-end";
      agentId: string;
      status: "completed" | "failed" | "killed";
      totalTokens: number;
      toolUses: number;
      durationMs: number;
      receipt?: ReceiptSummary;
    };

/** The same of an agent in the background: no call of its parent waits for it any longer. */
export interface BackgroundActivity {
  readonly activity: AgentActivity;
  /** The call that had started it. */
  readonly toolUseId: string | undefined;
  /** Absent: the main agent. */
  readonly parentAgentId: string | undefined;
}

/** The activity that an event of a parent's run carries, if it carries one. */
export function agentActivityOf(event: LoopEvent): (AgentActivity & { toolUseId: string }) | undefined {
  if (event.type !== "call-progress" || !isAgentActivity(event.progress.data)) return undefined;
  return { ...event.progress.data, toolUseId: event.toolUseId };
}

function isAgentActivity(data: unknown): data is AgentActivity {
  return (
    typeof data === "object" &&
    data !== null &&
    "agentId" in data &&
    "type" in data &&
    typeof data.type === "string" &&
    data.type.startsWith("agent-")
  );
}

/** Why a loop ended (LO-3). */
export type LoopEnd =
  /** `stopReason` says whether the model was done (`end_turn`) or was cut off (`max_tokens`) or declined (`refusal`). */
  | { reason: "completed"; stopReason: StopReasonOfModel }
  | { reason: "max_turns"; limit: number }
  | { reason: "aborted"; during: "streaming" | "tools" | "between-turns"; why: string }
  | { reason: "model_error"; error: Error }
  | { reason: "context_exhausted"; message: string }
  | { reason: "hook_stopped"; message: string }
  | { reason: "budget_exhausted"; budget: "turns" | "tokens" | "cost" | "time"; message: string };
