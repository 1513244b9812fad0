/** One run of an agent: what is seen of it while it goes on, and what it comes to. */
import { throwIfCancelled } from "../base/cancellation.ts";
import { isCancelled, messageOf } from "../base/errors.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import type { TaskEndStatus } from "../contracts/task.ts";
import { totalTokensOf } from "../contracts/usage.ts";
import type { Listener } from "../loop/loop-options.ts";
import { createRunRecorder, type RunRecorder } from "../loop/run-recorder.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { AgentHost } from "./agent-host.ts";
import type { CompletedAgent } from "./agent-result.ts";
import type { StartedAgent } from "./start-agent.ts";

const keptActivities = 3;
const none: readonly string[] = [];

export class AgentRun implements Listener {
  readonly #host: AgentHost;
  #started: StartedAgent | undefined;
  #recorder: RunRecorder | undefined;
  #activities: readonly string[] = none;
  #status: TaskEndStatus = "failed";
  #error: string | undefined;

  constructor(host: AgentHost) {
    this.#host = host;
  }

  get begun(): boolean {
    return this.#started !== undefined;
  }

  begin(started: StartedAgent): void {
    const { clock } = this.#host.world;
    this.#started = started;
    this.#recorder = createRunRecorder({ clock, budget: started.context.budget });
    this.#tellStart();
  }

  emit(event: LoopEvent): void {
    this.#recorder?.see(event);
    if (event.type === "model-event" || this.#started === undefined) return;
    const { agentId, request } = this.#started;
    request.report?.({ type: "agent-event", agentId, event });
    if (event.type === "call-start")
      this.#activities = this.#activities.slice(1 - keptActivities).concat(event.call.name);
    else if (event.type === "turn-end") this.#tellProgress();
  }

  /** Nobody hears of its end before that is on disk. */
  async keepEnd(end: LoopEnd): Promise<void> {
    const { transcript } = this.#now.started.loop;
    transcript.append(this.#now.recorder.record(end));
    await transcript.durable();
  }

  /** What was said stands, whatever came after it; where nothing was, the error is the result (SP-21). */
  conclude(end: LoopEnd): CompletedAgent {
    if (end.reason === "aborted") throwIfCancelled(this.#now.started.request.scope);
    const { status, note } = judgeEnd(end);
    this.#status = status;
    if (status !== "completed" && !hasAnswered(this.#now.recorder))
      throw new ToolFailure(note ?? "The agent failed.", { code: "agent-failed" });
    return completed(this.#now.started, this.#now.recorder, note);
  }

  /** Throws what its parent shall see as an error. */
  concludeFailure(error: unknown): CompletedAgent {
    if (isCancelled(error)) this.#status = "killed";
    this.#error = messageOf(error);
    if (isCancelled(error) || !hasAnswered(this.#now.recorder) || error instanceof ToolFailure) throw error;
    return completed(
      this.#now.started,
      this.#now.recorder,
      `It ended before it was done: ${messageOf(error)}`,
    );
  }

  /** Whatever it came to. */
  end(): void {
    const { agentId, context, request, task } = this.#now.started;
    const { agentType, onEnd } = request.definition;
    const { text, toolUses, durationMs } = this.#now.recorder;
    const status = this.#status;
    task.end({ status, result: text, ...(this.#error !== undefined && { error: this.#error }) });
    const totalTokens = totalTokensOf(context.budget.usage);
    request.report?.({ type: "agent-end", agentId, status, totalTokens, toolUses, durationMs });
    try {
      onEnd?.({ agentId, agentType, status, text });
    } catch (error) {
      // A program's own fault there is not the agent's.
      this.#host.onProblem?.(`onEnd of the agent "${agentType}" failed: ${messageOf(error)}`);
    }
  }

  get #now(): { started: StartedAgent; recorder: RunRecorder } {
    const [started, recorder] = [this.#started, this.#recorder];
    if (started === undefined || recorder === undefined) throw new Error("the agent has not begun");
    return { started, recorder };
  }

  #tellStart(): void {
    const { agentId, context, request } = this.#now.started;
    request.report?.({
      type: "agent-start",
      agentId,
      agentType: request.definition.agentType,
      description: request.description,
      prompt: request.prompt,
      modelId: context.model.id,
      depth: context.depth,
      resumed: request.earlier !== undefined,
    });
  }

  #tellProgress(): void {
    const { task, context } = this.#now.started;
    const { toolUses } = this.#now.recorder;
    const { usage } = context.budget;
    task.update({ agent: { progress: { toolUses, usage, lastActivities: this.#activities } } });
  }
}

/** It said something or did something: then its parent should know, and can go on with it. */
function hasAnswered({ text, toolUses }: RunRecorder): boolean {
  return text !== "" || toolUses > 0;
}

interface Outcome {
  readonly status: TaskEndStatus;
  readonly note?: string;
}

function judgeEnd(end: LoopEnd): Outcome {
  switch (end.reason) {
    case "completed":
      return { status: "completed", ...noteOfStop(end.stopReason) };
    case "max_turns":
      return {
        status: "completed",
        note: `It ended at its limit of ${end.limit} turns: what it said last may not be its whole answer.`,
      };
    case "budget_exhausted":
      return { status: "completed", note: `It ended before it was done. ${end.message}` };
    case "aborted":
      return { status: "killed", note: `It was stopped: ${end.why}.` };
    case "model_error":
      return { status: "failed", note: `It ended before it was done: ${end.error.message}` };
    case "context_exhausted":
    case "hook_stopped":
      return { status: "failed", note: `It ended before it was done: ${end.message}` };
  }
}

function noteOfStop(stopReason: Extract<LoopEnd, { reason: "completed" }>["stopReason"]): { note?: string } {
  if (stopReason === "max_tokens")
    return { note: "Its last message was cut off at the limit of output tokens." };
  return stopReason === "refusal" ? { note: "The model declined to go on." } : {};
}

function completed(started: StartedAgent, recorder: RunRecorder, note: string | undefined): CompletedAgent {
  const { agentId, context, request, warnings } = started;
  const notes = [...(note === undefined ? [] : [note]), ...(request.earlier?.notes ?? [])];
  const text = recorder.text === "" ? "The agent ended without saying anything." : recorder.text;
  const { usage } = context.budget;
  return {
    status: "completed",
    agentId,
    agentType: request.definition.agentType,
    prompt: request.prompt,
    content: [{ type: "text", text }],
    totalTokens: totalTokensOf(usage),
    totalToolUseCount: recorder.toolUses,
    totalDurationMs: recorder.durationMs,
    usage,
    ...(notes.length > 0 && { note: notes.join(" ") }),
    ...(warnings.length > 0 && { warnings }),
    ...(request.definition.traits?.oneShot && { oneShot: true }),
  };
}
