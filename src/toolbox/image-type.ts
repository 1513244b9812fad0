/** The media type of an image that models can see, by its first bytes: names lie. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return "image/png";
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return "image/jpeg";
  if (hasAscii(bytes, "GIF87a") || hasAscii(bytes, "GIF89a")) return "image/gif";
  if (hasAscii(bytes, "RIFF") && hasAscii(bytes.subarray(8), "WEBP")) return "image/webp";
  return undefined;
}

export function isPdf(bytes: Uint8Array): boolean {
  return hasAscii(bytes, "%PDF-");
}

function hasAscii(bytes: Uint8Array, text: string): boolean {
  return startsWith(bytes, Buffer.from(text, "latin1"));
}

function startsWith(bytes: Uint8Array, prefix: ArrayLike<number>): boolean {
  if (bytes.length < prefix.length) return false;
  for (let index = 0; index < prefix.length; index += 1) if (bytes[index] !== prefix[index]) return false;
  return true;
}
