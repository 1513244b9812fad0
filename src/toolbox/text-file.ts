/** Bytes to text and back, without loss: whatever was not edited encodes to the bytes that were there. */
import { ToolFailure } from "../tools/tool.ts";

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "latin-1";

export interface TextFormat {
  readonly encoding: Encoding;
  readonly bom: boolean;
}

export interface DecodedText {
  /** Without the byte order mark. */
  readonly text: string;
  readonly format: TextFormat;
}

export const plainUtf8: TextFormat = Object.freeze({ encoding: "utf-8", bom: false });

/** How many bytes at the start of a file are looked at to tell text from binary data. */
export const sampleBytes = 8192;

/** Undefined if the bytes are not text. */
export function decodeText(bytes: Uint8Array): DecodedText | undefined {
  if (looksBinary(bytes.subarray(0, sampleBytes))) return undefined;
  const marked = formatByMark(bytes);
  if (marked?.encoding === "utf-16le" || marked?.encoding === "utf-16be") {
    if (bytes.length % 2 !== 0) return undefined;
    return { text: decodeUtf16(bytes.subarray(2), marked.encoding), format: marked };
  }
  const body = marked ? bytes.subarray(3) : bytes;
  const text = decodeUtf8(body);
  if (text !== undefined) return { text, format: marked ?? plainUtf8 };
  return { text: Buffer.from(bytes).toString("latin1"), format: { encoding: "latin-1", bom: false } };
}

/** What the first bytes say, if they are a byte order mark. */
export function formatByMark(bytes: Uint8Array): TextFormat | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: "utf-8", bom: true };
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: "utf-16le", bom: true };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: "utf-16be", bom: true };
  return undefined;
}

/** Judges by the first bytes of a file: NUL characters, or mostly control characters, are not text. */
export function looksBinary(sample: Uint8Array): boolean {
  const format = formatByMark(sample);
  if (format?.encoding === "utf-16le" || format?.encoding === "utf-16be") {
    const wholeUnits = sample.subarray(2, sample.length - (sample.length % 2));
    return decodeUtf16(wholeUnits, format.encoding).includes("\0");
  }
  if (sample.includes(0)) return true;
  if (decodeUtf8(sample, { mayBeCut: true }) !== undefined) return false;
  let controls = 0;
  for (const byte of sample) if (byte < 0x20 && !isTextControl(byte)) controls += 1;
  return controls > sample.length / 20;
}

/** Backspace to carriage return, and escape: what logs and terminal recordings contain. */
function isTextControl(byte: number): boolean {
  return (byte >= 0x08 && byte <= 0x0d) || byte === 0x1b;
}

/** Undefined if the bytes are not UTF-8. With `mayBeCut` an incomplete character at the end is left out. */
export function decodeUtf8(bytes: Uint8Array, options: { mayBeCut?: boolean } = {}): string | undefined {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return decoder.decode(bytes, { stream: options.mayBeCut ?? false });
  } catch {
    return undefined;
  }
}

// Not TextDecoder: that would replace lone surrogates, and an edit elsewhere would then change them.
function decodeUtf16(bytes: Uint8Array, encoding: "utf-16le" | "utf-16be"): string {
  const copy = Buffer.from(bytes);
  return (encoding === "utf-16be" ? copy.swap16() : copy).toString("utf16le");
}

/** Throws a `ToolFailure` that names the first character the encoding cannot express. */
export function encodeText(text: string, format: TextFormat): Uint8Array {
  const unencodable = findUnencodable(text, format.encoding);
  if (unencodable !== undefined) {
    const code = unencodable.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0");
    throw new ToolFailure(
      `The character U+${code} cannot be written in ${nameOfEncoding(format.encoding)}, the encoding of this file. Nothing was written. Leave the character out, or convert the file to UTF-8 first.`,
    );
  }
  const marked = format.bom ? `\uFEFF${text}` : text;
  switch (format.encoding) {
    case "utf-8":
      return Buffer.from(marked, "utf8");
    case "utf-16le":
      return Buffer.from(marked, "utf16le");
    case "utf-16be":
      return Buffer.from(marked, "utf16le").swap16();
    case "latin-1":
      return Buffer.from(marked, "latin1");
  }
}

export function canEncode(text: string, format: TextFormat): boolean {
  return findUnencodable(text, format.encoding) === undefined;
}

function findUnencodable(text: string, encoding: Encoding): string | undefined {
  if (encoding === "utf-8") return /\p{Surrogate}/u.exec(text)?.[0];
  if (encoding === "latin-1") return /[^\u0000-\u00FF]/u.exec(text)?.[0];
  return undefined;
}

export function nameOfEncoding(encoding: Encoding): string {
  switch (encoding) {
    case "utf-8":
      return "UTF-8";
    case "utf-16le":
      return "UTF-16 LE";
    case "utf-16be":
      return "UTF-16 BE";
    case "latin-1":
      return "Latin-1";
  }
}
