/**
 * One JSON object per line. U+2028 and its like are escaped: many readers take them for line ends, and
 * a message that holds one would reach them in two broken halves.
 */
export function toJsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(
    /[\u0085\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )}\n`;
}

/** The lines of a byte stream, split at `\n` alone, whatever the borders of its chunks. */
export async function* linesOf(
  input: AsyncIterable<Uint8Array | string>,
): AsyncGenerator<{ number: number; text: string }, void, undefined> {
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let number = 0;
  for await (const chunk of input) {
    const text = typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const [first = "", ...rest] = text.split("\n");
    pieces.push(first);
    for (const piece of rest) {
      yield { number: ++number, text: pieces.join("") };
      pieces = [piece];
    }
  }
  const last = pieces.join("") + decoder.decode();
  if (last !== "") yield { number: ++number, text: last };
}
