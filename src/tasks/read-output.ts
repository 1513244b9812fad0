import type { FileSystem } from "../base/world.ts";

const lineFeed = 0x0a;

/** The end of an output file, at most `maxBytes` of it. It begins with a whole line, unless that costs too much. */
export async function readTaskOutput(options: {
  files: Pick<FileSystem, "open">;
  path: string;
  maxBytes: number;
}): Promise<{ text: string; totalBytes: number; truncated: boolean }> {
  const handle = await options.files.open(options.path, "read");
  try {
    const { size: totalBytes } = await handle.stat();
    const from = Math.max(0, totalBytes - Math.max(0, Math.floor(options.maxBytes)));
    // One byte more tells whether a line begins there.
    const before = from > 0 ? 1 : 0;
    const bytes = await handle.read(from - before, totalBytes - from + before);
    const start = before + (before > 0 ? lengthOfCutLine(bytes) : 0);
    return { text: decode(bytes.subarray(start)), totalBytes, truncated: from > 0 };
  } finally {
    await handle.close();
  }
}

/** How many of the bytes after the first belong to a line, or at least to a character, that began before them. */
function lengthOfCutLine(bytes: Uint8Array): number {
  const lineEnd = bytes.indexOf(lineFeed);
  // Of a file that is mostly one line a part of that line is worth more than the rest.
  if (lineEnd !== -1 && lineEnd <= bytes.length / 2) return lineEnd;
  let length = 0;
  while (length < 3 && isContinuation(bytes[length + 1])) length++;
  return length;
}

/** Of a character in UTF-8 every byte but the first. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Commands write anything. A character of which only the first bytes are written so far is left for the next look. */
function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
}
