import { openJournal } from "../base/journal.ts";
import type { World } from "../base/world.ts";
import type { TranscriptRecord } from "./record.ts";

export interface TranscriptWriter {
  /** Absent when nothing is kept. */
  readonly path: string | undefined;
  /** In the order of the calls. */
  append(record: TranscriptRecord): void;
  /** Resolves when everything appended before is on disk. */
  durable(): Promise<void>;
  close(): Promise<void>;
}

export async function openTranscript(options: {
  world: Pick<World, "files">;
  path: string;
}): Promise<TranscriptWriter> {
  const journal = await openJournal({ files: options.world.files, path: options.path, mode: 0o600 });
  return {
    path: options.path,
    append: (record) => journal.append(record),
    durable: () => journal.durable(),
    close: () => journal.close(),
  };
}

/** For runs that shall leave nothing behind: no file, nothing to resume. */
export function createUnkeptTranscript(): TranscriptWriter {
  return { path: undefined, append: () => {}, durable: async () => {}, close: async () => {} };
}
