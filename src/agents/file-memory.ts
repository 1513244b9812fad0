/** What was made of files, kept until they change (AD-6). */
import { messageOf, systemCodeOf } from "../base/errors.ts";
import { hashOf } from "../base/files.ts";
import type { Clock, FileInfo, FileSystem } from "../base/world.ts";

export interface FileMemory<T> {
  /** What `make` made of the file, or undefined if it is not there. */
  get(wanted: {
    path: string;
    /** The same file can mean different things in different places. */
    variant: string;
    make: (content: FileContent) => T | Promise<T>;
  }): Promise<T | undefined>;
  /** Forgets what was not asked for since the last time. */
  forgetUnused(): void;
}

/** The whole file, or why it cannot be had. */
export type FileContent = { readonly bytes: Uint8Array } | { readonly reason: string };

interface Remembered<T> {
  readonly value: T;
  readonly stamp: string;
  /** Of a file that was written a moment before it was read: another write may have left its time as it was. */
  readonly hash?: string;
}

const maxFileBytes = 1024 * 1024;

/** Coarser clocks of file systems are rare. */
const clockGrainMs = 2000;

export function createFileMemory<T>(options: {
  files: FileSystem;
  /** Absent: the times of files are taken at their word. */
  clock?: Pick<Clock, "now">;
}): FileMemory<T> {
  const { files, clock } = options;
  let remembered = new Map<string, Remembered<T>>();
  let used = new Map<string, Remembered<T>>();

  return {
    async get({ path, variant, make }) {
      const key = `${variant}\n${path}`;
      const earlier = used.get(key) ?? remembered.get(key);
      const now = clock?.now();
      if (earlier !== undefined && earlier.hash === undefined && !earlier.stamp.startsWith("!")) {
        const info = await files.stat(path).catch(() => undefined);
        if (info !== undefined && stampOf(info) === earlier.stamp) return keep(key, earlier);
      }
      const read = await readWhole(files, path);
      if (read === undefined) return undefined;
      if ("reason" in read) {
        const stamp = `!${read.reason}`;
        if (earlier?.stamp === stamp) return keep(key, earlier);
        return keep(key, { stamp, value: await make(read) });
      }
      const stamp = stampOf(read.info);
      const isFresh = now !== undefined && Math.abs(now - read.info.mtimeMs) <= clockGrainMs;
      const hash = isFresh || earlier?.hash !== undefined ? hashOf(read.bytes) : undefined;
      const isSame = earlier?.stamp === stamp && earlier.hash !== undefined && earlier.hash === hash;
      const value = isSame ? earlier.value : await make(read);
      return keep(key, { stamp, value, ...(isFresh && hash !== undefined && { hash }) });
    },
    forgetUnused() {
      remembered = used;
      used = new Map();
    },
  };

  function keep(key: string, entry: Remembered<T>): T {
    used.set(key, entry);
    return entry.value;
  }
}

function stampOf({ inode, size, mtimeMs }: FileInfo): string {
  return `${inode} ${size} ${mtimeMs}`;
}

async function readWhole(
  files: FileSystem,
  path: string,
): Promise<{ bytes: Uint8Array; info: FileInfo } | { reason: string } | undefined> {
  try {
    const handle = await files.open(path, "read");
    try {
      const info = await handle.stat();
      if (info.kind !== "file") return { reason: "it is not a file" };
      if (info.size > maxFileBytes) return { reason: "it is larger than 1 MB" };
      // One more than it should have, to notice one that grows.
      const bytes = await handle.read(0, info.size + 1);
      return bytes.length > maxFileBytes ? { reason: "it is larger than 1 MB" } : { bytes, info };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return { reason: reasonOf(error) };
  }
}

/** Of an error of the system. */
export function reasonOf(error: unknown): string {
  const code = systemCodeOf(error);
  if (code === "EACCES" || code === "EPERM") return "it cannot be read: permission denied";
  if (code === "ELOOP") return "its links lead in a circle";
  return `it cannot be read: ${messageOf(error)}`;
}
