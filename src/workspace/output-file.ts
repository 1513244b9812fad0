import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import type { FileHandle, World } from "../base/world.ts";

/** Takes the output of a command as it comes; a slow one slows the command down. */
export interface OutputSink {
  write(chunk: Uint8Array): Promise<void>;
}

/** Keeps a long output whole in a file. A short one never touches the disk. */
export interface OutputFile extends OutputSink {
  /** Everything written so far, which is then no longer kept here. Nothing may be written meanwhile, or after it. */
  takeBack(): AsyncIterable<Uint8Array>;
  /** Must be called at the end; more than once does no harm. Undefined when the output was short. */
  close(): Promise<KeptOutput | undefined>;
}

export type KeptOutput =
  | { readonly kept: true; readonly path: string; readonly whole: boolean }
  | { readonly kept: false; readonly why: string };

export interface OutputFileOptions {
  readonly world: World;
  readonly folder: string;
  readonly name: string;
  /** Up to here nothing is written. */
  readonly shortBytes: number;
  /** What comes after is dropped. */
  readonly maxBytes: number;
}

export function createOutputFile(options: OutputFileOptions): OutputFile {
  const path = join(options.folder, fileNameFor(options));
  let waiting: Uint8Array[] = [];
  let totalBytes = 0;
  let handle: FileHandle | undefined;
  let failure: string | undefined;
  let closed: Promise<KeptOutput | undefined> | undefined;

  const writeWaiting = async () => {
    if (handle === undefined) {
      await ensurePrivateFolder(options.world, options.folder);
      handle = await options.world.files.open(path, "create", { fileMode: 0o600 });
    }
    const data = Buffer.concat(waiting);
    waiting = [];
    await handle.write(data);
  };

  async function* takeBack(): AsyncGenerator<Uint8Array, void, undefined> {
    if (failure !== undefined) throw new Error(failure);
    if (handle === undefined) {
      yield* waiting;
      waiting = [];
      return;
    }
    await handle.close();
    handle = undefined;
    yield* piecesOf(options.world, path);
    await options.world.files.remove(path, { force: true });
  }

  async function close(): Promise<KeptOutput | undefined> {
    await handle?.close().catch((error: unknown) => {
      failure ??= messageOf(error);
    });
    if (failure !== undefined) return { kept: false, why: failure };
    return handle === undefined ? undefined : { kept: true, path, whole: totalBytes <= options.maxBytes };
  }

  return {
    takeBack,
    async write(chunk) {
      const room = options.maxBytes - totalBytes;
      totalBytes += chunk.length;
      if (failure !== undefined || room <= 0) return;
      waiting.push(chunk.subarray(0, room));
      if (totalBytes <= options.shortBytes) return;
      try {
        await writeWaiting();
      } catch (error) {
        // The command must not fail because its output could not be kept.
        failure = messageOf(error);
        waiting = [];
      }
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}

const pieceBytes = 256 * 1024;

async function* piecesOf({ files }: World, path: string): AsyncGenerator<Uint8Array, void, undefined> {
  const file = await files.open(path, "read");
  try {
    let position = 0;
    for (;;) {
      const piece = await file.read(position, pieceBytes);
      if (piece.length === 0) return;
      position += piece.length;
      yield piece;
    }
  } finally {
    await file.close();
  }
}

/** Part of it is random, so that nobody can guess the name and plant a file there. */
function fileNameFor({ name, world }: OutputFileOptions): string {
  const readable = name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, 40);
  return `${readable}-${Buffer.from(world.random.bytes(12)).toString("hex")}.txt`;
}
