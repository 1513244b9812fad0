/** Where frontmatter begins and ends (AD-3, rule 1). */
import { isUtf8 } from "node:buffer";
import type { FrontmatterBlock, FrontmatterRepair } from "./frontmatter-field.ts";

export interface FencedText {
  /** Absent: the text has no frontmatter. */
  readonly block?: FrontmatterBlock;
  /** All that follows the closing fence, or the whole text. */
  readonly body: string;
  readonly repairs: readonly FrontmatterRepair[];
}

interface DecodedText {
  readonly text: string;
  readonly repairs: readonly FrontmatterRepair[];
}

/** Never throws: what cannot be read as text is replaced or left out, and told. */
export function decodeText(file: Uint8Array | string): DecodedText {
  const { text, repairs } = typeof file === "string" ? { text: file, repairs: [] } : decodeBytes(file);
  const nul = text.indexOf("\0");
  if (nul < 0) return { text, repairs };
  return {
    text: text.replaceAll("\0", ""),
    repairs: [...repairs, { line: lineAt(text, nul), what: "NUL characters were left out" }],
  };
}

function decodeBytes(bytes: Uint8Array): DecodedText {
  const utf16 = utf16Of(bytes);
  if (utf16 !== undefined)
    return { text: utf16, repairs: [{ line: 1, what: "the file is UTF-16; save it as UTF-8" }] };
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
  const bad = text.indexOf("\uFFFD");
  if (bad < 0 || isUtf8(bytes)) return { text, repairs: [] };
  return { text, repairs: [{ line: lineAt(text, bad), what: "bytes that are not UTF-8 were replaced" }] };
}

function utf16Of(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return undefined;
}

/**
 * The opening fence is the first line that is not blank, if it is `---`; the closing one is the next `---`,
 * or, if there is none, a longer line of dashes. Comments of HTML may stand before the first.
 */
export function splitFences(given: string): FencedText {
  const text = withPlainLineEnds(given);
  const none = { body: text, repairs: [] };
  const start = skipBlankLines(text, 0);
  const open = skipComments(text, start);
  if (lineFrom(text, open) !== "---") return none;
  const first = nextLine(text, open);
  const close = findClosingFence(text, first);
  if (close === undefined)
    return open > start
      ? none
      : {
          body: text,
          repairs: [
            {
              line: lineAt(text, open),
              what: "the frontmatter is opened with `---` but never closed, so it is none",
            },
          ],
        };
  const block = { text: text.slice(first, close).replaceAll("\r", ""), firstLine: lineAt(text, first) };
  // A rule below a comment is a rule, unless a field follows.
  if (open > start && !/^\s*["']?[A-Za-z][\w-]*["']?\s*:/.test(block.text)) return none;
  const repairs: FrontmatterRepair[] = [];
  if (open > start)
    repairs.push({ line: lineAt(text, start), what: "a comment stands before the frontmatter" });
  if (lineFrom(text, close) !== "---")
    repairs.push({ line: lineAt(text, close), what: "the closing fence is longer than `---`" });
  return { block, body: text.slice(nextLine(text, close)), repairs };
}

function withPlainLineEnds(given: string): string {
  let text = given;
  // The second one is a space without width, which some editors leave behind.
  while (text.startsWith("\uFEFF") || text.startsWith("\u200B")) text = text.slice(1);
  if (!text.includes("\r")) return text;
  return text.includes("\n") ? text.replaceAll("\r\n", "\n") : text.replaceAll("\r", "\n");
}

function skipBlankLines(text: string, from: number): number {
  let at = from;
  while (at < text.length && lineFrom(text, at).trim() === "") at = nextLine(text, at);
  return at;
}

function skipComments(text: string, from: number): number {
  let at = from;
  while (text.startsWith("<!--", at)) {
    const end = text.indexOf("-->", at);
    if (end < 0 || lineFrom(text, end + 3).trim() !== "") return from;
    at = skipBlankLines(text, nextLine(text, end));
  }
  return at;
}

function findClosingFence(text: string, from: number): number | undefined {
  let longer: number | undefined;
  for (let at = from; at < text.length; at = nextLine(text, at)) {
    if (!text.startsWith("---", at)) continue;
    const line = lineFrom(text, at);
    if (line === "---") return at;
    longer ??= /^-+$/.test(line) ? at : undefined;
  }
  return longer;
}

/** The rest of a line, without the blanks at its end. */
function lineFrom(text: string, at: number): string {
  const end = text.indexOf("\n", at);
  return text.slice(at, end < 0 ? undefined : end).trimEnd();
}

function nextLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}
