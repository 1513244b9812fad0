import type { Writable } from "node:stream";

/** Text on its way out of the process: slow readers slow the writer down, a reader that left is no error. */
export interface Sink {
  readonly isTerminal: boolean;
  /** The reader left; what is written now goes nowhere. */
  readonly broken: boolean;
  /** Resolves when more may be written. */
  write(text: string): Promise<void>;
  /** Resolves when everything written so far was handed to the system. */
  flush(): Promise<void>;
}

export function createSink(
  stream: Writable & { readonly isTTY?: boolean },
  onBroken: () => void = () => {},
): Sink {
  let broken = false;
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  // Whatever it is (EPIPE, EIO of a closed terminal): nobody reads any more, and nobody can be told.
  stream.on("error", () => {
    if (broken) return;
    broken = true;
    leave();
    onBroken();
  });

  return {
    isTerminal: stream.isTTY === true,
    get broken() {
      return broken;
    },
    async write(text) {
      if (broken || text === "" || stream.write(text)) return;
      let onDrain = () => {};
      const drained = new Promise<void>((resolve) => {
        onDrain = resolve;
        stream.once("drain", onDrain);
      });
      await Promise.race([drained, left]);
      stream.off("drain", onDrain);
    },
    async flush() {
      if (broken) return;
      await Promise.race([new Promise<void>((resolve) => stream.write("", () => resolve())), left]);
    },
  };
}
