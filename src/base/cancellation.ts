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
  const root = createNode(undefined);
  if (parent === undefined) return root;
  const onAbort = () => root.cancel(reasonOf(parent), parent.reason);
  if (parent.aborted) onAbort();
  else parent.addEventListener("abort", onAbort, { once: true });
  const { release } = root;
  return Object.assign(root, {
    release() {
      parent.removeEventListener("abort", onAbort);
      release();
    },
  });
}

interface Node extends Scope {
  readonly children: Set<Node>;
}

function createNode(parent: Node | undefined): Node {
  const children = new Set<Node>();
  let cancelledBy: CancelledError | undefined;
  // Made when somebody wants to listen: most scopes live and end without it.
  let controller: AbortController | undefined;
  const node: Node = {
    children,
    get signal() {
      if (controller === undefined) {
        controller = new AbortController();
        if (cancelledBy) controller.abort(cancelledBy);
      }
      return controller.signal;
    },
    get cancelled() {
      return cancelledBy !== undefined;
    },
    child() {
      const child = createNode(node);
      if (cancelledBy) child.cancel(cancelledBy.reason, cancelledBy);
      else children.add(child);
      return child;
    },
    cancel(reason, cause) {
      if (cancelledBy) return;
      cancelledBy = cause instanceof CancelledError ? cause : new CancelledError(reason, cause);
      // Children first: by the time a listener on this scope runs, everything below knows.
      for (const child of [...children]) child.cancel(reason, cancelledBy);
      children.clear();
      controller?.abort(cancelledBy);
      parent?.children.delete(node);
    },
    release() {
      parent?.children.delete(node);
    },
  };
  return node;
}

export function reasonOf(signal: AbortSignal): string {
  if (!signal.aborted) return "not cancelled";
  return signal.reason instanceof CancelledError ? signal.reason.reason : String(signal.reason);
}

/** Throws the `CancelledError` of a cancelled signal. */
export function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw cancelledErrorOf(signal);
}

function cancelledErrorOf(signal: AbortSignal): CancelledError {
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
  const scope = createNode(undefined);
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
