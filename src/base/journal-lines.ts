/** Cuts the bytes of a journal into lines. */
export interface Place {
  /** Where the line begins, in bytes. */
  readonly offset: number;
  /** Where the next line begins. */
  readonly nextOffset: number;
  /** Counted from 1 where reading began; absent when reading backwards. */
  readonly line?: number;
}

export const readDefaults = { chunkBytes: 256 * 1024, maxLineBytes: 64 * 1024 * 1024 };

/** A line, or one of which only its extent is known because it was too long to keep. */
export interface Line extends Place {
  readonly bytes: Uint8Array | undefined;
  readonly ended: boolean;
}

const newline = 0x0a;

export interface LineCutter {
  /** Where the next chunk has to be read. */
  readonly position: number;
  /** The beginning of the line that is not complete yet, and its number. */
  readonly lineStart: { readonly offset: number; readonly line: number };
  cut(chunk: Uint8Array): Generator<Line, void, undefined>;
  /** The last line, if the file does not end with a line break. */
  rest(): Line | undefined;
}

export function createLineCutter(
  limits: { readonly maxLineBytes?: number },
  from: { readonly offset: number; readonly line: number },
): LineCutter {
  const maxLineBytes = limits.maxLineBytes ?? readDefaults.maxLineBytes;
  let position = from.offset;
  let offset = from.offset;
  let number = from.line;
  /** The beginning of a line that goes on in the next chunk. */
  let parts: Uint8Array[] = [];

  const take = (end: number, tail: Uint8Array, ended: boolean): Line => {
    const length = end - offset - (ended ? 1 : 0);
    const bytes =
      length > maxLineBytes ? undefined : parts.length === 0 ? tail : Buffer.concat([...parts, tail]);
    const line: Line = { bytes, ended, offset, nextOffset: end, line: number };
    parts = [];
    offset = end;
    number++;
    return line;
  };

  return {
    get position() {
      return position;
    },
    get lineStart() {
      return { offset, line: number };
    },
    *cut(chunk) {
      const chunkStart = position;
      position += chunk.length;
      let start = 0;
      for (;;) {
        const end = chunk.indexOf(newline, start);
        if (end === -1) break;
        yield take(chunkStart + end + 1, chunk.subarray(start, end), true);
        start = end + 1;
      }
      if (start === chunk.length) return;
      if (position - offset > maxLineBytes) parts = [];
      else parts.push(chunk.subarray(start));
    },
    rest: () => (offset === position ? undefined : take(position, new Uint8Array(0), false)),
  };
}
