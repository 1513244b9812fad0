import { type Scope, unlessCancelled } from "../base/cancellation.ts";

/**
 * How a person, or the end of its time, breaks into a run (LO-25). `stop` ends it; `steer` makes room for a message
 * that waits in the queue.
 */
export interface Interrupt {
  readonly requested: InterruptKind | undefined;
  /** In words, for whoever reads what became of the run. */
  readonly why: string;
  request(kind: InterruptKind, why?: string): void;
  /** A steering interrupt is over once its message was taken. */
  clear(): void;
  watch(watcher: InterruptWatcher): void;
  unwatch(watcher: InterruptWatcher): void;
}

export interface InterruptWatcher {
  interruptRequested(): void;
}

export type InterruptKind = "stop" | "steer";

export function createInterrupt(): Interrupt {
  return new RunInterrupt();
}

class RunInterrupt implements Interrupt {
  #requested: InterruptKind | undefined;
  #why = byUser;
  #watchers: readonly InterruptWatcher[] = none;

  get requested(): InterruptKind | undefined {
    return this.#requested;
  }

  get why(): string {
    return this.#why;
  }

  request(kind: InterruptKind, why = byUser): void {
    // To stop is stronger than to steer.
    if (this.#requested === "stop") return;
    this.#requested = kind;
    this.#why = why;
    for (const watcher of this.#watchers) watcher.interruptRequested();
  }

  clear(): void {
    this.#requested = undefined;
  }

  watch(watcher: InterruptWatcher): void {
    // Not by spreading, which leaves room for more.
    this.#watchers = this.#watchers.concat(watcher);
  }

  unwatch(watcher: InterruptWatcher): void {
    this.#watchers = this.#watchers.filter((each) => each !== watcher);
  }
}

const none: readonly InterruptWatcher[] = [];
const byUser = "the user interrupted";

/** `work`, or a `CancelledError` as soon as the run is cancelled or a person stops it. */
export async function unlessStopped<T>(
  run: { readonly scope: Scope; readonly interrupt: Interrupt },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const scope = run.scope.child();
  const stopIfAsked = () => {
    if (run.interrupt.requested === "stop") scope.cancel(run.interrupt.why);
  };
  const watcher = { interruptRequested: stopIfAsked };
  run.interrupt.watch(watcher);
  stopIfAsked();
  try {
    return await unlessCancelled(work(scope.signal), scope);
  } finally {
    run.interrupt.unwatch(watcher);
    scope.release();
  }
}
