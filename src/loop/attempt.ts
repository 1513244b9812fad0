/** One request of a turn, with the executor that runs the calls of its answer while they arrive. */
import type { Scope } from "../base/cancellation.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { Block, ToolResultBlock, ToolUseBlock } from "../contracts/message.ts";
import { type CallWatcher, createExecutor, type Executor } from "../tools/executor.ts";
import type { InterruptWatcher } from "./interrupt.ts";
import { type LoopOptions, maxOutputTokensOf } from "./loop-options.ts";
import { buildRequest } from "./request.ts";
import { type AnswerWatcher, type Response, receiveResponse } from "./response.ts";

const none: readonly Block[] = [];

export class Attempt implements AnswerWatcher, CallWatcher, InterruptWatcher {
  /** Known before the message is: records of calls that start early refer to it. */
  readonly messageUuid: string;
  readonly executor: Executor;
  /** Something of the answer has streamed. */
  began = false;
  /** How many messages the request held. */
  sentCount = 0;
  modelMs = 0;
  readonly #loop: LoopOptions;
  readonly #stream: Scope;
  #content: readonly Block[] = none;
  #recordedBlocks = 0;
  #askedMs = 0;

  constructor(loop: LoopOptions, scope: Scope) {
    this.#loop = loop;
    this.messageUuid = loop.history.newUuid();
    this.executor = createExecutor({ run: loop, scope, watcher: this });
    this.#stream = scope.child();
    loop.interrupt.watch(this);
    if (loop.interrupt.requested) this.interruptRequested();
  }

  /** `isRetry`: an answer to the same request has broken off before. */
  ask({ isRetry }: { isRetry: boolean }): Promise<Response> {
    const { model, history, prefix, limits, world } = this.#loop;
    const request = buildRequest({
      prefix,
      messages: history.messages,
      previousCount: history.sentCount,
      maxOutputTokens: maxOutputTokensOf(this.#loop),
      thinking: limits.thinking,
      cacheTtl: limits.cacheTtl?.(this.#loop),
      scope: this.#stream,
      isRetry,
      onRetry: ({ attempt, delayMs, reason }) => this.emit({ type: "model-retry", attempt, delayMs, reason }),
    });
    this.sentCount = request.messages.length;
    history.sentWith = this.#loop;
    this.#askedMs = world.clock.monotonicMs();
    return receiveResponse(model, request, this);
  }

  /** Interrupts reach the executor until then. */
  release(): void {
    this.#loop.interrupt.unwatch(this);
  }

  emit(event: LoopEvent): void {
    this.#loop.listener.emit(event);
  }

  answerEvent(event: LoopEvent): void {
    this.began = true;
    this.emit(event);
  }

  answerEnd(): void {
    this.modelMs = this.#loop.world.clock.monotonicMs() - this.#askedMs;
    this.#stream.release();
  }

  claimCallId(id: string): string {
    return this.#loop.history.claimCallId(id);
  }

  callReceived(
    call: ToolUseBlock,
    { problem, content }: { problem: string | undefined; content: readonly Block[] },
  ): void {
    this.#content = content;
    this.executor.add(call, problem);
  }

  async makeDurable(call: ToolUseBlock): Promise<void> {
    const { transcript } = this.#loop;
    const from = this.#recordedBlocks;
    this.#recordedBlocks = this.#content.length;
    // Only what is new: a message of a thousand calls must not be written a thousand times.
    const content = this.#content.slice(from);
    transcript.append({ type: "calls", messageUuid: this.messageUuid, from, content, started: [call.id] });
    await transcript.durable();
  }

  recordResult(result: ToolResultBlock): void {
    const { transcript } = this.#loop;
    transcript.append({ type: "result", result });
    // Nobody waits for this one; if it fails, the next who must be sure is told.
    transcript.durable().catch(() => {});
  }

  /** A person's interrupt ends the stream, and of the calls those that do not block (LO-25). */
  interruptRequested(): void {
    const { interrupt, queue, agent } = this.#loop;
    // The message that a steering interrupt should make room for may have been taken already.
    if (interrupt.requested === "steer" && queue.waiting(agent.agentId) === 0) {
      interrupt.clear();
      return;
    }
    this.executor.interrupt(interrupt.why);
    this.#stream.cancel(interrupt.why);
  }
}
