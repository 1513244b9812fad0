import { dirname } from "node:path";
import { CadreError, messageOf, systemCodeOf } from "./errors.ts";
import type { FileHandle, FileSystem } from "./world.ts";

/**
 * An append-only file of JSON lines with one writer. What `durable` has acknowledged survives a crash at any
 * byte. Reading is in journal-reader.ts.
 */
export interface Journal {
  readonly path: string;
  /** Queues a record. It reaches the file with the next `durable` or `close`, in the order of the calls. */
  append(record: unknown): void;
  /** The same for a record that is JSON already: one line, without its end. */
  appendText(json: string): void;
  /**
   * Resolves when everything appended before this call is on the disk. All who wait at one moment share one
   * write and one sync. If it rejects, nothing is lost: the records stay queued, and the next call tries again.
   */
  durable(): Promise<void>;
  /** Writes what is queued, then closes the file, also if writing failed. */
  close(): Promise<void>;
}

export async function openJournal(options: {
  files: FileSystem;
  path: string;
  mode?: number;
}): Promise<Journal> {
  const { files, path } = options;
  const handle = await files.open(path, "append", { fileMode: options.mode ?? 0o600 });
  try {
    const { size } = await handle.stat();
    const lines = createLineWriter({ files, path, handle, size, mode: options.mode ?? 0o600 });
    // A crash may have cut the last line. It is ended, never deleted: the reader recovers or reports it.
    if (size > 0 && (await handle.read(size - 1, 1))[0] !== newline) lines.add("\n");
    return journalOf(path, lines);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const newline = 0x0a;

function journalOf(path: string, lines: LineWriter): Journal {
  let closing: Promise<void> | undefined;
  const appendText = (json: string) => {
    if (closing !== undefined) throw new Error(`${path} was appended to after it had been closed.`);
    if (json === "" || json.includes("\n"))
      throw new TypeError(`A record of ${path} is not one line of JSON.`);
    lines.add(`${json}\n`);
  };
  return {
    path,
    append(record) {
      const json = JSON.stringify(record) as string | undefined;
      if (json === undefined) throw new TypeError(`A record of ${path} cannot be written as JSON.`);
      appendText(json);
    },
    appendText,
    durable: lines.flush,
    close() {
      closing ??= flushAndClose(lines);
      return closing;
    },
  };
}

async function flushAndClose(lines: LineWriter): Promise<void> {
  try {
    await lines.flush();
  } finally {
    await lines.close();
  }
}

interface LineWriter {
  add(text: string): void;
  flush(): Promise<void>;
  close(): Promise<void>;
}

function createLineWriter(options: {
  files: FileSystem;
  path: string;
  handle: FileHandle;
  size: number;
  mode: number;
}): LineWriter {
  const { files, path, mode } = options;
  let { handle } = options;
  let queue: string[] = [];
  let running: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;
  /** Up to here the file is known to be good. */
  let goodSize = options.size;
  let tailIsDoubtful = false;
  let nameIsDurable = options.size > 0;

  async function writeBatch(batch: readonly string[]): Promise<void> {
    const bytes = Buffer.from(batch.join(""));
    if (tailIsDoubtful) await handle.truncate(goodSize);
    // Until the sync has succeeded nobody knows what is there. After a failed one the bytes must be written
    // again: the system may have dropped them and still report success the next time.
    tailIsDoubtful = true;
    await handle.write(bytes);
    await handle.sync();
    if (await isRemoved(handle, options)) {
      handle = await putBack({ files, path, handle, mode });
      nameIsDurable = false;
    }
    if (!nameIsDurable) await files.syncFolder(dirname(path));
    nameIsDurable = true;
    tailIsDoubtful = false;
    goodSize += bytes.length;
  }

  async function run(): Promise<void> {
    const batch = queue;
    queue = [];
    try {
      await writeBatch(batch);
    } catch (error) {
      queue = batch.concat(queue);
      throw unwritable(path, error);
    } finally {
      running = undefined;
    }
  }

  function start(): Promise<void> {
    waiting = undefined;
    if (queue.length === 0) return Promise.resolve();
    running = run();
    return running;
  }

  return {
    add(text) {
      queue.push(text);
    },
    flush() {
      // A batch that waits for its turn takes everything that is queued when it begins.
      if (waiting !== undefined) return waiting;
      if (running === undefined) return start();
      if (queue.length === 0) return running;
      waiting = running.then(start, start);
      return waiting;
    },
    close: () => handle.close(),
  };
}

async function isRemoved(handle: FileHandle, at: { files: FileSystem; path: string }): Promise<boolean> {
  const { links, inode } = await handle.stat();
  if (links > 0) return false;
  // Not every file system counts names: the name itself decides.
  const named = await at.files.stat(at.path).catch(() => undefined);
  return named?.inode !== inode;
}

/** Somebody removed the file, or its folder, while it was in use. What was acknowledged is put back under its name. */
async function putBack(options: {
  files: FileSystem;
  path: string;
  handle: FileHandle;
  mode: number;
}): Promise<FileHandle> {
  const { files, path, handle } = options;
  await files.makeFolder(dirname(path), { recursive: true, mode: 0o700 });
  const copy = await files.open(path, "create", { fileMode: options.mode });
  try {
    const { size } = await handle.stat();
    for (let at = 0; at < size; at += copyBytes) await copy.write(await handle.read(at, copyBytes), at);
    await copy.sync();
  } catch (error) {
    // Half a copy would be in the way of the next attempt.
    await files.remove(path, { force: true }).catch(() => {});
    throw error;
  } finally {
    await copy.close();
  }
  await handle.close();
  return await files.open(path, "append", { fileMode: options.mode });
}

const copyBytes = 1024 * 1024;

function unwritable(path: string, error: unknown): CadreError {
  const code = systemCodeOf(error);
  const advice =
    code === "ENOSPC" || code === "EDQUOT"
      ? "Free some space on that disk"
      : "Check that disk and the permissions of the file";
  return new CadreError({
    code: "journal-unwritable",
    message: `${path} could not be written: ${messageOf(error)}. ${advice}, then try again; what was saved before is safe.`,
    data: { path, systemCode: code },
    cause: error,
    retryable: true,
  });
}
