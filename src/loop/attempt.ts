/** One request of a turn, with the executor that runs the calls of its answer while they arrive. */
import type { Scope } from "../base/cancellation.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { Block } from "../contracts/message.ts";
import type { ModelRequest } from "../model/model.ts";
import { createExecutor, type Executor } from "../tools/executor.ts";
import { type LoopOptions, maxOutputTokensOf } from "./loop-options.ts";
import { buildRequest } from "./request.ts";
import { type Response, receiveResponse } from "./response.ts";

export interface Attempt {
  /** Known before the message is: records of calls that start early refer to it. */
  readonly messageUuid: string;
  readonly response: Response;
  /** Something of the answer has streamed. */
  readonly began: boolean;
  readonly executor: Executor;
  /** How many messages the request held. */
  readonly sentCount: number;
  readonly modelMs: number;
  /** Interrupts reach the executor until then. */
  release(): void;
}

export async function makeAttempt(options: {
  loop: LoopOptions;
  scope: Scope;
  emit: (event: LoopEvent) => void;
  /** An answer to the same request has broken off before. */
  isRetry: boolean;
}): Promise<Attempt> {
  const { loop, emit } = options;
  const { clock } = loop.world;
  const messageUuid = loop.history.newUuid();
  const received: { content: readonly Block[] } = { content: [] };
  const executor = startExecutor({ ...options, messageUuid, received });
  const stream = options.scope.child();

  // A person's interrupt ends the stream, and of the calls those that do not block (LO-25).
  const interruptNow = () => {
    // The message that a steering interrupt should make room for may have been taken already.
    if (loop.interrupt.requested === "steer" && loop.queue.waiting() === 0) return loop.interrupt.clear();
    executor.interrupt(loop.interrupt.why);
    stream.cancel(loop.interrupt.why);
  };
  const stopListening = loop.interrupt.onRequest(interruptNow);
  if (loop.interrupt.requested) interruptNow();

  const request: ModelRequest = {
    ...buildRequest({
      prefix: loop.prefix,
      messages: loop.history.messages,
      previousCount: loop.history.sentCount,
      maxOutputTokens: maxOutputTokensOf(loop),
      ...(loop.limits.thinking && { thinking: loop.limits.thinking }),
      signal: stream.signal,
    }),
    isRetry: options.isRetry,
    onRetry: ({ attempt, delayMs, reason }) => emit({ type: "model-retry", attempt, delayMs, reason }),
  };
  let began = false;
  const startedMs = clock.monotonicMs();
  const response = await receiveResponse({
    model: loop.model,
    request,
    claimCallId: (id) => loop.history.claimCallId(id),
    emit(event) {
      began = true;
      emit(event);
    },
    onCall({ call, problem, content }) {
      received.content = content;
      executor.add(call, problem);
    },
  });
  stream.release();
  return {
    messageUuid,
    response,
    began,
    executor,
    sentCount: request.messages.length,
    modelMs: clock.monotonicMs() - startedMs,
    release: stopListening,
  };
}

function startExecutor(options: {
  loop: LoopOptions;
  scope: Scope;
  emit: (event: LoopEvent) => void;
  messageUuid: string;
  received: { readonly content: readonly Block[] };
}): Executor {
  const { loop, messageUuid, received } = options;
  let recordedBlocks = 0;
  return createExecutor({
    tools: loop.tools,
    scope: options.scope,
    clock: loop.world.clock,
    gate: loop.gate,
    contextOf: loop.contextOf,
    emit: options.emit,
    startWhileStreaming: loop.limits.startCallsWhileStreaming,
    limits: loop.limits.concurrency,
    async makeDurable(call) {
      const from = recordedBlocks;
      recordedBlocks = received.content.length;
      // Only what is new: a message of a thousand calls must not be written a thousand times.
      const content = received.content.slice(from);
      loop.transcript.append({ type: "calls", messageUuid, from, content, started: [call.id] });
      await loop.transcript.durable();
    },
    recordResult(result) {
      loop.transcript.append({ type: "result", result });
      // Nobody waits for this one; if it fails, the next who must be sure is told.
      loop.transcript.durable().catch(() => {});
    },
  });
}
