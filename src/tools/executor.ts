/**
 * Runs the tool calls of one assistant message, starting each as soon as its block is complete (LO-20).
 *
 * Readers share, writers exclude; order of arrival is order of start; results are handed out in the
 * order of the calls. The end of a call starts whatever has become possible: there is no timer.
 */
import { reasonOf, type Scope, throwIfCancelled } from "../base/cancellation.ts";
import { isCancelled, messageOf } from "../base/errors.ts";
import type { Clock } from "../base/world.ts";
import type { LoopEvent, ToolProgress } from "../contracts/event.ts";
import type { ToolResultBlock, ToolUseBlock } from "../contracts/message.ts";
import { createPatience, type Patience } from "./abandon.ts";
import { answerOf, errorResult, failureText } from "./answer.ts";
import {
  type BoundCall,
  findTool,
  type InvalidInput,
  type Tool,
  ToolFailure,
  type ToolOutcome,
} from "./tool.ts";
import type { ToolContext } from "./tool-context.ts";

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
  readonly tools: readonly Tool[];
  /** The turn's; every call gets a child of it. */
  readonly scope: Scope;
  readonly clock: Clock;
  readonly gate: Gate;
  readonly contextOf: (call: ToolUseBlock, signal: AbortSignal) => ToolContext;
  /** Resolves when the call is on disk. Awaited before a call with effects starts (LO-12). */
  readonly makeDurable: (call: ToolUseBlock) => Promise<void>;
  /** A call with effects has ended: worth keeping at once, so that a crash does not make its outcome unknown. */
  readonly recordResult: (result: ToolResultBlock) => void;
  readonly emit: (event: LoopEvent) => void;
  /** Off: calls start when the message has ended, under the same rules. */
  readonly startWhileStreaming: boolean;
  readonly limits: ConcurrencyLimits;
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
  /** Why it was stopped, in words for the model; set before its scope is cancelled. */
  stopped: string | undefined;
}

export function createExecutor(options: ExecutorOptions): Executor {
  const entries: Entry[] = [];
  const executing = new Set<Entry>();
  /** Counted, not searched: one message may hold thousands of calls. */
  const inLane: Record<Tool["lane"], number> = { tool: 0, agent: 0 };
  let exclusiveRuns = false;
  let nextToStart = 0;
  let nextToYield = 0;
  let wholeMessageKnown = false;
  let discarded = false;
  /** Set once nothing more may start: what queued calls are answered with. */
  let refusal: string | undefined;
  let onSettled: (() => void) | undefined;

  function add(call: ToolUseBlock, problem?: string): void {
    const tool = findTool(options.tools, call.name);
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
      stopped: undefined,
    };
    entries.push(entry);
    if (tool === undefined) complete(entry, errorResult(call, unknownToolText(call.name, options.tools)));
    else if (problem !== undefined) complete(entry, errorResult(call, problem));
    else if (bound?.ok === false) complete(entry, errorResult(call, bound.problem));
    advance();
  }

  /** Starts, in order of arrival, every call that can start now. */
  function advance(): void {
    if (options.scope.cancelled) refusal ??= `Not run: ${reasonOf(options.scope.signal)}.`;
    for (let entry = entries[nextToStart]; entry !== undefined; entry = entries[nextToStart]) {
      if (entry.state === "queued") {
        if (refusal !== undefined) complete(entry, errorResult(entry.call, refusal));
        else if (mayStart(entry)) void start(entry);
        else return;
      }
      nextToStart++;
    }
  }

  function mayStart({ tool, bound }: Entry): boolean {
    if (tool === undefined || bound === undefined) return false;
    if (!wholeMessageKnown && (tool.needsWholeMessage || !options.startWhileStreaming)) return false;
    if (!bound.isConcurrencySafe) return executing.size === 0;
    return !exclusiveRuns && inLane[tool.lane] < options.limits[tool.lane];
  }

  function enter(entry: Entry): void {
    executing.add(entry);
    if (entry.tool) inLane[entry.tool.lane]++;
    exclusiveRuns = entry.bound?.isConcurrencySafe === false;
  }

  function leave(entry: Entry): void {
    executing.delete(entry);
    if (entry.tool) inLane[entry.tool.lane]--;
    exclusiveRuns = false;
  }

  // Never rejects: whatever happens in a call becomes its result.
  async function start(entry: Entry): Promise<void> {
    entry.state = "executing";
    entry.startedMs = options.clock.monotonicMs();
    entry.scope = options.scope.child();
    enter(entry);
    let result: ToolResultBlock;
    let failsSiblings = false;
    try {
      const outcome = await execute(entry, entry.scope);
      failsSiblings = outcome.failsSiblings ?? false;
      entry.output = outcome.output;
      result = await answerOf({
        call: entry.call,
        tool: entry.tool,
        outcome,
        context: contextOf(entry, entry.scope),
      });
    } catch (error) {
      failsSiblings = error instanceof ToolFailure && error.failsSiblings;
      result = errorResult(
        entry.call,
        wasStopped(entry.scope, error) ? stoppedText(entry, error) : failureText(error),
        contextOf(entry, entry.scope),
      );
    }
    entry.scope.release();
    leave(entry);
    entry.durationMs = options.clock.monotonicMs() - entry.startedMs;
    keepResult(entry, result);
    if (failsSiblings) stopSiblings(entry);
    complete(entry, result);
    advance();
  }

  async function execute(entry: Entry, scope: Scope): Promise<ToolOutcome> {
    const patience = createPatience(options.clock, scope.signal);
    try {
      return await runCall(entry, { scope, patience });
    } finally {
      patience.release();
    }
  }

  async function runCall(
    entry: Entry,
    { scope, patience }: { scope: Scope; patience: Patience },
  ): Promise<ToolOutcome> {
    const { call, tool, bound } = entry;
    if (tool === undefined || bound === undefined)
      throw new Error(`${call.name} was started without being bound`);
    const context = contextOf(entry, scope);
    const verdict = await patience.waitFor(options.gate({ tool, call, bound, context }));
    if (!verdict.allowed) {
      options.emit({ type: "call-denied", call, reason: verdict.message });
      return { content: verdict.message, isError: true, output: undefined };
    }
    throwIfCancelled(scope.signal);
    if (!bound.isReadOnly) {
      await options.makeDurable(call);
      throwIfCancelled(scope.signal);
    }
    entry.begun = true;
    options.emit({ type: "call-start", call });
    const report = (progress: ToolProgress) => {
      // What an abandoned call still says is of no interest.
      if (entry.state !== "executing") return;
      options.emit({ type: "call-progress", toolUseId: call.id, toolName: tool.name, progress });
    };
    return await patience.waitFor(
      bound.run({ ...context, report, ...(verdict.targets && { judgedTargets: verdict.targets }) }),
    );
  }

  /** The message that carries the result will be recorded too, so a failure here loses nothing. */
  function keepResult(entry: Entry, result: ToolResultBlock): void {
    if (entry.bound?.isReadOnly !== false || discarded) return;
    try {
      options.recordResult(result);
    } catch {
      // Whoever records the message is told.
    }
  }

  function contextOf(entry: Entry, scope: Scope): ToolContext {
    return options.contextOf(entry.call, scope.signal);
  }

  function complete(entry: Entry, result: ToolResultBlock): void {
    entry.result = result;
    entry.state = "completed";
    handOut();
  }

  /** LO-23: in the order of the calls, whatever the order of completion. */
  function handOut(): void {
    for (let entry = entries[nextToYield]; entry?.state === "completed"; entry = entries[nextToYield]) {
      entry.state = "yielded";
      nextToYield++;
      const { call, result, output, durationMs } = entry;
      if (result && !discarded) options.emit({ type: "call-end", call, result, output, durationMs });
    }
    if (nextToYield === entries.length) onSettled?.();
  }

  /** LO-24: commands of one message build on each other. */
  function stopSiblings(failed: Entry): void {
    const cause = describeCall(failed.call);
    refusal ??= `Not run: ${cause} failed, and it came before this call in the same message.`;
    for (const entry of executing) {
      if (entry.tool === failed.tool) stop(entry, `Stopped: ${cause} failed in the same message.`);
    }
  }

  function stop(entry: Entry, text: string): void {
    entry.stopped ??= text;
    entry.scope?.cancel(text);
  }

  return {
    add,
    messageEnded() {
      wholeMessageKnown = true;
      advance();
    },
    async results() {
      while (nextToYield < entries.length) {
        await new Promise<void>((resolve) => {
          onSettled = resolve;
        });
      }
      return entries.flatMap((entry) => (entry.result ? [entry.result] : []));
    },
    interrupt(why = "the user interrupted") {
      const notBegunText = `Not run: ${why} before this call started.`;
      const sentence = why.charAt(0).toUpperCase() + why.slice(1);
      const interruptedText = `${sentence} before this call finished. What it had done until then may stand.`;
      refusal ??= notBegunText;
      for (const entry of [...executing]) {
        if (!entry.begun) stop(entry, notBegunText);
        else if (entry.tool?.interruptBehavior === "cancel") stop(entry, interruptedText);
      }
      advance();
    },
    async discard(reason) {
      discarded = true;
      refusal ??= reason;
      for (const entry of [...executing]) stop(entry, reason);
      advance();
      await this.results();
    },
  };
}

/** `bind` promises not to throw, but a tool comes from anywhere, and a call without a result would end the run. */
function bindCall(tool: Tool, call: ToolUseBlock): BoundCall | InvalidInput {
  try {
    return tool.bind(call.input);
  } catch (error) {
    return { ok: false, problem: failureText(error) };
  }
}

/** A tool may turn its cancellation into an error of its own kind; one it wrote for the model is kept. */
function wasStopped(scope: Scope, error: unknown): boolean {
  return isCancelled(error) || (scope.cancelled && !(error instanceof ToolFailure));
}

function stoppedText({ stopped, scope }: Entry, error: unknown): string {
  const reason = scope?.cancelled ? reasonOf(scope.signal) : messageOf(error);
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
