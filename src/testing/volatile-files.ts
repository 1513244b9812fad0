import { dirname } from "node:path";
import type { FileHandle, FileSystem } from "../base/world.ts";

/** A disk whose machine can lose its power: what was not synced is gone then, names of files too. */
export interface VolatileFiles extends FileSystem {
  /** How many operations were asked for that change something. */
  readonly operations: number;
  readonly isDead: boolean;
  /** Takes away what a power failure would have taken. */
  losePower(): Promise<void>;
}

interface Kept {
  syncedBytes: number;
  hasName: boolean;
}

/** From operation `diesAt` on (counted from 1) everything fails; that one, if it is a write, is half done. */
export function createVolatileFiles(files: FileSystem, options: { diesAt?: number } = {}): VolatileFiles {
  const diesAt = options.diesAt ?? Number.POSITIVE_INFINITY;
  const known = new Map<string, Kept>();
  let operations = 0;

  const assertAlive = () => {
    if (operations >= diesAt) throw Object.assign(new Error("EIO: the machine is off"), { code: "EIO" });
  };
  const step = () => {
    operations++;
    assertAlive();
  };
  const keptOf = async (path: string): Promise<Kept> => {
    const before = known.get(path);
    if (before) return before;
    const size = await files.stat(path).then(
      (info) => info.size,
      () => undefined,
    );
    const kept = { syncedBytes: size ?? 0, hasName: size !== undefined };
    known.set(path, kept);
    return kept;
  };

  const wrap = (handle: FileHandle, kept: Kept): FileHandle => ({
    ...handle,
    async read(position, length) {
      assertAlive();
      return await handle.read(position, length);
    },
    async write(data, position) {
      const wasAlive = operations < diesAt;
      operations++;
      if (wasAlive && operations >= diesAt)
        await handle.write(data.subarray(0, Math.floor(data.length / 2)), position);
      assertAlive();
      await handle.write(data, position);
    },
    async truncate(length) {
      step();
      await handle.truncate(length);
      kept.syncedBytes = Math.min(kept.syncedBytes, length);
    },
    async sync() {
      step();
      await handle.sync();
      kept.syncedBytes = (await handle.stat()).size;
    },
  });

  return {
    ...files,
    get operations() {
      return operations;
    },
    get isDead() {
      return operations >= diesAt;
    },
    async open(path, mode, openOptions) {
      if (mode === "read") {
        assertAlive();
        return await files.open(path, mode, openOptions);
      }
      step();
      const kept = await keptOf(path);
      return wrap(await files.open(path, mode, openOptions), kept);
    },
    async writeFile(path, data, writeOptions) {
      step();
      const kept = await keptOf(path);
      await files.writeFile(path, data, writeOptions);
      kept.syncedBytes = 0;
    },
    async rename(from, to) {
      step();
      const kept = await keptOf(from);
      await files.rename(from, to);
      known.delete(from);
      known.set(to, { ...kept, hasName: false });
    },
    async remove(path, removeOptions) {
      step();
      await files.remove(path, removeOptions);
      known.delete(path);
    },
    async syncFolder(path) {
      step();
      await files.syncFolder(path);
      for (const [name, kept] of known) if (dirname(name) === path) kept.hasName = true;
    },
    async losePower() {
      for (const [path, kept] of known) {
        if (!kept.hasName) await files.remove(path, { force: true });
        else await cut(files, path, kept.syncedBytes);
      }
    },
  };
}

async function cut(files: FileSystem, path: string, length: number): Promise<void> {
  const handle = await files.open(path, "update").catch(() => undefined);
  if (handle === undefined) return;
  if ((await handle.stat()).size > length) await handle.truncate(length);
  await handle.close();
}
