import { parseLine } from "./journal-line.ts";
import { createLineCutter, type Line, type Place, readDefaults } from "./journal-lines.ts";
import type { FileSystem } from "./world.ts";

/** `torn`: the last line, cut by a crash. `broken`: not JSON, or NULs. `too-long`: not even looked at. */
export type JournalProblem = "torn" | "broken" | "too-long";

/** A line gives one record as a rule. A damaged one gives what could be saved, then its problem. */
export type JournalEntry =
  | (Place & { readonly ok: true; readonly record: unknown })
  | (Place & { readonly ok: false; readonly problem: JournalProblem });

export interface JournalSource {
  readonly files: FileSystem;
  readonly path: string;
  /** The size of the pieces that are read; lines may be longer. */
  readonly chunkBytes?: number;
  /** Longer lines are reported and skipped. */
  readonly maxLineBytes?: number;
}

/** All records in order, with bounded memory. What is damaged is reported, and all that follows is kept. */
export async function* readJournal(
  options: JournalSource & { readonly fromOffset?: number },
): AsyncGenerator<JournalEntry, void, undefined> {
  const handle = await options.files.open(options.path, "read");
  try {
    const lines = createLineCutter(options, { offset: options.fromOffset ?? 0, line: 1 });
    for (;;) {
      const chunk = await handle.read(lines.position, options.chunkBytes ?? readDefaults.chunkBytes);
      if (chunk.length === 0) break;
      for (const line of lines.cut(chunk)) yield* entriesOf(line);
    }
    const last = lines.rest();
    if (last !== undefined) yield* entriesOf(last);
  } finally {
    await handle.close();
  }
}

export function* entriesOf(line: Line): Generator<JournalEntry, void, undefined> {
  const { bytes, ended, ...place } = line;
  if (bytes === undefined) {
    yield { ok: false, problem: "too-long", ...place };
    return;
  }
  const content = parseLine(bytes);
  for (const record of content.records) yield { ok: true, record, ...place };
  if (content.damaged) yield { ok: false, problem: ended ? "broken" : "torn", ...place };
}

const newline = 0x0a;

/** The records from the newest to the oldest, with bounded memory: for the end of a huge file. */
export async function* readJournalBackwards(
  options: JournalSource & { readonly beforeOffset?: number },
): AsyncGenerator<JournalEntry, void, undefined> {
  const chunkBytes = options.chunkBytes ?? readDefaults.chunkBytes;
  const maxLineBytes = options.maxLineBytes ?? readDefaults.maxLineBytes;
  const handle = await options.files.open(options.path, "read");
  try {
    let position = options.beforeOffset ?? (await handle.stat()).size;
    let lineEnd = position;
    let ended = position > 0 && (await handle.read(position - 1, 1))[0] === newline;
    if (ended) position--;
    /** The end of a line that begins in an earlier chunk, first part first. */
    let parts: Uint8Array[] = [];
    const take = (offset: number, head: Uint8Array): Line => {
      const length = lineEnd - offset - (ended ? 1 : 0);
      const bytes = length > maxLineBytes ? undefined : Buffer.concat([head, ...parts]);
      const line: Line = { bytes, ended, offset, nextOffset: lineEnd };
      parts = [];
      lineEnd = offset;
      ended = true;
      return line;
    };
    while (position > 0) {
      const start = Math.max(0, position - chunkBytes);
      const chunk = await handle.read(start, position - start);
      let end = chunk.length;
      for (;;) {
        const at = end === 0 ? -1 : chunk.lastIndexOf(newline, end - 1);
        if (at === -1) break;
        yield* newestFirst(take(start + at + 1, chunk.subarray(at + 1, end)));
        end = at;
      }
      if (lineEnd - start > maxLineBytes + 1) parts = [];
      else parts.unshift(chunk.subarray(0, end));
      position = start;
    }
    if (lineEnd > 0) yield* newestFirst(take(0, new Uint8Array(0)));
  } finally {
    await handle.close();
  }
}

function newestFirst(line: Line): JournalEntry[] {
  return [...entriesOf(line)].reverse();
}
