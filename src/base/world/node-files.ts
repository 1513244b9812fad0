import type { Dirent, Stats } from "node:fs";
import { watch } from "node:fs";
import * as fs from "node:fs/promises";
import { systemCodeOf } from "../errors.ts";
import type { FileHandle, FileInfo, FileSystem, OpenMode } from "../world.ts";

export function createNodeFiles(): FileSystem {
  return {
    readFile: (path) => fs.readFile(path),
    readText: (path) => fs.readFile(path, "utf8"),
    writeFile: (path, data, options) =>
      fs.writeFile(path, data, { mode: options?.mode, flag: options?.exclusive ? "wx" : "w" }),
    open: async (path, mode, options) =>
      createHandle(await fs.open(path, flags[mode], options?.fileMode), mode === "append"),
    stat: async (path) => infoOf(await fs.stat(path)),
    lstat: async (path) => infoOf(await fs.lstat(path)),
    realPath: (path) => fs.realpath(path),
    readFolder: async (path) => {
      const entries = await fs.readdir(path, { withFileTypes: true });
      return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
    },
    makeFolder: async (path, options) => {
      await fs.mkdir(path, { recursive: options?.recursive, mode: options?.mode });
    },
    rename: (from, to) => fs.rename(from, to),
    link: (existing, to) => fs.link(existing, to),
    symlink: (target, path) => fs.symlink(target, path),
    readLink: (path) => fs.readlink(path),
    remove,
    chmod: (path, mode) => fs.chmod(path, mode),
    syncFolder,
    watch: watchPath,
  };
}

// `append` can be read as well: a journal looks at its own last line before it goes on.
const flags: Record<OpenMode, string> = { read: "r", append: "a+", update: "r+", create: "wx+" };

function createHandle(handle: fs.FileHandle, appends: boolean): FileHandle {
  return {
    async read(position, length) {
      const buffer = Buffer.allocUnsafe(length);
      let filled = 0;
      while (filled < length) {
        const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return buffer.subarray(0, filled);
    },
    async write(data, position) {
      let written = 0;
      while (written < data.length) {
        const at = appends || position === undefined ? null : position + written;
        const { bytesWritten } = await handle.write(data, written, data.length - written, at);
        written += bytesWritten;
      }
    },
    truncate: (length) => handle.truncate(length),
    sync: () => handle.datasync(),
    stat: async () => infoOf(await handle.stat()),
    close: () => handle.close(),
  };
}

function infoOf(stats: Stats): FileInfo {
  return {
    kind: kindOf(stats),
    size: stats.size,
    mtimeMs: stats.mtimeMs,
    mode: stats.mode & 0o7777,
    inode: stats.ino,
  };
}

function kindOf(entry: Dirent | Stats): FileInfo["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

async function remove(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void> {
  if (options?.recursive) {
    await fs.rm(path, { recursive: true, force: options.force ?? false, maxRetries: 3 });
    return;
  }
  try {
    await fs.unlink(path);
  } catch (error) {
    if (!(options?.force && systemCodeOf(error) === "ENOENT")) throw error;
  }
}

/** Some file systems cannot sync a folder; there the rename is as durable as it gets. */
const cannotSyncFolders = new Set(["EISDIR", "EINVAL", "EPERM", "ENOTSUP"]);

async function syncFolder(path: string): Promise<void> {
  let handle: fs.FileHandle | undefined;
  try {
    handle = await fs.open(path, "r");
    await handle.sync();
  } catch (error) {
    if (!cannotSyncFolders.has(systemCodeOf(error) ?? "")) throw error;
  } finally {
    await handle?.close();
  }
}

/** A watcher that cannot be had, or that breaks, is a silent one: those who watch also look by themselves. */
function watchPath(path: string, onChange: () => void): { close(): void } {
  try {
    const watcher = watch(path, { persistent: false }, () => onChange());
    watcher.on("error", () => watcher.close());
    return watcher;
  } catch {
    return { close() {} };
  }
}
