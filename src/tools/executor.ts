/**
 * Runs the tool calls of one assistant message, starting each as soon as its block is complete (LO-20).
 *
 * Readers share, writers exclude; order of arrival is order of start; results are handed out in the
 * order of the calls. The end of a call starts whatever has become possible: there is no timer.
 */
import { reasonOf, type Scope, throwIfCancelled } from "../base/cancellation.ts";
import { isCancelled, messageOf } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import type { LoopEvent, ToolProgress } from "../contracts/event.ts";
import type { ToolResultBlock, ToolUseBlock } from "../contracts/message.ts";
import type { CallFacts, CallReceipt } from "../contracts/receipt.ts";
import { answerOf, errorResult, failureText } from "./answer.ts";
import { createPatience, type Patience } from "./patience.ts";
import { receiptOf } from "./receipt-of-call.ts";
import { type BoundCall, findTool, type InvalidInput, type Tool, ToolFailure } from "./tool.ts";
import { type AgentScope, type CallDetails, createToolContext, type ToolContext } from "./tool-context.ts";
import type { ToolOutcome } from "./tool-outcome.ts";

/** May this call run? Handed in from above, asked for every call. */
export type Gate = (options: {
  tool: Tool;
  call: ToolUseBlock;
  bound: BoundCall;
  context: ToolContext;
}) => Promise<GateVerdict>;

export type GateVerdict =
  /** `targets`: where the paths of the call led when it was judged. */
  | { readonly allowed: true; readonly targets?: readonly string[] }
  | { readonly allowed: false; readonly message: string };

export interface ExecutorOptions {
  readonly run: ExecutorRun;
  /** The turn's; every call gets a child of it. */
  readonly scope: Scope;
  readonly watcher: CallWatcher;
}

/** What is the same for all messages of an agent. */
export interface ExecutorRun {
  readonly world: World;
  readonly agent: AgentScope;
  readonly tools: readonly Tool[];
  readonly gate: Gate;
  readonly limits: ExecutorLimits;
}

export interface ExecutorLimits {
  readonly concurrency: ConcurrencyLimits;
  /** Off: calls start when the message has ended, under the same rules. */
  readonly startCallsWhileStreaming: boolean;
}

export interface CallWatcher {
  emit(event: LoopEvent): void;
  /** Resolves when the call is on disk. Awaited before a call with effects starts (LO-12). */
  makeDurable(call: ToolUseBlock): Promise<void>;
  /** A call with effects has ended: worth keeping at once, so that a crash does not make its outcome unknown. */
  recordResult(result: ToolResultBlock): void;
}

/** How many safe calls run at once, per lane (LO-27). */
export type ConcurrencyLimits = Readonly<Record<Tool["lane"], number>>;

export interface Executor {
  /** A call whose block is complete. `problem`: its input could not be read, so it is answered, not run. */
  add(call: ToolUseBlock, problem?: string): void;
  /** The whole message is known. */
  messageEnded(): void;
  /** All results in the order of the calls, when all calls have ended. */
  results(): Promise<ToolResultBlock[]>;
  /**
   * The user interrupts, or what `why` says (LO-25): what may be cancelled ends now, what blocks goes on, the rest
   * is not started.
   */
  interrupt(why?: string): void;
  /** The response is thrown away (LO-26): stops what it started and drops all results. */
  discard(reason: string): Promise<void>;
}

interface Entry {
  readonly call: ToolUseBlock;
  readonly tool: Tool | undefined;
  readonly bound: BoundCall | undefined;
  state: "queued" | "executing" | "completed" | "yielded";
  scope: Scope | undefined;
  /** It is at work itself: until then it only waits for permission, or for the disk. */
  begun: boolean;
  startedMs: number;
  durationMs: number;
  result: ToolResultBlock | undefined;
  output: unknown;
  outcome: CallReceipt["outcome"];
  facts: CallFacts | undefined;
  /** Why it was stopped, in words for the model; set before its scope is cancelled. */
  stopped: string | undefined;
}

type Admitted =
  | { readonly allowed: true; readonly running: Promise<ToolOutcome> }
  | { readonly allowed: false; readonly outcome: ToolOutcome };

export function createExecutor(options: ExecutorOptions): Executor {
  return new StreamingExecutor(options);
}

/** A class, since every agent that waits for its model has one. */
class StreamingExecutor implements Executor {
  readonly #run: ExecutorRun;
  readonly #scope: Scope;
  readonly #watcher: CallWatcher;
  readonly #entries: Entry[] = [];
  /** Counted, not searched: one message may hold thousands of calls. */
  readonly #running: Record<Tool["lane"], number> = { tool: 0, agent: 0 };
  #exclusiveRuns = false;
  #nextToStart = 0;
  #nextToYield = 0;
  #wholeMessageKnown = false;
  #discarded = false;
  /** Set once nothing more may start: what queued calls are answered with. */
  #refusal: string | undefined;
  #onSettled: (() => void) | undefined;

  constructor({ run, scope, watcher }: ExecutorOptions) {
    this.#run = run;
    this.#scope = scope;
    this.#watcher = watcher;
  }

  add(call: ToolUseBlock, problem?: string): void {
    const { tools } = this.#run;
    const tool = findTool(tools, call.name);
    const bound = problem === undefined && tool !== undefined ? bindCall(tool, call) : undefined;
    const entry: Entry = {
      call,
      tool,
      bound: bound?.ok ? bound : undefined,
      state: "queued",
      scope: undefined,
      begun: false,
      startedMs: 0,
      durationMs: 0,
      result: undefined,
      output: undefined,
      outcome: "failed",
      facts: undefined,
      stopped: undefined,
    };
    this.#entries.push(entry);
    if (tool === undefined) this.#complete(entry, errorResult(call, unknownToolText(call.name, tools)));
    else if (problem !== undefined) this.#complete(entry, errorResult(call, problem));
    else if (bound?.ok === false) this.#complete(entry, errorResult(call, bound.problem));
    this.#advance();
  }

  messageEnded(): void {
    this.#wholeMessageKnown = true;
    this.#advance();
  }

  async results(): Promise<ToolResultBlock[]> {
    while (this.#nextToYield < this.#entries.length) {
      await new Promise<void>((resolve) => {
        this.#onSettled = resolve;
      });
    }
    return this.#entries.flatMap((entry) => (entry.result ? [entry.result] : []));
  }

  interrupt(why = "the user interrupted"): void {
    const notBegunText = `Not run: ${why} before this call started.`;
    const sentence = why.charAt(0).toUpperCase() + why.slice(1);
    const interruptedText = `${sentence} before this call finished. What it had done until then may stand.`;
    this.#refusal ??= notBegunText;
    for (const entry of this.#executing()) {
      if (!entry.begun) stop(entry, notBegunText, why);
      else if (entry.tool?.interruptBehavior === "cancel") stop(entry, interruptedText, why);
    }
    this.#advance();
  }

  async discard(reason: string): Promise<void> {
    this.#discarded = true;
    this.#refusal ??= reason;
    for (const entry of this.#executing()) stop(entry, reason, reason);
    this.#advance();
    await this.results();
  }

  #executing(): Entry[] {
    return this.#entries.filter(({ state }) => state === "executing");
  }

  /** Starts, in order of arrival, every call that can start now. */
  #advance(): void {
    if (this.#scope.cancelled) this.#refusal ??= `Not run: ${reasonOf(this.#scope)}.`;
    for (;;) {
      const entry = this.#entries[this.#nextToStart];
      if (entry === undefined) return;
      const waits = entry.state === "queued";
      if (waits && this.#refusal === undefined && !this.#mayStart(entry)) return;
      // Counted first: what a call sets off, an interrupt for one, may come back here.
      this.#nextToStart++;
      if (!waits) continue;
      if (this.#refusal === undefined) void this.#start(entry);
      else {
        entry.outcome = "stopped";
        this.#complete(entry, errorResult(entry.call, this.#refusal));
      }
    }
  }

  #mayStart({ tool, bound }: Entry): boolean {
    if (tool === undefined || bound === undefined) return false;
    const { startCallsWhileStreaming, concurrency } = this.#run.limits;
    if (!this.#wholeMessageKnown && (tool.needsWholeMessage || !startCallsWhileStreaming)) return false;
    if (!bound.isConcurrencySafe) return this.#running.tool + this.#running.agent === 0;
    return !this.#exclusiveRuns && this.#running[tool.lane] < concurrency[tool.lane];
  }

  // Never rejects: whatever happens in a call becomes its result.
  async #start(entry: Entry): Promise<void> {
    const { clock } = this.#run.world;
    const { call, tool } = entry;
    const scope = this.#enter(entry);
    const patience = createPatience(clock, scope);
    let result: ToolResultBlock;
    let failsSiblings = false;
    try {
      // Done with when the call begins, so that only one frame waits for it.
      const admitted = await this.#admit(entry, scope, patience);
      const outcome = admitted.allowed ? await patience.waitForOutcome(admitted.running) : admitted.outcome;
      failsSiblings = outcome.failsSiblings ?? false;
      entry.output = outcome.output;
      entry.facts = outcome.facts;
      result = await answerOf({ call, tool, outcome, context: this.#contextOf(call, scope) });
      entry.outcome = !admitted.allowed ? "denied" : outcome.isError ? "failed" : "done";
    } catch (error) {
      failsSiblings = error instanceof ToolFailure && error.failsSiblings;
      const context = this.#contextOf(call, scope);
      if (wasStopped(scope, error)) entry.outcome = "stopped";
      const text = entry.outcome === "stopped" ? stoppedText(entry, error) : failureText(error);
      result = errorResult(call, text, context);
      entry.facts ??= subjectOf(entry, context);
    }
    patience.release();
    this.#leave(entry);
    entry.durationMs = clock.monotonicMs() - entry.startedMs;
    this.#keepResult(entry, result);
    if (failsSiblings) this.#stopSiblings(entry);
    this.#complete(entry, result);
    this.#advance();
  }

  #enter(entry: Entry): Scope {
    const scope = this.#scope.child();
    entry.state = "executing";
    entry.startedMs = this.#run.world.clock.monotonicMs();
    entry.scope = scope;
    if (entry.tool) this.#running[entry.tool.lane]++;
    this.#exclusiveRuns = entry.bound?.isConcurrencySafe === false;
    return scope;
  }

  #leave(entry: Entry): void {
    entry.scope?.release();
    if (entry.tool) this.#running[entry.tool.lane]--;
    this.#exclusiveRuns = false;
  }

  /** Asks for permission, makes sure that the call is known before it has effects, and begins it. */
  async #admit(entry: Entry, scope: Scope, patience: Patience): Promise<Admitted> {
    const { call, tool, bound } = entry;
    if (tool === undefined || bound === undefined)
      throw new Error(`${call.name} was started without being bound`);
    const verdict = await patience.waitFor(
      this.#run.gate({ tool, call, bound, context: this.#contextOf(call, scope) }),
    );
    if (!verdict.allowed) {
      this.#watcher.emit({ type: "call-denied", call, reason: verdict.message });
      return { allowed: false, outcome: { content: verdict.message, isError: true, output: undefined } };
    }
    throwIfCancelled(scope);
    if (!bound.isReadOnly) {
      await this.#watcher.makeDurable(call);
      throwIfCancelled(scope);
    }
    const report = (progress: ToolProgress) => this.#report(entry, progress);
    const context = this.#contextOf(call, scope, { report, judgedTargets: verdict.targets, early: patience });
    entry.begun = true;
    this.#watcher.emit({ type: "call-start", call });
    // Whoever heard of it may have stopped it: no tool begins under a signal that has fired.
    throwIfCancelled(scope);
    return { allowed: true, running: bound.run(context) };
  }

  #report(entry: Entry, progress: ToolProgress): void {
    // What an abandoned call still says is of no interest.
    if (entry.state !== "executing") return;
    const { id: toolUseId, name } = entry.call;
    this.#watcher.emit({ type: "call-progress", toolUseId, toolName: entry.tool?.name ?? name, progress });
  }

  #contextOf(call: ToolUseBlock, scope: Scope, more?: CallDetails): ToolContext {
    const { world, agent } = this.#run;
    const { report, judgedTargets, early } = more ?? {};
    return createToolContext({ world, agent, scope, toolUseId: call.id, report, judgedTargets, early });
  }

  /** The message that carries the result will be recorded too, so a failure here loses nothing. */
  #keepResult(entry: Entry, result: ToolResultBlock): void {
    if (entry.bound?.isReadOnly !== false || this.#discarded) return;
    try {
      this.#watcher.recordResult(result);
    } catch {
      // Whoever records the message is told.
    }
  }

  #complete(entry: Entry, result: ToolResultBlock): void {
    entry.result = result;
    entry.state = "completed";
    this.#handOut();
  }

  /** LO-23: in the order of the calls, whatever the order of completion. */
  #handOut(): void {
    for (;;) {
      const entry = this.#entries[this.#nextToYield];
      if (entry?.state !== "completed") break;
      entry.state = "yielded";
      this.#nextToYield++;
      const { call, result, output, durationMs } = entry;
      if (result && !this.#discarded) {
        const receipt = receiptOf(entry);
        this.#watcher.emit({ type: "call-end", call, result, output, durationMs, receipt });
      }
    }
    if (this.#nextToYield === this.#entries.length) this.#onSettled?.();
  }

  /** LO-24: commands of one message build on each other. */
  #stopSiblings(failed: Entry): void {
    const cause = describeCall(failed.call);
    this.#refusal ??= `Not run: ${cause} failed, and it came before this call in the same message.`;
    for (const entry of this.#executing())
      if (entry.tool === failed.tool)
        stop(entry, `Stopped: ${cause} failed in the same message.`, `${cause} failed in the same message`);
  }
}

/** `text` is for the model that made the call, `why` for what runs below it: an agent says it in words of its own. */
function stop(entry: Entry, text: string, why: string): void {
  entry.stopped ??= text;
  entry.scope?.cancel(why);
}

/** `bind` promises not to throw, but a tool comes from anywhere, and a call without a result would end the run. */
function bindCall(tool: Tool, call: ToolUseBlock): BoundCall | InvalidInput {
  try {
    return tool.bind(call.input);
  } catch (error) {
    return { ok: false, problem: failureText(error) };
  }
}

/** What did not begin is about nothing. That a tool cannot say what it is about must not cost the call its answer. */
function subjectOf({ begun, bound }: Entry, context: ToolContext): CallFacts | undefined {
  try {
    return begun ? bound?.subject?.(context) : undefined;
  } catch {
    return undefined;
  }
}

/** A tool may turn its cancellation into an error of its own kind; one it wrote for the model is kept. */
function wasStopped(scope: Scope, error: unknown): boolean {
  return isCancelled(error) || (scope.cancelled && !(error instanceof ToolFailure));
}

function stoppedText({ stopped, scope }: Entry, error: unknown): string {
  const reason = scope?.cancelled ? reasonOf(scope) : messageOf(error);
  return (
    stopped ?? `This call was stopped before it finished: ${reason}. What it had done until then may stand.`
  );
}

/** The call in a few words: its name and the first text of its input. */
function describeCall(call: ToolUseBlock): string {
  const first = Object.values(call.input).find((value) => typeof value === "string");
  if (first === undefined) return call.name;
  const line = first.split("\n", 1)[0] ?? "";
  return `${call.name} (${line.length > 120 ? `${line.slice(0, 120)}...` : line})`;
}

function unknownToolText(name: string, tools: readonly Tool[]): string {
  return `There is no tool named "${name}". The tools are: ${tools.map((tool) => tool.name).join(", ")}.`;
}
