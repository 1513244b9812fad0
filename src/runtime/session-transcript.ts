import { CadreError, messageOf, systemCodeOf } from "../base/errors.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import type { Lock } from "../base/lock.ts";
import type { World } from "../base/world.ts";
import type { SessionFiles } from "../transcript/location.ts";
import type { TranscriptRecord } from "../transcript/record.ts";
import { openTranscript, type TranscriptWriter } from "../transcript/writer.ts";
import { lockSession } from "./lock-session.ts";

/**
 * The file comes to be with the first record that must be durable: a session that says nothing leaves nothing. While
 * it is open, no other process can write it.
 */
export function createSessionTranscript(options: {
  world: World;
  files: SessionFiles;
  /** Of a session that is gone on with: held since before it was read. Without it the session must be new. */
  lock?: Lock;
}): TranscriptWriter {
  const { world, files } = options;
  let early: TranscriptRecord[] = [];
  let opening: Promise<TranscriptWriter> | undefined;
  let opened: TranscriptWriter | undefined;
  let lock = options.lock;
  let isOurs = lock !== undefined;
  let closed = false;

  async function open(): Promise<TranscriptWriter> {
    // A second attempt finds what the first one has made.
    if (!isOurs) {
      await assertNew();
      await ensurePrivateFolder(world, files.projectFolder);
      isOurs = true;
    }
    // Side by side: nobody knows of a new session yet, and the disk takes its time for both.
    const [taking, writing] = await Promise.allSettled([
      lock ?? lockSession({ world, files }),
      openTranscript({ world, path: files.transcript }),
    ]);
    if (taking.status === "fulfilled") lock = taking.value;
    if (writing.status === "rejected") throw writing.reason;
    if (taking.status === "rejected") {
      await writing.value.close();
      throw taking.reason;
    }
    const writer = writing.value;
    for (const record of early) writer.append(record);
    early = [];
    opened = writer;
    return writer;
  }

  async function assertNew(): Promise<void> {
    try {
      await world.files.stat(files.transcript);
    } catch (error) {
      if (systemCodeOf(error) === "ENOENT") return;
      throw error;
    }
    throw new CadreError({
      code: "session-exists",
      message: `There is a session with this id already: ${files.transcript}. Choose another --session-id, or leave it out.`,
    });
  }

  return {
    path: files.transcript,
    append(record) {
      // Whoever closed the session wanted its end: what is late is not recorded.
      if (closed) return;
      if (opened) opened.append(record);
      else early.push(record);
    },
    async durable() {
      if (closed) return;
      if (opened === undefined) {
        opening ??= open();
        try {
          await opening;
        } catch (error) {
          opening = undefined;
          throw unwritable(error, files.transcript);
        }
      }
      await opened?.durable();
    },
    async close() {
      closed = true;
      await opening?.catch(() => {});
      try {
        await opened?.close();
      } finally {
        await lock?.release();
      }
    },
  };
}

function unwritable(error: unknown, path: string): CadreError {
  if (error instanceof CadreError) return error;
  return new CadreError({
    code: "transcript-unwritable",
    message: `The transcript ${path} cannot be written: ${messageOf(error)}. Make the folder writable, or start with --no-session-persistence to keep nothing.`,
    cause: error,
  });
}
