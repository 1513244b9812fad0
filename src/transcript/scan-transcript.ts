/**
 * The lines of a transcript from its beginning. Of a large one, messages far from the end are not taken apart: only
 * what tells whether a conversation can begin with them is looked at.
 */
import { createLineCutter, type Line, readDefaults } from "../base/journal-lines.ts";
import { entriesOf, type JournalEntry } from "../base/journal-reader.ts";
import type { FileSystem } from "../base/world.ts";

export interface PassedMessage {
  readonly kind: "passed";
  /** A conversation can begin with it: a user message without results. */
  readonly canBegin: boolean;
  readonly offset: number;
  readonly nextOffset: number;
}

export type ScannedLine = PassedMessage | { readonly kind: "entry"; readonly entry: JournalEntry };

export async function* scanTranscript(options: {
  files: FileSystem;
  path: string;
  /** Messages that begin earlier than so many bytes before the end are passed over. */
  keepBytes: number;
}): AsyncGenerator<ScannedLine, void, undefined> {
  const handle = await options.files.open(options.path, "read");
  try {
    const { size } = await handle.stat();
    const takeFrom = size - options.keepBytes;
    const lines = createLineCutter({}, { offset: 0, line: 1 });
    for (;;) {
      const chunk = await handle.read(lines.position, readDefaults.chunkBytes);
      if (chunk.length === 0) break;
      for (const line of lines.cut(chunk)) yield* scanLine(line, takeFrom);
    }
    const last = lines.rest();
    if (last !== undefined) yield* scanLine(last, takeFrom);
  } finally {
    await handle.close();
  }
}

function* scanLine(line: Line, takeFrom: number): Generator<ScannedLine, void, undefined> {
  const passed = line.offset < takeFrom ? passMessage(line) : undefined;
  if (passed !== undefined) yield passed;
  else for (const entry of entriesOf(line)) yield { kind: "entry", entry };
}

const messageStart = Buffer.from('{"type":"message",');
const closingBrace = 0x7d;

/** In JSON a quote inside a text is escaped, so these can only be what they seem. */
function passMessage({ bytes, ended, offset, nextOffset }: Line): PassedMessage | undefined {
  if (bytes === undefined || !ended || bytes.at(-1) !== closingBrace) return undefined;
  const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!line.subarray(0, messageStart.length).equals(messageStart)) return undefined;
  // It acknowledges what waited in the queue.
  if (line.includes('"queueItems":')) return undefined;
  const isUser = line.subarray(0, 512).includes('"role":"user"');
  const canBegin = isUser && !line.includes('"type":"tool_result"');
  return { kind: "passed", canBegin, offset, nextOffset };
}
