import { type Scope, unlessCancelled } from "../base/cancellation.ts";

/** How a person breaks into a run (LO-25). `stop` ends it; `steer` makes room for a message that waits in the queue. */
export interface Interrupt {
  readonly requested: InterruptKind | undefined;
  request(kind: InterruptKind): void;
  /** A steering interrupt is over once its message was taken. */
  clear(): void;
  onRequest(listener: () => void): () => void;
}

export type InterruptKind = "stop" | "steer";

export function createInterrupt(): Interrupt {
  let requested: InterruptKind | undefined;
  const listeners = new Set<() => void>();
  return {
    get requested() {
      return requested;
    },
    request(kind) {
      // To stop is stronger than to steer.
      if (requested === "stop") return;
      requested = kind;
      for (const listener of [...listeners]) listener();
    },
    clear() {
      requested = undefined;
    },
    onRequest(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** `work`, or a `CancelledError` as soon as the run is cancelled or a person stops it. */
export async function unlessStopped<T>(
  run: { readonly scope: Scope; readonly interrupt: Interrupt },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const scope = run.scope.child();
  const stopIfAsked = () => {
    if (run.interrupt.requested === "stop") scope.cancel("the user interrupted");
  };
  const stopListening = run.interrupt.onRequest(stopIfAsked);
  stopIfAsked();
  try {
    return await unlessCancelled(work(scope.signal), scope.signal);
  } finally {
    stopListening();
    scope.release();
  }
}
