import type { Readable } from "node:stream";
import type { Clock } from "../world.ts";

/** While somebody reads, the child is held back when this much is waiting. */
const readAheadBytes = 256 * 1024;
/** What is kept for a reader who has not come yet. */
const unreadBytes = 1024 * 1024;
/** How long a pipe may stay silent after the process has ended, and how often that is looked at at most. */
const quietMs = 100;
const quietChecks = 10;

/**
 * One output of a child. Memory is bounded either way: a slow reader slows the child down; for an output
 * that nobody reads the first megabyte is kept and the rest is dropped, so that a child never hangs because
 * only its other output is read. A reader who comes too late for the rest gets an error, never a silent gap.
 */
export interface ProcessOutput {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly ended: Promise<void>;
  /** The process is gone: end as soon as the pipe is quiet, even if a grandchild still holds it. */
  endWhenQuiet(): void;
}

export function createProcessOutput(stream: Readable | null, clock: Clock): ProcessOutput {
  const queue: Uint8Array[] = [];
  let queuedBytes = 0;
  let droppedBytes = 0;
  let ended = stream === null;
  let reader: "none" | "reading" | "left" = "none";
  let receivedSinceCheck = false;
  let wake = () => {};
  let resolveEnded = () => {};
  const endedPromise = new Promise<void>((resolve) => {
    resolveEnded = resolve;
  });

  const end = () => {
    ended = true;
    wake();
    resolveEnded();
  };
  if (stream === null) end();
  stream?.on("data", (chunk: Uint8Array) => {
    receivedSinceCheck = true;
    if (reader === "left") return;
    if (droppedBytes > 0 || (reader === "none" && queuedBytes + chunk.length > unreadBytes)) {
      droppedBytes += chunk.length;
      return;
    }
    queue.push(chunk);
    queuedBytes += chunk.length;
    if (reader === "reading" && queuedBytes > readAheadBytes) stream.pause();
    wake();
  });
  stream?.on("close", end);
  stream?.on("error", () => stream.destroy());

  async function* read(): AsyncGenerator<Uint8Array, void, undefined> {
    reader = "reading";
    try {
      for (;;) {
        const chunk = queue.shift();
        if (chunk !== undefined) {
          queuedBytes -= chunk.length;
          if (queuedBytes <= readAheadBytes) stream?.resume();
          yield chunk;
        } else if (droppedBytes > 0) {
          throw new Error(
            `${droppedBytes} or more bytes of a process's output were dropped, because nobody read them.`,
          );
        } else if (ended) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      reader = "left";
      queue.length = 0;
      stream?.resume();
    }
  }

  function checkQuiet(checksLeft: number): void {
    receivedSinceCheck = false;
    const timer = clock.setTimer(quietMs, () => {
      // A busy program is late to read what has long arrived: it does so now, before the pipe counts as quiet.
      setImmediate(() => {
        if (ended || stream === null) return;
        // Paused means that the reader is slow, not that the pipe is quiet.
        if (stream.isPaused()) checkQuiet(checksLeft);
        else if (receivedSinceCheck && checksLeft > 1) checkQuiet(checksLeft - 1);
        else stream.destroy();
      });
    });
    void endedPromise.then(() => timer.cancel());
  }

  return {
    chunks: { [Symbol.asyncIterator]: read },
    ended: endedPromise,
    endWhenQuiet: () => checkQuiet(quietChecks),
  };
}
