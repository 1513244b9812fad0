/** Reads records back as after a crash: only what was written before it is there. */
import type { FileHandle, FileInfo, FileSystem } from "../../src/base/world.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";
import { type LoadedTranscript, loadTranscript } from "../../src/transcript/reader.ts";
import type { TranscriptRecord } from "../../src/transcript/record.ts";

const world = createTestWorld();

export async function loadRecords(records: readonly TranscriptRecord[]): Promise<LoadedTranscript> {
  const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const handle: Pick<FileHandle, "read" | "stat" | "close"> = {
    read: async (position, length) => bytes.subarray(position, position + length),
    stat: async () => ({ size: bytes.length }) as FileInfo,
    close: async () => {},
  };
  // A journal that is read needs no more of a file.
  const files: FileSystem = { ...world.files, open: async () => handle as FileHandle };
  return await loadTranscript({ world: { files }, path: "/records" });
}
