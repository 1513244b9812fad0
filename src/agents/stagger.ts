/**
 * Agents that start together with the same tools and system prompt would each write the same cache entry, since none
 * can read it before the first answer has begun. Here the first goes ahead until then, and the others read what it
 * wrote (setting `staggerFanOut`: cheaper, and later by the time it takes a model to begin).
 */
import type { Clock, Timer } from "../base/world.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import type { Listener, LoopOptions } from "../loop/loop-options.ts";
import type { Prefix } from "../loop/request.ts";
import { cacheLifeMs, leastCachedTokens } from "../model/prompt-cache.ts";

export type RunLoop = (loop: LoopOptions) => Promise<LoopEnd>;

/** Nobody waits longer for another, whatever becomes of it. */
const longestWaitMs = 15_000;
const charactersPerToken = 4;

export function createStagger({ clock, run }: { clock: Clock; run: RunLoop }): RunLoop {
  /** By the value that siblings of one kind share, and by model. */
  const groups = new WeakMap<Prefix, Map<string, Group>>();

  return (loop) => {
    // A fork begins with what its parent has in the cache already.
    if (loop.agent.source.kind === "fork") return run(loop);
    const group = groupOf(loop);
    if (group.isTooShort) return run(loop);
    return group.mustWait(loop) ? group.wait(loop).then(() => go(loop, group)) : go(loop, group);
  };

  function go(loop: LoopOptions, group: Group): Promise<LoopEnd> {
    const running = run({ ...loop, listener: new AnswerListener(loop.listener, group) });
    return group.isLedBy(loop) ? running.finally(() => group.leave(loop)) : running;
  }

  function groupOf({ prefix, model }: LoopOptions): Group {
    const key = `${model.provider}/${model.id}`;
    const siblings = groups.get(prefix) ?? new Map<string, Group>();
    const group = siblings.get(key) ?? new Group(clock, prefix);
    groups.set(prefix, siblings.set(key, group));
    return group;
  }
}

interface Waiting {
  readonly loop: LoopOptions;
  proceed(): void;
}

/** All agents with one prefix and one model. */
class Group {
  /** No provider would cache it. */
  readonly isTooShort: boolean;
  readonly #clock: Clock;
  #warmUntilMs = Number.NEGATIVE_INFINITY;
  /** Goes ahead, and has no answer yet. */
  #leader: LoopOptions | undefined;
  /** It takes too long: nobody waits for it any more. */
  #isLate = false;
  #deadline: Timer | undefined;
  #waiting: readonly Waiting[] = [];

  constructor(clock: Clock, { system, tools }: Prefix) {
    this.#clock = clock;
    const characters = system.length + JSON.stringify(tools).length;
    this.isTooShort = characters < leastCachedTokens * charactersPerToken;
  }

  isLedBy(loop: LoopOptions): boolean {
    return this.#leader === loop;
  }

  /** No: it is the first, or what it needs is in the cache. */
  mustWait(loop: LoopOptions): boolean {
    if (this.#clock.now() < this.#warmUntilMs) return false;
    if (this.#leader !== undefined) return !this.#isLate;
    this.#leader = loop;
    this.#deadline = this.#clock.setTimer(longestWaitMs, () => this.#beLate(), { unref: true });
    return false;
  }

  /** Whoever is stopped meanwhile waits no longer: its run finds out at once. */
  wait(loop: LoopOptions): Promise<void> {
    const { scope, interrupt } = loop;
    return new Promise((resolve) => {
      const proceed = () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        scope.unwatch(watcher);
        interrupt.unwatch(watcher);
        resolve();
      };
      const waiting = { loop, proceed };
      const watcher = { scopeCancelled: proceed, interruptRequested: proceed };
      this.#waiting = [...this.#waiting, waiting];
      scope.watch(watcher);
      interrupt.watch(watcher);
      if (scope.cancelled || interrupt.requested !== undefined) proceed();
    });
  }

  /** An answer has begun: what its request wrote can be read. */
  answered(): void {
    this.#warmUntilMs = this.#clock.now() + cacheLifeMs["5m"];
    this.#follow(undefined);
    this.#releaseAll();
  }

  /** If it has never got an answer, the next one tries. */
  leave(loop: LoopOptions): void {
    if (this.#leader !== loop) return;
    const [next] = this.#waiting;
    this.#follow(next?.loop);
    next?.proceed();
  }

  #follow(leader: LoopOptions | undefined): void {
    this.#leader = leader;
    if (leader !== undefined) return;
    this.#deadline?.cancel();
    this.#isLate = false;
  }

  #beLate(): void {
    this.#isLate = true;
    this.#releaseAll();
  }

  #releaseAll(): void {
    for (const { proceed } of this.#waiting) proceed();
  }
}

class AnswerListener implements Listener {
  readonly #listener: Listener;
  readonly #group: Group;

  constructor(listener: Listener, group: Group) {
    this.#listener = listener;
    this.#group = group;
  }

  emit(event: LoopEvent): void {
    if (event.type === "model-event" && event.event.type === "message-start") this.#group.answered();
    this.#listener.emit(event);
  }

  caughtUp(): Promise<void> | undefined {
    return this.#listener.caughtUp?.();
  }
}
