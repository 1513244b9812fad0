import type { FileHandle, FileSystem } from "../base/world.ts";

export type FaultyOperation =
  | "open"
  | "write"
  | "sync"
  | "truncate"
  | "rename"
  | "link"
  | "remove"
  | "read"
  | "syncFolder";

/** Lets the `at`-th operation of a kind fail, counted from 1. */
export interface Fault {
  readonly operation: FaultyOperation;
  readonly at: number;
  /** Such as ENOSPC, EIO or EROFS. */
  readonly code: string;
  /** How many in a row. Default 1; `Infinity` for a disk that stays full. */
  readonly times?: number;
  /** For writes: so many bytes reach the file before it fails. */
  readonly tornBytes?: number;
}

export interface FaultyFiles extends FileSystem {
  /** How often an operation was asked for. */
  count(operation: FaultyOperation): number;
  /** No more faults from now on. */
  heal(): void;
}

/** `files`, with the given operations failing as they would on a bad or full disk. */
export function createFaultyFiles(files: FileSystem, faults: readonly Fault[]): FaultyFiles {
  const counts = new Map<FaultyOperation, number>();
  let healed = false;

  const faultOf = (operation: FaultyOperation): Fault | undefined => {
    const count = (counts.get(operation) ?? 0) + 1;
    counts.set(operation, count);
    if (healed) return undefined;
    return faults.find(
      (fault) => fault.operation === operation && count >= fault.at && count < fault.at + (fault.times ?? 1),
    );
  };
  const check = (operation: FaultyOperation, path: string): void => {
    const fault = faultOf(operation);
    if (fault !== undefined) throw systemError(fault, path);
  };

  const wrapHandle = (handle: FileHandle, path: string): FileHandle => ({
    ...handle,
    async read(position, length) {
      check("read", path);
      return handle.read(position, length);
    },
    async write(data, position) {
      const fault = faultOf("write");
      if (fault === undefined) return handle.write(data, position);
      if (fault.tornBytes !== undefined) await handle.write(data.subarray(0, fault.tornBytes), position);
      throw systemError(fault, path);
    },
    async truncate(length) {
      check("truncate", path);
      return handle.truncate(length);
    },
    async sync() {
      check("sync", path);
      return handle.sync();
    },
  });

  return {
    ...files,
    async open(path, mode, options) {
      check("open", path);
      return wrapHandle(await files.open(path, mode, options), path);
    },
    async writeFile(path, data, options) {
      const fault = faultOf("write");
      if (fault === undefined) return files.writeFile(path, data, options);
      if (fault.tornBytes !== undefined) {
        await files.writeFile(path, bytesOf(data).subarray(0, fault.tornBytes), options);
      }
      throw systemError(fault, path);
    },
    async readFile(path) {
      check("read", path);
      return files.readFile(path);
    },
    async readText(path) {
      check("read", path);
      return files.readText(path);
    },
    async rename(from, to) {
      check("rename", from);
      return files.rename(from, to);
    },
    async link(existing, to) {
      check("link", to);
      return files.link(existing, to);
    },
    async remove(path, options) {
      check("remove", path);
      return files.remove(path, options);
    },
    async syncFolder(path) {
      check("syncFolder", path);
      return files.syncFolder(path);
    },
    count: (operation) => counts.get(operation) ?? 0,
    heal() {
      healed = true;
    },
  };
}

function systemError(fault: Fault, path: string): Error {
  return Object.assign(new Error(`${fault.code}: injected fault, ${fault.operation} '${path}'`), {
    code: fault.code,
    syscall: fault.operation,
    path,
  });
}

function bytesOf(data: string | Uint8Array): Uint8Array {
  return typeof data === "string" ? Buffer.from(data) : data;
}
