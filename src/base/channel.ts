/**
 * An async queue between producers and one consumer: push, close, iterate. It has no limit, so its
 * producers must be bounded by something else (a turn, a response, a process).
 */
export interface Channel<T> extends AsyncIterable<T> {
  /** Ignored after the channel was closed: late producers are normal when a consumer leaves. */
  push(value: T): void;
  /** No more values. The consumer still gets what was pushed before, then the end or the error. */
  close(error?: unknown): void;
  readonly closed: boolean;
}

export function createChannel<T>(): Channel<T> {
  let waiting: T[] = [];
  let closed = false;
  let failure: { error: unknown } | undefined;
  let wake: (() => void) | undefined;

  const signal = () => {
    wake?.();
    wake = undefined;
  };

  // Values are drained in batches: one promise per burst, not one per value.
  async function* iterate(): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        while (waiting.length > 0) {
          const batch = waiting;
          waiting = [];
          for (const value of batch) yield value;
        }
        if (failure !== undefined) throw failure.error;
        if (closed) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      closed = true;
      waiting = [];
    }
  }

  return {
    push(value) {
      if (closed) return;
      waiting.push(value);
      signal();
    },
    close(error) {
      if (closed) return;
      closed = true;
      if (error !== undefined) failure = { error };
      signal();
    },
    get closed() {
      return closed;
    },
    [Symbol.asyncIterator]: iterate,
  };
}
