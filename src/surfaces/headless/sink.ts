import type { Writable } from "node:stream";
import { forTerminal } from "../../base/markup.ts";

/**
 * Text on its way out of the process: slow readers slow the writer down, a reader that left is no error. A
 * terminal obeys control sequences, so none reaches it, whoever wrote the text; a file gets the text as it is.
 */
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
  options: {
    onBroken?: (error: Error) => void;
    /** What everything that is written passes through first. */
    clean?: (text: string) => string;
  } = {},
): Sink {
  const isTerminal = stream.isTTY === true;
  const shown = (text: string) => {
    const clean = options.clean?.(text) ?? text;
    return isTerminal ? forTerminal(clean) : clean;
  };
  let broken = false;
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  // Whatever it is (EPIPE, a full disk, EIO of a closed terminal): what is written now goes nowhere.
  stream.on("error", (error: Error) => {
    if (broken) return;
    broken = true;
    leave();
    options.onBroken?.(error);
  });

  return {
    isTerminal,
    get broken() {
      return broken;
    },
    async write(text) {
      if (broken || text === "" || stream.write(shown(text))) return;
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
