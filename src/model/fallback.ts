/**
 * A second model for when the first one is overloaded. It is asked only as long as nothing was streamed: an answer
 * that has begun is never replaced, since calls in it may be at work already (LO-26).
 */
import type { Clock } from "../base/world.ts";
import type { ModelEvent } from "../contracts/event.ts";
import { createForeignThinkingFilter } from "./foreign-thinking.ts";
import type { Model, ModelRequest, RetryNotice } from "./model.ts";
import { ModelError } from "./model-error.ts";

export interface FallbackOptions {
  /** Best connected to its gateway, which tells of every failure while it goes on trying. */
  readonly primary: Model;
  readonly fallback: Model;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** So often a request is told that the primary is overloaded before it turns to the fallback. */
  readonly overloadsUntilSwitch?: number;
  /** So long all requests go to the fallback at once, before one asks the primary again. */
  readonly stayMs?: number;
}

export function withFallback(options: FallbackOptions): Model {
  const { primary, fallback, clock, overloadsUntilSwitch = 3, stayMs = 5 * 60_000 } = options;
  const withoutThinkingOf = createForeignThinkingFilter();
  let awayUntilMs = Number.NEGATIVE_INFINITY;

  async function* askPrimary(request: ModelRequest): AsyncGenerator<ModelEvent, "answered" | "overloaded"> {
    const scope = request.scope.child();
    let began = false;
    let overloads = 0;
    let givenUp = false;
    const onRetry = (notice: RetryNotice) => {
      const isOverload = notice.kind === "overloaded";
      if (isOverload) overloads += 1;
      givenUp = isOverload && (notice.paused || overloads >= overloadsUntilSwitch);
      if (givenUp) scope.cancel(`${primary.id} is overloaded`);
      else request.onRetry?.(notice);
    };
    try {
      const asked = { ...withoutThinkingOf(fallback, request), scope, onRetry };
      for await (const event of primary.stream(asked)) {
        began = true;
        yield event;
      }
      return "answered";
    } catch (error) {
      const isOverload = givenUp || (error instanceof ModelError && error.kind === "overloaded");
      // All others would have to go with it.
      if (began || !isOverload || request.patience === "none") throw error;
      return "overloaded";
    } finally {
      scope.release();
    }
  }

  async function* stream(request: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    if (clock.monotonicMs() >= awayUntilMs) {
      if ((yield* askPrimary(request)) === "answered") return;
      awayUntilMs = clock.monotonicMs() + stayMs;
    }
    request.onRetry?.({
      attempt: 0,
      delayMs: 0,
      reason: `Answered by ${fallback.id} because ${primary.id} is overloaded.`,
      kind: "overloaded",
      paused: false,
    });
    const { maxOutputTokens = request.maxOutputTokens } = fallback;
    yield* fallback.stream({
      ...withoutThinkingOf(primary, request),
      maxOutputTokens: Math.min(request.maxOutputTokens, maxOutputTokens),
    });
  }

  return { ...primary, stream };
}
