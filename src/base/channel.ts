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
  let values: T[] = [];
  let taken = 0;
  let closed = false;
  let failure: { error: unknown } | undefined;
  let waiter:
    | { resolve(result: IteratorResult<T, undefined>): void; reject(error: unknown): void }
    | undefined;

  const end = { done: true as const, value: undefined };

  // By hand, not as a generator: every event of every agent goes through here, and a generator makes more
  // promises of each.
  const iterator = {
    next(): Promise<IteratorResult<T, undefined>> {
      if (taken < values.length) {
        // The place was just seen to hold a value.
        const value = values[taken++] as T;
        if (taken === values.length) {
          values = [];
          taken = 0;
        }
        return Promise.resolve({ done: false, value });
      }
      if (failure !== undefined) {
        const { error } = failure;
        failure = undefined;
        return Promise.reject(error);
      }
      if (closed) return Promise.resolve(end);
      return new Promise((resolve, reject) => {
        waiter = { resolve, reject };
      });
    },
    return(): Promise<IteratorResult<T, undefined>> {
      closed = true;
      values = [];
      taken = 0;
      failure = undefined;
      return Promise.resolve(end);
    },
  };

  return {
    push(value) {
      if (closed) return;
      if (waiter === undefined) {
        values.push(value);
        return;
      }
      const { resolve } = waiter;
      waiter = undefined;
      resolve({ done: false, value });
    },
    close(error) {
      if (closed) return;
      closed = true;
      if (waiter === undefined) {
        if (error !== undefined) failure = { error };
        return;
      }
      const { resolve, reject } = waiter;
      waiter = undefined;
      if (error === undefined) resolve(end);
      else reject(error);
    },
    get closed() {
      return closed;
    },
    [Symbol.asyncIterator]: () => iterator,
  };
}
