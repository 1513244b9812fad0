/** The beginning and the end of a stream of bytes, in bounded memory, however long it gets. */
export interface OutputWindow {
  add(chunk: Uint8Array): void;
  readonly totalBytes: number;
  /** Everything, if nothing had to be left out; otherwise the two ends and how much is missing between them. */
  read(): OutputEnds;
}

export interface OutputEnds {
  readonly head: string;
  readonly tail: string;
  /** Bytes between `head` and `tail`. With 0, `head + tail` is the whole. */
  readonly omittedBytes: number;
  readonly totalBytes: number;
}

export function createOutputWindow(limits: { headBytes: number; tailBytes: number }): OutputWindow {
  const head: Uint8Array[] = [];
  let tail: Uint8Array[] = [];
  let headLength = 0;
  let tailLength = 0;
  let totalBytes = 0;

  const trimTail = () => {
    const joined = Buffer.concat(tail);
    tail = [Buffer.from(joined.subarray(Math.max(0, joined.length - limits.tailBytes)))];
    tailLength = tail[0]?.length ?? 0;
  };

  return {
    add(chunk) {
      totalBytes += chunk.length;
      const forHead = chunk.subarray(0, Math.max(0, limits.headBytes - headLength));
      if (forHead.length > 0) head.push(forHead);
      headLength += forHead.length;
      const rest = chunk.subarray(forHead.length);
      if (rest.length === 0) return;
      tail.push(rest);
      tailLength += rest.length;
      // Trimmed only when it has doubled: once per megabyte of a flood, not once per chunk.
      if (tailLength > 2 * limits.tailBytes || tail.length > 4096) trimTail();
    },
    get totalBytes() {
      return totalBytes;
    },
    read() {
      if (tailLength > limits.tailBytes) trimTail();
      const omittedBytes = totalBytes - headLength - tailLength;
      if (omittedBytes === 0) return { head: decode([...head, ...tail]), tail: "", omittedBytes, totalBytes };
      // A character that was cut in two is left out on both sides.
      return {
        head: decode(head).replace(/\ufffd{1,3}$/, ""),
        tail: decode(tail).replace(/^\ufffd{1,3}/, ""),
        omittedBytes,
        totalBytes,
      };
    },
  };
}

function decode(chunks: readonly Uint8Array[]): string {
  return Buffer.concat(chunks).toString("utf8");
}
