/**
 * One run of an agent: what is seen of it while it goes on, and what it comes to. Somebody waits for it, or it is in
 * the background; it can move there at any moment, and is the same run all the while (SP-24).
 */
import { type Scope, throwIfCancelled } from "../base/cancellation.ts";
import { isCancelled, messageOf } from "../base/errors.ts";
import type { Timer } from "../base/world.ts";
import type { AgentActivity, LoopEnd, LoopEvent } from "../contracts/event.ts";
import type { TaskEndStatus } from "../contracts/task.ts";
import { totalTokensOf } from "../contracts/usage.ts";
import { ReceiptBook } from "../loop/receipt-book.ts";
import { createRunRecorder, type RunRecorder } from "../loop/run-recorder.ts";
import type { BackgroundTask } from "../tasks/background.ts";
import { textOfEvent, textOfMessages } from "../tasks/output-text.ts";
import { Watched } from "../tasks/stall-watch.ts";
import { ToolFailure } from "../tools/tool.ts";
import { statusOfRun } from "../transcript/run-status.ts";
import type { AgentHost } from "./agent-host.ts";
import { type CompletedAgent, toAgentResult } from "./agent-result.ts";
import { endInBackground, launchedAgent } from "./background-run.ts";
import type { StartingRun } from "./place-agent.ts";
import { type EndedRun, noteOfEnd, outcomeOf, saidNothing } from "./run-end.ts";
import type { StartedAgent } from "./start-agent.ts";

const keptActivities = 3;
const none: readonly string[] = [];

export class AgentRun extends Watched implements StartingRun {
  readonly #host: AgentHost;
  #scope: Scope | undefined;
  #started: StartedAgent | undefined;
  #recorder: RunRecorder | undefined;
  /** Made with the first call: most agents that wait have made none. */
  #receipts: ReceiptBook | undefined;
  #activities: readonly string[] = none;
  #status: TaskEndStatus = "failed";
  #note: string | undefined;
  #background: BackgroundTask | undefined;
  #moving: Promise<void> | undefined;
  #patience: Timer | undefined;

  constructor(host: AgentHost) {
    super();
    this.#host = host;
  }

  get begun(): boolean {
    return this.#started !== undefined;
  }

  /** For a person, for a task, or for an agent of its own: it is not stuck itself. */
  get isWaiting(): boolean {
    const agentId = this.#started?.agentId;
    if (agentId === undefined) return false;
    return this.#host.isWaiting(agentId) || this.#host.tasks.isWaitedOnBy(agentId);
  }

  placed(scope: Scope): void {
    this.#scope = scope;
  }

  stop(reason: string): void {
    this.#scope?.cancel(reason);
  }

  begin(started: StartedAgent): void {
    const { clock } = this.#host.world;
    this.#started = started;
    this.#recorder = createRunRecorder({ clock, budget: started.context.budget });
    this.#tellStart();
    const { autoBackgroundMs } = this.#host.settings;
    if (autoBackgroundMs !== undefined && this.#host.background !== undefined)
      this.#patience = clock.setTimer(autoBackgroundMs, () => this.toBackground(), { unref: true });
  }

  /** The person, or its time, sends it there. Where that is not possible it stays where it is. */
  toBackground(): void {
    if (this.#started === undefined) return;
    this.moveToBackground().catch((error: unknown) => {
      this.#host.onProblem?.(
        `The agent "${this.#started?.request.description}" stays in the foreground: ${messageOf(error)}`,
      );
    });
  }

  /** Resolves when whoever waited for it has been answered. */
  moveToBackground(): Promise<void> {
    this.#moving ??= this.#move().catch((error: unknown) => {
      this.#moving = undefined;
      throw error;
    });
    return this.#moving;
  }

  async #move(): Promise<void> {
    const { background } = this.#host;
    const { started } = this.#now;
    if (background === undefined)
      throw new ToolFailure(
        "There are no tasks in the background in this session (setting: backgroundTasks).",
      );
    const task = await background.tasks.adopt(started.task);
    // What it did so far, unless that stands there already; from here on every event adds to it.
    const { messages } = started.context.history;
    const known = task.goesOn ? (started.request.earlier?.messages.length ?? 0) : 0;
    task.write(textOfMessages(messages.slice(known)));
    this.#background = task;
    started.context.cancellation.moveBelow(background.scope);
    const output = launchedAgent(this.#host, started, task.outputFile);
    const { content } = toAgentResult(output, { sendMessage: true });
    const facts = { taskId: started.agentId };
    started.request.early?.answer({ content, isError: false, output, facts });
  }

  emit(event: LoopEvent): void {
    this.quietSweeps = 0;
    this.#recorder?.see(event);
    if (event.type === "model-event" || this.#started === undefined) return;
    this.#report({ type: "agent-event", agentId: this.#started.agentId, event });
    this.#background?.write(textOfEvent(event));
    if (event.type === "call-end") {
      this.#receipts ??= new ReceiptBook();
      this.#receipts.see(event);
    } else if (event.type === "call-start")
      this.#activities = this.#activities.slice(1 - keptActivities).concat(event.call.name);
    else if (event.type === "turn-end") this.#tellProgress();
  }

  /** Nothing has happened in it for long. */
  stall(): void {
    const { task } = this.#now.started;
    const progress = task.task.agent?.progress;
    if (progress !== undefined) task.update({ agent: { progress: { ...progress, state: "stalled" } } });
    if (this.#host.settings.stallAction === "abort") this.stop("nothing had happened in it for too long");
  }

  recover(): void {
    if (this.#started?.task.task.agent?.progress.state === "stalled") this.#tellProgress();
  }

  /** Nobody hears of its end before that is on disk. A move that has begun is finished first. */
  async keepEnd(end: LoopEnd): Promise<void> {
    await this.#moving?.catch(() => {});
    const { transcript } = this.#now.started.loop;
    transcript.append({
      ...this.#now.recorder.record(end),
      ...(this.#background && { background: true }),
      ...(this.#receipts && { receipt: this.#receipts.receipt() }),
    });
    await transcript.durable();
  }

  /** What was said stands, whatever came after it; where nothing was, the error is the result (SP-21). */
  conclude(end: LoopEnd): CompletedAgent {
    const { started, recorder } = this.#now;
    this.#status = statusOfRun(end.reason, recorder.text !== "");
    this.#note = noteOfEnd(end, recorder.text !== "");
    if (end.reason === "aborted") throwIfCancelled(started.request.scope);
    if (this.#status !== "completed" && !hasAnswered(recorder))
      throw new ToolFailure(this.#note ?? "The agent failed.", { code: "agent-failed" });
    return this.#completed();
  }

  /** Throws what its parent shall see as an error. */
  concludeFailure(error: unknown): CompletedAgent {
    if (isCancelled(error)) this.#status = "killed";
    this.#note ??= isCancelled(error)
      ? `It was stopped: ${error.reason}.`
      : `It ended before it was done: ${messageOf(error)}`;
    if (isCancelled(error) || !hasAnswered(this.#now.recorder) || error instanceof ToolFailure) throw error;
    return this.#completed();
  }

  /** Whatever it came to. Resolves when it has left, and of one in the background when its end can no longer be lost. */
  async end(): Promise<void> {
    this.#patience?.cancel();
    await this.#moving?.catch(() => {});
    const { started, recorder } = this.#now;
    const { text, toolUses, durationMs } = recorder;
    const totalTokens = totalTokensOf(started.context.budget.usage);
    const ended: EndedRun = {
      status: this.#status,
      text,
      note: this.#note,
      totalTokens,
      toolUses,
      durationMs,
      receipt: this.#receipts?.summary(),
    };
    // The status first: whoever waits for it is not held up by the rest (TA-5).
    const told =
      this.#background && endInBackground(this.#background, started, ended, () => this.#leave(started));
    if (told === undefined) started.task.end(outcomeOf(ended));
    this.#tellEnd(started, ended);
    await (told ?? this.#leave(started));
  }

  /** Afterwards it can be woken, so it lets go of its transcript first. What came too late for it goes its own way. */
  async #leave({ agentId, context, loop, slot, task }: StartedAgent): Promise<void> {
    // What failed to be kept has been told to whoever had to wait for it.
    await loop.transcript.close().catch(() => {});
    slot.free();
    this.#host.live.leave(agentId);
    this.#scope?.release();
    // Of one in the background somebody may still ask what became of it.
    if (this.#background === undefined && this.#host.tasks.get(agentId) === task.task)
      this.#host.tasks.remove(agentId);
    if (this.#host.queue.waiting(agentId) > 0)
      await this.#host.handOver({ context, wasStopped: this.#status === "killed" });
  }

  get #now(): { started: StartedAgent; recorder: RunRecorder } {
    const [started, recorder] = [this.#started, this.#recorder];
    if (started === undefined || recorder === undefined) throw new Error("the agent has not begun");
    return { started, recorder };
  }

  #report(activity: AgentActivity): void {
    const { background } = this.#host;
    const { request } = this.#now.started;
    if (this.#background === undefined && request.report !== undefined) request.report(activity);
    else
      background?.onActivity({
        activity,
        toolUseId: request.toolUseId,
        parentAgentId: request.parent.agent.agentId,
      });
  }

  #tellStart(): void {
    const { agentId, context, request } = this.#now.started;
    this.#report({
      type: "agent-start",
      agentId,
      agentType: request.definition.agentType,
      description: request.description,
      prompt: request.prompt ?? "",
      modelId: context.model.id,
      depth: context.depth,
      resumed: request.earlier !== undefined,
      ...(request.isBackground && { inBackground: true }),
    });
  }

  #tellProgress(): void {
    const { task, context } = this.#now.started;
    const { toolUses } = this.#now.recorder;
    const { usage } = context.budget;
    const lastActivities = this.#activities;
    const summary = task.task.agent?.progress.summary;
    const progress = { toolUses, usage, lastActivities, ...(summary !== undefined && { summary }) };
    task.update({ agent: { progress } });
  }

  #tellEnd({ agentId, request }: StartedAgent, ended: EndedRun): void {
    const { status, totalTokens, toolUses, durationMs, receipt, text } = ended;
    const { agentType, onEnd } = request.definition;
    this.#report({
      type: "agent-end",
      agentId,
      status,
      totalTokens,
      toolUses,
      durationMs,
      ...(receipt && { receipt }),
    });
    try {
      onEnd?.({ agentId, agentType, status, text });
    } catch (error) {
      // A program's own fault there is not the agent's.
      this.#host.onProblem?.(`onEnd of the agent "${agentType}" failed: ${messageOf(error)}`);
    }
  }

  #completed(): CompletedAgent {
    const { started, recorder } = this.#now;
    const { agentId, context, request, warnings } = started;
    const notes = [...(this.#note === undefined ? [] : [this.#note]), ...(request.earlier?.notes ?? [])];
    const { usage } = context.budget;
    const receipt = this.#receipts?.summary();
    return {
      status: "completed",
      agentId,
      agentType: request.definition.agentType,
      prompt: request.prompt ?? "",
      content: [{ type: "text", text: recorder.text === "" ? saidNothing : recorder.text }],
      totalTokens: totalTokensOf(usage),
      totalToolUseCount: recorder.toolUses,
      totalDurationMs: recorder.durationMs,
      usage,
      ...(notes.length > 0 && { note: notes.join(" ") }),
      ...(receipt && { receipt }),
      ...(warnings.length > 0 && { warnings }),
      ...(request.definition.traits?.oneShot && { oneShot: true }),
    };
  }
}

/** It said something or did something: then its parent should know, and can go on with it. */
function hasAnswered({ text, toolUses }: RunRecorder): boolean {
  return text !== "" || toolUses > 0;
}
