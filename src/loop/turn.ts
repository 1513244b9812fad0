/** One turn: a request, its answer, the calls in it, and the user message that carries their results (LO-2). */
import { reasonOf, type Scope, sleep } from "../base/cancellation.ts";
import { isCancelled, messageOf } from "../base/errors.ts";
import { neutralizeTags } from "../base/markup.ts";
import type { LoopEnd } from "../contracts/event.ts";
import type { Block, Message, StopReasonOfModel } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";
import { addUsage, noUsage, promptTokensOf, type Usage } from "../contracts/usage.ts";
import { ModelError } from "../model/model-error.ts";
import { mayAskAgain, retryDelayMs } from "../model/retry.ts";
import { type Admission, admitRequest } from "./admission.ts";
import { Attempt } from "./attempt.ts";
import type { BudgetEnd } from "./budget-limit.ts";
import type { LoopOptions } from "./loop-options.ts";
import type { Response } from "./response.ts";

export type TurnEnd =
  /** The model called no tool. */
  | { kind: "answer"; message: Message; stopReason: StopReasonOfModel }
  /** Results, or something from the queue, stand at the end of the history: ask again. */
  | { kind: "go-on" }
  | { kind: "aborted"; during: Extract<LoopEnd, { reason: "aborted" }>["during"]; why: string }
  | { kind: "too-long"; error: Error }
  /** The answer broke off, and the budget has no room for asking again. */
  | { kind: "exhausted"; end: BudgetEnd }
  | { kind: "failed"; error: Error };

/** What one turn leaves for the next. */
export interface TurnState extends Admission {
  /** Tokens that stood before the model in the last request. */
  promptTokens: number;
  /** Of the present turn, all attempts together. */
  usage: Usage;
  modelMs: number;
  /** Since the last request that went well. */
  forcedCompactions: number;
}

export function createTurnState(): TurnState {
  return {
    promptTokens: 0,
    usage: noUsage,
    modelMs: 0,
    forcedCompactions: 0,
    reservation: undefined,
  };
}

export function beginTurn(state: TurnState): void {
  state.usage = noUsage;
  state.modelMs = 0;
}

/** The parts of a turn that its steps share. */
interface Turn {
  readonly loop: LoopOptions;
  readonly state: TurnState;
  readonly scope: Scope;
}

export async function runTurn(loop: LoopOptions, state: TurnState): Promise<TurnEnd> {
  const turn: Turn = { loop, state, scope: loop.scope.child() };
  try {
    for (let tries = 1; ; tries++) {
      // Everything that this request will say must be on disk before it is said (TA-22).
      await loop.transcript.durable();
      const attempt = new Attempt(loop, turn.scope);
      let response: Response;
      try {
        response = await attempt.ask({ isRetry: tries > 1 });
        charge(turn, attempt, response);
        if (stands(response)) return await conclude(turn, attempt, response);
        await attempt.executor.discard("the message it stood in was cut off and is asked for again");
      } finally {
        attempt.release();
      }
      const end = await endOrWait(turn, { error: errorOf(response), began: attempt.began, tries });
      if (end) return end;
    }
  } finally {
    turn.scope.release();
  }
}

/** An answer broke off: the end of the turn, unless it is worth asking again, after a while. */
async function endOrWait(
  turn: Turn,
  { error, began, tries }: { error: Error; began: boolean; tries: number },
): Promise<TurnEnd | undefined> {
  const { loop } = turn;
  if (error instanceof ModelError && error.kind === "prompt-too-long") return { kind: "too-long", error };
  // What fails before it begins was asked for again by the gateway, as long as there was hope.
  if (!began || !mayAskAgain(error, tries)) return { kind: "failed", error };
  loop.listener.emit({ type: "response-discard", reason: error.message });
  const exhausted = admitRequest(loop, turn.state, { beginsTurn: false });
  if (exhausted) return { kind: "exhausted", end: exhausted };
  const delayMs = retryDelayMs({ tries, random: loop.world.random });
  loop.listener.emit({ type: "model-retry", attempt: tries, delayMs, reason: error.message });
  return (await waited(turn, delayMs)) ? undefined : aborted(turn, "streaming");
}

function errorOf({ brokenBy }: Response): Error {
  return brokenBy instanceof Error ? brokenBy : new Error(messageOf(brokenBy));
}

/**
 * Whether what was received stays: a whole message; what came before an interrupt; and a message that was cut
 * after a call had been received whole, since that call may already be at work (LO-12, LO-26).
 */
function stands(response: Response): boolean {
  return (
    response.brokenBy === undefined ||
    isCancelled(response.brokenBy) ||
    toolUsesOf(response.content).length > 0
  );
}

async function conclude(
  turn: Turn,
  { executor, messageUuid }: Attempt,
  response: Response,
): Promise<TurnEnd> {
  const { loop } = turn;
  executor.messageEnded();
  const stoppedWhileStreaming = isCancelled(response.brokenBy);
  const message = stoppedWhileStreaming && !saysSomething(response.content) ? undefined : record();
  const results = await executor.results();
  if (message && results.length === 0 && !stoppedWhileStreaming) {
    // The provider pauses a long turn; asked again, it goes on by itself.
    if (response.stopReason === "pause_turn") return { kind: "go-on" };
    return { kind: "answer", message, stopReason: response.stopReason };
  }

  const mustEnd = turn.scope.cancelled || loop.interrupt.requested === "stop";
  const queued = mustEnd ? [] : loop.queue.take(loop.agent.agentId);
  const content: Block[] = [...results, ...queued.flatMap((item) => item.content)];
  if (loop.reminder !== undefined && !mustEnd) content.push(reminderBlock(loop.reminder));
  if (content.length > 0) {
    const queueItems = queued.map((item) => item.uuid);
    loop.listener.emit({
      type: "message-append",
      message: loop.history.append({ role: "user", content, queueItems }),
    });
    // On disk the items leave the queue with this very message, so neither a crash before nor one after loses them.
    loop.queue.acknowledge(queued);
  }
  if (mustEnd || content.length === 0) return aborted(turn, stoppedWhileStreaming ? "streaming" : "tools");
  loop.interrupt.clear();
  return { kind: "go-on" };

  function record(): Message {
    const { id, model, content, stopReason, usage } = response;
    const appended = loop.history.append({
      uuid: messageUuid,
      role: "assistant",
      content,
      response: { id, model, stopReason, usage },
    });
    loop.listener.emit({ type: "message-append", message: appended });
    return appended;
  }
}

function reminderBlock(text: string): Block {
  return { type: "text", text: `<system-reminder>\n${neutralizeTags(text)}\n</system-reminder>` };
}

/** A message of nothing but thinking cannot be sent back. */
function saysSomething(content: readonly Block[]): boolean {
  return content.some((block) => block.type === "text" || block.type === "tool_use");
}

function charge({ loop, state }: Turn, { sentCount, modelMs }: Attempt, response: Response): void {
  state.modelMs += modelMs;
  state.reservation?.release();
  if (response.id === "") return;
  const { model, usage } = response;
  loop.history.sentCount = sentCount;
  state.promptTokens = promptTokensOf(usage);
  state.usage = addUsage(state.usage, usage);
  loop.budget.charge({ modelId: model, usage, costUsd: loop.priceOf(loop.model, model, usage) });
}

/** An interrupt ends the wait: the next attempt hears of it, and takes what waits in the queue or ends the run. */
async function waited({ loop, scope }: Turn, delayMs: number): Promise<boolean> {
  if (loop.interrupt.requested) return true;
  const pause = scope.child();
  const watcher = { interruptRequested: () => pause.cancel(loop.interrupt.why) };
  loop.interrupt.watch(watcher);
  try {
    await sleep(loop.world.clock, delayMs, pause);
    return true;
  } catch (error) {
    if (isCancelled(error)) return !scope.cancelled;
    throw error;
  } finally {
    loop.interrupt.unwatch(watcher);
    pause.release();
  }
}

function aborted({ loop, scope }: Turn, during: "streaming" | "tools"): TurnEnd {
  return { kind: "aborted", during, why: scope.cancelled ? reasonOf(scope) : loop.interrupt.why };
}
