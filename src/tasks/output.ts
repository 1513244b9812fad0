/** The output file of a task in the background (TA-6): readable text that only grows, for its owner alone. */
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import type { FileHandle, World } from "../base/world.ts";

export interface TaskOutputFile {
  readonly path: string;
  /** The file is there when it resolves: true if it was there before, from an earlier run. */
  open(): Promise<boolean>;
  /** In the order of the calls. What cannot be written is lost, and told once. */
  readonly write: (text: string | Uint8Array) => void;
  /** Resolves when everything written before can be read. Never rejects. */
  flush(): Promise<void>;
  /** The same, and nothing is written any more. */
  close(): Promise<void>;
}

export function outputPathOf(folder: string, taskId: string): string {
  return join(folder, `${taskId}.txt`);
}

/** A command that never stops talking must not fill the disk. */
const mostBytes = 64 * 1024 * 1024;

export function createTaskOutput(options: {
  world: Pick<World, "files" | "platform">;
  folder: string;
  id: string;
  onProblem: (message: string) => void;
  maxBytes?: number;
}): TaskOutputFile {
  const { world, folder, id, maxBytes = mostBytes } = options;
  const path = outputPathOf(folder, id);
  let handle: FileHandle | undefined;
  let waiting: Uint8Array[] = [];
  let room = maxBytes;
  let writing: Promise<void> | undefined;
  /** Nothing is taken any more: it is full or closed, or could not be written. */
  let isOver = false;
  let isFailed = false;

  function fail(error: unknown): void {
    if (!isFailed) options.onProblem(`The output file ${path} could not be written: ${messageOf(error)}`);
    isFailed = true;
    isOver = true;
    waiting = [];
  }

  /** One write at a time: what comes meanwhile, or came before it was open, goes with the next. */
  function writeSoon(): void {
    if (handle !== undefined && waiting.length > 0) writing ??= writeWaiting(handle);
  }

  async function writeWaiting(to: FileHandle): Promise<void> {
    try {
      while (waiting.length > 0) {
        const data = Buffer.concat(waiting);
        waiting = [];
        await to.write(data);
      }
    } catch (error) {
      fail(error);
    } finally {
      writing = undefined;
    }
  }

  return {
    path,
    async open() {
      await ensurePrivateFolder(world, folder);
      handle = await world.files.open(path, "append", { fileMode: 0o600 });
      writeSoon();
      return (await handle.stat()).size > 0;
    },
    write(text) {
      const data = typeof text === "string" ? Buffer.from(text) : text;
      if (isOver || data.length === 0) return;
      isOver = data.length > room;
      waiting.push(isOver ? data.subarray(0, room) : data);
      if (isOver) waiting.push(Buffer.from(`\n[The rest is not kept: it is more than ${maxBytes} bytes.]\n`));
      room -= data.length;
      writeSoon();
    },
    async flush() {
      await writing;
    },
    async close() {
      isOver = true;
      await writing;
      const open = handle;
      handle = undefined;
      await open?.close().catch(fail);
    },
  };
}
