/** A page of a text file, as numbered lines. Files of any size and with lines of any length. */

import { createHash } from "node:crypto";
import { groupDigits } from "../base/group-digits.ts";
import { maxChangeableBytes } from "./change-file.ts";
import { formatCount, numberLine } from "./line-numbers.ts";
import { createLineWindow, type WindowLine } from "./line-window.ts";
import type { ByteSource } from "./read-bytes.ts";
import { readChunks } from "./read-bytes.ts";
import { decodeUtf8, formatByMark } from "./text-file.ts";

export interface TextPage {
  readonly text: string;
  /** Of the whole file; absent if it is too large to be changed anyway. */
  readonly hash: string | undefined;
}

export const defaultMaxLines = 2000;
const maxLineChars = 2000;
// No more than three bytes of UTF-8 make one of a string's characters.
const maxLineBytes = maxLineChars * 3 + 8;
const maxPageChars = 60_000;

export async function readTextPage(options: {
  handle: ByteSource;
  size: number;
  firstLine: number;
  maxLines: number;
  signal: AbortSignal;
}): Promise<TextPage> {
  const { firstLine, maxLines } = options;
  const collector = createLineWindow({ firstLine, maxLines, maxLineBytes, maxBytes: maxPageChars * 3 });
  const hash = createHash("sha256");
  let byteCount = 0;
  let isComplete = true;
  let toUtf8: ((chunk: Uint8Array) => Uint8Array) | undefined;
  for await (const chunk of readChunks(options)) {
    toUtf8 ??= createTranscoder(chunk);
    byteCount += chunk.length;
    const isHashed = byteCount <= maxChangeableBytes && options.size <= maxChangeableBytes;
    if (isHashed) hash.update(chunk);
    if (!isHashed && collector.window.isFull) {
      isComplete = false;
      break;
    }
    collector.push(toUtf8(chunk));
  }
  collector.end();
  const { lines, lineCount } = collector.window;
  const total = isComplete ? lineCount : undefined;
  return {
    text: formatPage({ lines, firstLine, total }),
    hash: isComplete && byteCount <= maxChangeableBytes ? hash.digest("hex") : undefined,
  };
}

/** UTF-16 becomes UTF-8, so that lines are found in one way only; a byte order mark is dropped. */
function createTranscoder(firstChunk: Uint8Array): (chunk: Uint8Array) => Uint8Array {
  const format = formatByMark(firstChunk);
  if (format?.encoding === "utf-16le" || format?.encoding === "utf-16be") {
    const decoder = new TextDecoder(format.encoding);
    return (chunk) => Buffer.from(decoder.decode(chunk, { stream: true }), "utf8");
  }
  return (chunk) => (chunk === firstChunk && format?.bom ? chunk.subarray(3) : chunk);
}

function formatPage(options: {
  lines: readonly WindowLine[];
  firstLine: number;
  total: number | undefined;
}): string {
  const { lines, firstLine, total } = options;
  if (total === 0) return "(The file is empty.)";
  if (lines.length === 0)
    return `(The file has ${formatCount(total ?? 0, "line")}; offset ${firstLine} is beyond its end.)`;
  const { texts, isLatin1 } = decodeLines(lines);
  const shown: string[] = [];
  let charCount = 0;
  for (const text of texts) {
    const line = numberLine(text, firstLine + shown.length);
    charCount += line.length + 1;
    if (charCount > maxPageChars && shown.length > 0) break;
    shown.push(line);
  }
  const lastLine = firstLine + shown.length - 1;
  if (lastLine !== total)
    shown.push(
      `(Lines ${firstLine} to ${lastLine} of ${total ?? "a larger number"}. Read on with offset ${lastLine + 1}.)`,
    );
  if (isLatin1) shown.push("(The file is not valid UTF-8; it is shown as Latin-1.)");
  return shown.join("\n");
}

function decodeLines(lines: readonly WindowLine[]): { texts: string[]; isLatin1: boolean } {
  const decoded = lines.map((line) => decodeUtf8(line.bytes, { mayBeCut: line.isCut }));
  const isLatin1 = decoded.includes(undefined);
  const texts = lines.map((line, index) => {
    const text = isLatin1 ? Buffer.from(line.bytes).toString("latin1") : (decoded[index] ?? "");
    return line.isCut || text.length > maxLineChars ? cutLine(text) : text;
  });
  return { texts, isLatin1 };
}

function cutLine(text: string): string {
  const cut = text.slice(0, maxLineChars).replace(/[\uD800-\uDBFF]$/, "");
  return `${cut} (line cut after ${groupDigits(maxLineChars)} characters)`;
}
