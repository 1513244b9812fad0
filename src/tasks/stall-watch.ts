/**
 * Finds agents in which nothing happens any more. There may be thousands, each with many events a second: an event
 * costs them an assignment, and being watched two references. One timer goes through all of them now and then.
 */
import type { Clock, Timer } from "../base/world.ts";

/** What can be watched extends this, and sets `quietSweeps` to 0 whenever something happens in it. */
export class Watched {
  quietSweeps = 0;
  #next: Watched | undefined;
  #previous: Watched | undefined;

  get isWatched(): boolean {
    return this.#previous !== undefined;
  }

  get nextWatched(): Watched | undefined {
    return this.#next;
  }

  /** Chained through themselves, since there are many. For the watch only. */
  chainAfter(previous: Watched): void {
    this.#previous = previous;
    this.#next = previous.#next;
    if (previous.#next) previous.#next.#previous = this;
    previous.#next = this;
  }

  unchain(): void {
    if (this.#previous) this.#previous.#next = this.#next;
    if (this.#next) this.#next.#previous = this.#previous;
    this.#next = undefined;
    this.#previous = undefined;
  }
}

export interface StallWatch<Agent extends Watched> {
  /** From now on. One that is watched stays so. */
  watch(agent: Agent): void;
  unwatch(agent: Agent): void;
}

const sweepsPerStall = 5;
/** The first sweep after an event may come right after it, so that it says nothing. */
const stalledSweeps = sweepsPerStall + 1;

export function createStallWatch<Agent extends Watched>(options: {
  clock: Clock;
  /** Longer ago was the last event of an agent that is reported, by up to a fifth. */
  stallMs: number;
  /** It waits for a person or for another: it is not stalled itself, and its time begins anew. */
  isWaiting?: (agent: Agent) => boolean;
  /** Once, until it recovers. */
  onStall: (agent: Agent) => void;
  /** Something happens again in one that was reported. */
  onRecover: (agent: Agent) => void;
}): StallWatch<Agent> {
  const { clock, onStall, onRecover } = options;
  const sweepMs = options.stallMs / sweepsPerStall;
  /** Not an agent: where the chain begins. */
  const head = new Watched();
  const stalled = new Set<Agent>();
  let timer: Timer | undefined;
  let lastSweepMs = 0;
  let wasLate = false;

  function wait(): void {
    lastSweepMs = clock.now();
    timer = clock.setTimer(sweepMs, sweep, { unref: true });
  }

  function sweep(): void {
    const isLate = comesLate();
    // First, so that it goes on whatever becomes of those who are told.
    wait();
    const recovered = [...stalled].filter(({ quietSweeps }) => quietSweeps < stalledSweeps);
    const newlyStalled = isLate ? [] : count();
    for (const agent of recovered) stalled.delete(agent);
    // Who is told may end others, which are then of no interest.
    for (const agent of recovered) if (agent.isWatched) onRecover(agent);
    for (const agent of newlyStalled) if (agent.isWatched) judge(agent);
  }

  function judge(agent: Agent): void {
    if (options.isWaiting?.(agent)) {
      agent.quietSweeps = 0;
      return;
    }
    stalled.add(agent);
    onStall(agent);
  }

  /**
   * The machine slept, or had no time for anything: that is not the agents' quiet, and they get time to move before
   * it counts. Not twice in a row, or a program that is always busy would never find a stall.
   */
  function comesLate(): boolean {
    wasLate = !wasLate && clock.now() - lastSweepMs > 2 * sweepMs;
    return wasLate;
  }

  function count(): Agent[] {
    const reached: Agent[] = [];
    for (let agent = head.nextWatched; agent !== undefined; agent = agent.nextWatched) {
      agent.quietSweeps += 1;
      // All that is chained here came in by `watch`.
      if (agent.quietSweeps === stalledSweeps) reached.push(agent as Agent);
    }
    return reached;
  }

  return {
    watch(agent) {
      if (agent.isWatched) return;
      agent.quietSweeps = 0;
      agent.chainAfter(head);
      if (timer === undefined) wait();
    },
    unwatch(agent) {
      agent.unchain();
      stalled.delete(agent);
      if (head.nextWatched !== undefined) return;
      timer?.cancel();
      timer = undefined;
    },
  };
}
