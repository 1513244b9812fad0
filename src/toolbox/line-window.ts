/**
 * Some lines out of a stream of bytes, however long the stream or a line in it is: only what will be shown
 * is kept.
 */
export interface LineWindow {
  /** Without line ends; a longer line is cut to `maxLineBytes`. */
  readonly lines: readonly WindowLine[];
  /** Lines seen so far, those outside the window included. */
  readonly lineCount: number;
  /** The window is full: later bytes can only raise `lineCount`. */
  readonly isFull: boolean;
}

export interface WindowLine {
  readonly bytes: Uint8Array;
  readonly isCut: boolean;
}

export interface LineWindowCollector {
  push(chunk: Uint8Array): void;
  /** After the last chunk: a line that no line feed ended counts too. */
  end(): void;
  readonly window: LineWindow;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export function createLineWindow(options: {
  /** 1-based. */
  firstLine: number;
  maxLines: number;
  maxLineBytes: number;
  /** Of all lines together; the line that exceeds it is the last. */
  maxBytes: number;
}): LineWindowCollector {
  const lines: WindowLine[] = [];
  let lineCount = 0;
  let keptBytes = 0;
  let parts: Uint8Array[] = [];
  let partBytes = 0;
  let lineBytes = 0;

  const isFull = () => lines.length >= options.maxLines || keptBytes > options.maxBytes;
  const isInWindow = () => lineCount + 1 >= options.firstLine && !isFull();

  const addToLine = (part: Uint8Array) => {
    lineBytes += part.length;
    const room = options.maxLineBytes - partBytes;
    if (room <= 0 || part.length === 0 || !isInWindow()) return;
    // A copy: the chunk's memory may be large, or used again.
    const kept = Uint8Array.from(part.subarray(0, room));
    parts.push(kept);
    partBytes += kept.length;
  };

  const endLine = () => {
    if (isInWindow()) {
      const isCut = lineBytes > partBytes;
      const bytes = Buffer.concat(parts);
      lines.push({ bytes: !isCut && bytes.at(-1) === carriageReturn ? bytes.subarray(0, -1) : bytes, isCut });
      keptBytes += bytes.length;
    }
    lineCount += 1;
    parts = [];
    partBytes = 0;
    lineBytes = 0;
  };

  return {
    push(chunk) {
      let start = 0;
      for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, start)) {
        addToLine(chunk.subarray(start, at));
        endLine();
        start = at + 1;
      }
      addToLine(chunk.subarray(start));
    },
    end() {
      if (lineBytes > 0) endLine();
    },
    get window() {
      return { lines, lineCount, isFull: isFull() };
    },
  };
}
