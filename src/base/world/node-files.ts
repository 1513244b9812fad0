import { watch } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname } from "node:path";
import { systemCodeOf } from "../errors.ts";
import type { FileSystem } from "../world.ts";
import { infoOf, kindOf } from "./file-info.ts";
import { openFile } from "./node-file-handle.ts";

export function createNodeFiles(): FileSystem {
  return {
    readFile: (path) => fs.readFile(path),
    readText: (path) => fs.readFile(path, "utf8"),
    writeFile: (path, data, options) =>
      fs.writeFile(path, data, { mode: options?.mode, flag: options?.exclusive ? "wx" : "w" }),
    open: (path, mode, options) => openFile(path, mode, options?.fileMode),
    stat: async (path) => infoOf(await fs.stat(path)),
    lstat: async (path) => infoOf(await fs.lstat(path)),
    realPath: (path) => fs.realpath(path),
    readFolder: async (path) => {
      const entries = await fs.readdir(path, { withFileTypes: true });
      return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
    },
    makeFolder,
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

async function makeFolder(path: string, options?: { recursive?: boolean; mode?: number }): Promise<void> {
  try {
    await fs.mkdir(path, options);
  } catch (error) {
    // For a folder that cannot be made, in a place that exists, Node says that the place does not.
    if (!options?.recursive || systemCodeOf(error) !== "ENOENT") throw error;
    await makeStep(path, options.mode);
  }
}

/** One folder at a time, so that the system's own reason is heard. */
async function makeStep(path: string, mode: number | undefined): Promise<void> {
  try {
    await fs.mkdir(path, { mode });
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "EEXIST" && (await fs.stat(path)).isDirectory()) return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    await makeStep(dirname(path), mode);
    await fs.mkdir(path, { mode });
  }
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
