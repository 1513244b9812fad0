/**
 * Cancellation is a tree: session, turn, call. Cancelling a scope cancels all below it, never above.
 * Clean-up is shielded: it runs to its end, or to its own deadline, although its scope is cancelled.
 */
import { CancelledError } from "./errors.ts";
import type { Clock } from "./world.ts";

export interface Scope {
  /** For what lies outside. Its `reason` is a `CancelledError`. Made when it is asked for: a signal is a heavy thing. */
  readonly signal: AbortSignal;
  readonly cancelled: boolean;
  readonly cancelledBy: CancelledError | undefined;
  /** Told once, unless it is cancelled already. */
  watch(watcher: CancelWatcher): void;
  unwatch(watcher: CancelWatcher): void;
  child(): Scope;
  cancel(reason: string, cause?: unknown): void;
  /** Leaves the tree without cancelling. A scope that ended must be released, or its parent keeps it. */
  release(): void;
  /** From now on it is cancelled with `parent`, and no longer with what it was below. */
  moveBelow(parent: Scope): void;
}

export interface CancelWatcher {
  scopeCancelled(): void;
}

/** A scope of ours, or a signal from elsewhere. */
export type Cancellation = Scope | AbortSignal;

export function createScope(parent?: AbortSignal): Scope {
  if (parent === undefined) return new ScopeNode(undefined);
  return new LinkedScope(parent);
}

/**
 * A class, and what it can do without made only when it is needed: there are several for every agent. Children are
 * chained through themselves, so that thousands can come and go below one scope at no cost.
 */
class ScopeNode implements Scope {
  #parent: ScopeNode | undefined;
  #firstChild: ScopeNode | undefined;
  #previous: ScopeNode | undefined;
  #next: ScopeNode | undefined;
  #isChained = false;
  #cancelledBy: CancelledError | undefined;
  #controller: AbortController | undefined;
  #watchers: readonly CancelWatcher[] = none;

  constructor(parent: ScopeNode | undefined) {
    this.#parent = parent;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#cancelledBy) this.#controller.abort(this.#cancelledBy);
    }
    return this.#controller.signal;
  }

  get cancelled(): boolean {
    return this.#cancelledBy !== undefined;
  }

  get cancelledBy(): CancelledError | undefined {
    return this.#cancelledBy;
  }

  watch(watcher: CancelWatcher): void {
    if (this.#cancelledBy) return;
    // Not by spreading, which leaves room for more.
    this.#watchers = this.#watchers.concat(watcher);
  }

  unwatch(watcher: CancelWatcher): void {
    this.#watchers = this.#watchers.filter((each) => each !== watcher);
  }

  child(): Scope {
    const child = new ScopeNode(this);
    if (this.#cancelledBy) child.cancel(this.#cancelledBy.reason, this.#cancelledBy);
    else this.#chain(child);
    return child;
  }

  cancel(reason: string, cause?: unknown): void {
    if (this.#cancelledBy) return;
    this.#cancelledBy = cause instanceof CancelledError ? cause : new CancelledError(reason, cause);
    // Children first: by the time a listener on this scope runs, everything below knows.
    while (this.#firstChild) this.#firstChild.cancel(reason, this.#cancelledBy);
    this.release();
    // One of them may take another off.
    for (const watcher of this.#watchers) if (this.#watchers.includes(watcher)) tell(watcher);
    this.#watchers = none;
    this.#controller?.abort(this.#cancelledBy);
  }

  release(): void {
    this.#parent?.unchain(this);
  }

  moveBelow(parent: Scope): void {
    if (!(parent instanceof ScopeNode)) throw new TypeError("not a scope of this tree");
    if (parent.#isWithin(this)) throw new TypeError("a scope cannot be below itself");
    if (this.#cancelledBy) return;
    this.release();
    this.#parent = parent;
    if (parent.#cancelledBy) this.cancel(parent.#cancelledBy.reason, parent.#cancelledBy);
    else parent.#chain(this);
  }

  #isWithin(scope: ScopeNode): boolean {
    if (this === scope) return true;
    const above = this.#isChained ? this.#parent : undefined;
    return above === undefined ? false : above.#isWithin(scope);
  }

  #chain(child: ScopeNode): void {
    child.#isChained = true;
    child.#next = this.#firstChild;
    if (this.#firstChild) this.#firstChild.#previous = child;
    this.#firstChild = child;
  }

  protected unchain(child: ScopeNode): void {
    if (!child.#isChained) return;
    child.#isChained = false;
    if (child.#next) child.#next.#previous = child.#previous;
    if (child.#previous) child.#previous.#next = child.#next;
    else this.#firstChild = child.#next;
    child.#next = undefined;
    child.#previous = undefined;
  }
}

const none: readonly CancelWatcher[] = [];

/** As with a signal, what a watcher throws is no matter of whoever cancels, nor of the other watchers. */
function tell(watcher: CancelWatcher): void {
  try {
    watcher.scopeCancelled();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** The root of a tree that hangs on a signal from elsewhere. */
class LinkedScope extends ScopeNode {
  readonly #source: AbortSignal;
  readonly #onAbort = () => this.cancel(reasonOf(this.#source), this.#source.reason);

  constructor(source: AbortSignal) {
    super(undefined);
    this.#source = source;
    if (source.aborted) this.#onAbort();
    else source.addEventListener("abort", this.#onAbort, { once: true });
  }

  override release(): void {
    this.#source.removeEventListener("abort", this.#onAbort);
    super.release();
  }
}

export function reasonOf(on: Cancellation): string {
  return isCancelledNow(on) ? cancelledErrorOf(on).reason : "not cancelled";
}

/** Throws the `CancelledError` of what is cancelled. */
export function throwIfCancelled(on: Cancellation): void {
  if (isCancelledNow(on)) throw cancelledErrorOf(on);
}

export function cancelledErrorOf(on: Cancellation): CancelledError {
  const reason = "cancelledBy" in on ? on.cancelledBy : on.reason;
  return reason instanceof CancelledError ? reason : new CancelledError(String(reason), reason);
}

function isCancelledNow(on: Cancellation): boolean {
  return "cancelled" in on ? on.cancelled : on.aborted;
}

/** Calls back once when it is cancelled, unless the returned function is called before. */
export function onCancelled(on: Cancellation, listener: () => void): () => void {
  if ("watch" in on) {
    const watcher = { scopeCancelled: listener };
    on.watch(watcher);
    return () => on.unwatch(watcher);
  }
  on.addEventListener("abort", listener, { once: true });
  return () => on.removeEventListener("abort", listener);
}

/** `work`, or the `CancelledError` of `on` if that comes first. The work itself is not stopped by this. */
export async function unlessCancelled<T>(work: Promise<T>, on: Cancellation): Promise<T> {
  // When the cancellation wins, nobody waits for the work any longer; its failure is then of no interest.
  work.catch(() => {});
  throwIfCancelled(on);
  let stopListening = () => {};
  const cancelled = new Promise<never>((_, reject) => {
    stopListening = onCancelled(on, () => reject(cancelledErrorOf(on)));
  });
  try {
    return await Promise.race([work, cancelled]);
  } finally {
    stopListening();
  }
}

export async function sleep(clock: Clock, delayMs: number, on?: Cancellation): Promise<void> {
  if (on) throwIfCancelled(on);
  await new Promise<void>((resolve, reject) => {
    const timer = clock.setTimer(delayMs, () => {
      stopListening?.();
      resolve();
    });
    const stopListening =
      on &&
      onCancelled(on, () => {
        timer.cancel();
        reject(cancelledErrorOf(on));
      });
  });
}

/** Cancels `scope` when `delayMs` have passed, unless the returned function is called before. */
export function cancelAfter(options: {
  clock: Clock;
  scope: Scope;
  delayMs: number;
  reason: string;
}): () => void {
  const timer = options.clock.setTimer(options.delayMs, () => options.scope.cancel(options.reason), {
    unref: true,
  });
  return () => timer.cancel();
}

/**
 * Runs clean-up whatever was cancelled around it. It gets a signal of its own, which fires at the deadline;
 * after that nobody waits for it any longer.
 */
export async function shielded(
  options: { clock: Clock; deadlineMs: number; what: string },
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const scope = createScope();
  const stopTimer = cancelAfter({
    clock: options.clock,
    scope,
    delayMs: options.deadlineMs,
    reason: `${options.what} took longer than ${options.deadlineMs} ms`,
  });
  try {
    await unlessCancelled(work(scope.signal), scope);
  } finally {
    stopTimer();
  }
}
