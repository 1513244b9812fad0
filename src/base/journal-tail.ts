import { throwIfCancelled } from "./cancellation.ts";
import { systemCodeOf } from "./errors.ts";
import { createLineCutter, readDefaults } from "./journal-lines.ts";
import { entriesOf, type JournalEntry, type JournalSource } from "./journal-reader.ts";
import type { Clock, FileHandle } from "./world.ts";

export interface TailOptions extends JournalSource {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly fromOffset?: number;
  /** How often the file is looked at without having been told that it changed. */
  readonly pollMs?: number;
}

/**
 * The records from `fromOffset` on, and then each new one as it is appended, until the signal fires (which
 * throws `CancelledError`). The file need not exist yet. A last line without its end is waited for.
 */
export async function* tailJournal(options: TailOptions): AsyncGenerator<JournalEntry, void, undefined> {
  const alarm = createAlarm(options);
  let handle: FileHandle | undefined;
  try {
    let lines = createLineCutter(options, { offset: options.fromOffset ?? 0, line: 1 });
    for (;;) {
      throwIfCancelled(options.signal);
      if (handle === undefined) {
        handle = await openIfThere(options);
        if (handle !== undefined) alarm.watch();
      }
      // Before the look, so that a change during it is not missed.
      alarm.reset();
      const chunk = await handle?.read(lines.position, options.chunkBytes ?? readDefaults.chunkBytes);
      if (chunk !== undefined && chunk.length > 0) {
        for (const line of lines.cut(chunk)) yield* entriesOf(line);
        continue;
      }
      await alarm.next();
      // A writer whose disk was full takes an unfinished end back and writes it anew.
      lines = createLineCutter(options, lines.lineStart);
    }
  } finally {
    alarm.close();
    await handle?.close();
  }
}

async function openIfThere(options: JournalSource): Promise<FileHandle | undefined> {
  try {
    return await options.files.open(options.path, "read");
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

interface Alarm {
  watch(): void;
  reset(): void;
  /** Resolves when the file may have changed since `reset`, at the next poll, or when the signal fires. */
  next(): Promise<void>;
  close(): void;
}

function createAlarm(options: TailOptions): Alarm {
  let rang = false;
  let wake = () => {};
  let watcher: { close(): void } | undefined;
  const ring = () => {
    rang = true;
    wake();
  };
  options.signal.addEventListener("abort", ring);
  return {
    watch() {
      watcher ??= options.files.watch(options.path, ring);
    },
    reset() {
      rang = options.signal.aborted;
    },
    async next() {
      if (rang) return;
      const timer = options.clock.setTimer(options.pollMs ?? 500, ring);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      timer.cancel();
    },
    close() {
      watcher?.close();
      options.signal.removeEventListener("abort", ring);
    },
  };
}
