/**
 * Open files by their number, with Node's callback functions: a tool that reads a small file, or a journal that
 * is synced every turn, is felt in every turn, and the promise functions do more on the way.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncate,
  open,
  read,
  readlinkSync,
  readSync,
  realpath,
  write,
} from "node:fs";
import { systemCodeOf } from "../errors.ts";
import type { FileHandle, OpenMode } from "../world.ts";
import { infoOf } from "./file-info.ts";

const { O_APPEND, O_CREAT, O_DSYNC, O_EXCL, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;

const flags: Record<OpenMode, number> = {
  // A pipe without a writer would otherwise hold up whoever opens it; regular files do not care.
  read: O_RDONLY | (O_NONBLOCK ?? 0),
  // It can be read as well: a journal looks at its own last line before it goes on.
  // And what is written to it is on disk when the write returns: one way to another thread instead of two.
  append: O_RDWR | O_APPEND | O_CREAT | (O_DSYNC ?? 0),
  update: O_RDWR,
  create: O_RDWR | O_CREAT | O_EXCL,
};

const smallBytes = 64 * 1024;

export async function openFile(path: string, mode: OpenMode, fileMode = 0o666): Promise<FileHandle> {
  const fd = await promised<number>((done) => open(path, flags[mode], fileMode, done));
  let closed = false;
  /** A regular file of few bytes, as far as anybody has asked. */
  let isSmallFile = false;
  return {
    async read(position, length) {
      const buffer = Buffer.allocUnsafe(length);
      let filled = 0;
      // What was opened a moment ago answers: a little of it is had sooner than another thread is woken.
      if (isSmallFile && length <= smallBytes)
        return buffer.subarray(0, readSync(fd, buffer, 0, length, position));
      while (filled < length) {
        const from = filled;
        const count = await promised<number>((done) =>
          read(fd, buffer, from, length - from, position + from, done),
        );
        if (count === 0) break;
        filled += count;
      }
      return buffer.subarray(0, filled);
    },
    async write(data, position) {
      let written = 0;
      while (written < data.length) {
        const from = written;
        const at = mode === "append" || position === undefined ? null : position + from;
        written += await promised<number>((done) => write(fd, data, from, data.length - from, at, done));
      }
    },
    truncate: (length) => promised<void>((done) => ftruncate(fd, length, done)),
    async sync() {
      if (mode === "append" && O_DSYNC !== undefined) return;
      await promised<void>((done) => fdatasync(fd, done));
    },
    // What the system knows of an open file is at hand: going to another thread for it would cost more.
    async stat() {
      const info = infoOf(fstatSync(fd));
      isSmallFile = mode === "read" && info.kind === "file" && info.size > 0 && info.size <= smallBytes;
      return info;
    },
    realPath: async () => nameOfOpenFile(fd) ?? (await promised<string>((done) => realpath(path, done))),
    async close() {
      // A number that was given back may belong to another file by now.
      if (closed) return;
      closed = true;
      closeSync(fd);
    },
  };
}

/** Linux tells, also when the name was exchanged since. */
function nameOfOpenFile(fd: number): string | undefined {
  try {
    const name = readlinkSync(`/proc/self/fd/${fd}`);
    return name.startsWith("/") && !name.endsWith(" (deleted)") ? name : undefined;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  }
}

function promised<T>(start: (done: (error: Error | null, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    // Functions without a value call back with the error alone.
    start((error, value) => (error ? reject(error) : resolve(value as T)));
  });
}
