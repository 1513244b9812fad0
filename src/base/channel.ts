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
  /** Resolves when the consumer has taken everything and asks for more, or left; undefined: that is so now. */
  wanted(): Promise<void> | undefined;
}

export function createChannel<T>(): Channel<T> {
  return new QueueChannel<T>();
}

interface Waiter<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

const end = { done: true as const, value: undefined };

/** Its own iterator, by hand: every event of every agent goes through here, and a generator makes more promises of each. */
class QueueChannel<T> implements Channel<T>, AsyncIterator<T, undefined> {
  #values: T[] = [];
  #taken = 0;
  #closed = false;
  #failure: { error: unknown } | undefined;
  #waiter: Waiter<T> | undefined;
  #onWanted: (() => void) | undefined;

  get closed(): boolean {
    return this.#closed;
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return this;
  }

  push(value: T): void {
    if (this.#closed) return;
    const waiter = this.#waiter;
    if (waiter === undefined) {
      this.#values.push(value);
      return;
    }
    this.#waiter = undefined;
    waiter.resolve({ done: false, value });
  }

  close(error?: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#tellWanted();
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter === undefined) {
      if (error !== undefined) this.#failure = { error };
    } else if (error === undefined) waiter.resolve(end);
    else waiter.reject(error);
  }

  wanted(): Promise<void> | undefined {
    if (this.#waiter !== undefined || this.#closed) return undefined;
    return new Promise((resolve) => {
      this.#onWanted = resolve;
    });
  }

  #tellWanted(): void {
    this.#onWanted?.();
    this.#onWanted = undefined;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#taken < this.#values.length) {
      // The place was just seen to hold a value.
      const value = this.#values[this.#taken++] as T;
      if (this.#taken === this.#values.length) this.#forgetValues();
      return Promise.resolve({ done: false, value });
    }
    if (this.#failure !== undefined) {
      const { error } = this.#failure;
      this.#failure = undefined;
      return Promise.reject(error);
    }
    if (this.#closed) return Promise.resolve(end);
    this.#tellWanted();
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.close();
    this.#forgetValues();
    this.#failure = undefined;
    return Promise.resolve(end);
  }

  #forgetValues(): void {
    this.#values = [];
    this.#taken = 0;
  }
}
