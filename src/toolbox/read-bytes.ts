/** Bytes of an open file, in parts. The end of the file is where reading ends, whatever its size was said to be. */
import { throwIfCancelled } from "../base/cancellation.ts";
import type { FileHandle } from "../base/world.ts";

/** The part of a file handle that reading needs. */
export type ByteSource = Pick<FileHandle, "read">;

const smallFileBytes = 256 * 1024;

/** Most files are small and are looked at several times: those are read from disk once. */
export async function loadIfSmall(handle: FileHandle, size: number): Promise<ByteSource> {
  // Pseudo files say 0 and have content all the same.
  if (size === 0 || size > smallFileBytes) return handle;
  const bytes = await handle.read(0, size);
  return { read: async (position, length) => bytes.subarray(position, position + length) };
}

const maxChunkBytes = 1024 * 1024;
const minChunkBytes = 4096;

export async function* readChunks(options: {
  handle: ByteSource;
  /** What the file system says; a hint only, since files grow and pseudo files say 0. */
  size: number;
  signal: AbortSignal;
}): AsyncGenerator<Uint8Array> {
  const { handle, size, signal } = options;
  const length = Math.min(maxChunkBytes, Math.max(minChunkBytes, size + 1));
  for (let position = 0; ; position += length) {
    throwIfCancelled(signal);
    const chunk = await handle.read(position, length);
    if (chunk.length > 0) yield chunk;
    if (chunk.length < length) return;
  }
}

/** Undefined if there are more than `maxBytes`. */
export async function readUpTo(options: {
  handle: ByteSource;
  size: number;
  maxBytes: number;
  signal: AbortSignal;
}): Promise<Uint8Array | undefined> {
  if (options.size > options.maxBytes) return undefined;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of readChunks(options)) {
    length += chunk.length;
    if (length > options.maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
