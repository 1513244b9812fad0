/**
 * Cancellation is a tree: session, turn, call. Cancelling a scope cancels all below it, never above.
 * Clean-up is shielded: it runs to its end, or to its own deadline, although its scope is cancelled.
 */
import { CancelledError } from "./errors.ts";
import type { Clock } from "./world.ts";

export interface Scope {
  /** Its `reason` is a `CancelledError`. */
  readonly signal: AbortSignal;
  readonly cancelled: boolean;
  child(): Scope;
  cancel(reason: string, cause?: unknown): void;
  /** Leaves the tree without cancelling. A scope that ended must be released, or its parent keeps it. */
  release(): void;
}

export function createScope(parent?: AbortSignal): Scope {
  if (parent === undefined) return new ScopeNode(undefined);
  return new LinkedScope(parent);
}

/** A class, and what it can do without made only when it is needed: there are several for every agent. */
class ScopeNode implements Scope {
  readonly #parent: ScopeNode | undefined;
  #children: Set<ScopeNode> | undefined;
  #cancelledBy: CancelledError | undefined;
  #controller: AbortController | undefined;

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

  child(): Scope {
    const child = new ScopeNode(this);
    if (this.#cancelledBy) child.cancel(this.#cancelledBy.reason, this.#cancelledBy);
    else {
      this.#children ??= new Set();
      this.#children.add(child);
    }
    return child;
  }

  cancel(reason: string, cause?: unknown): void {
    if (this.#cancelledBy) return;
    this.#cancelledBy = cause instanceof CancelledError ? cause : new CancelledError(reason, cause);
    // Children first: by the time a listener on this scope runs, everything below knows.
    for (const child of [...(this.#children ?? [])]) child.cancel(reason, this.#cancelledBy);
    this.#children = undefined;
    this.#controller?.abort(this.#cancelledBy);
    this.release();
  }

  release(): void {
    this.#parent?.forget(this);
  }

  forget(child: ScopeNode): void {
    this.#children?.delete(child);
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

export function reasonOf(signal: AbortSignal): string {
  if (!signal.aborted) return "not cancelled";
  return signal.reason instanceof CancelledError ? signal.reason.reason : String(signal.reason);
}

/** Throws the `CancelledError` of a cancelled signal. */
export function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw cancelledErrorOf(signal);
}

export function cancelledErrorOf(signal: AbortSignal): CancelledError {
  return signal.reason instanceof CancelledError
    ? signal.reason
    : new CancelledError(reasonOf(signal), signal.reason);
}

/** `work`, or the `CancelledError` of `signal` if that comes first. The work itself is not stopped by this. */
export async function unlessCancelled<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // When the signal wins, nobody waits for the work any longer; its failure is then of no interest.
  work.catch(() => {});
  throwIfCancelled(signal);
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(cancelledErrorOf(signal));
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

export async function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal) throwIfCancelled(signal);
  await new Promise<void>((resolve, reject) => {
    const onAbort = () => {
      timer.cancel();
      if (signal) reject(cancelledErrorOf(signal));
    };
    const timer = clock.setTimer(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
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
    await unlessCancelled(work(scope.signal), scope.signal);
  } finally {
    stopTimer();
  }
}
