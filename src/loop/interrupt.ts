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
