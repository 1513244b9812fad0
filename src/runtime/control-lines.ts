import { CadreError } from "../base/errors.ts";

/** The lines of a stream, without their breaks and without empty ones. Throws `line-too-long` as soon as one is. */
export async function* linesOf(
  incoming: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string, void, undefined> {
  let parts: Uint8Array[] = [];
  let length = 0;
  const keep = (part: Uint8Array) => {
    length += part.length;
    if (length > maxBytes)
      throw new CadreError({ code: "line-too-long", message: `A line may have ${maxBytes} bytes at most.` });
    parts.push(part);
  };
  const take = () => {
    const line = Buffer.concat(parts).toString("utf8").trim();
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of incoming) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      const line = take();
      if (line !== "") yield line;
    }
    keep(chunk.subarray(start));
  }
  const last = take();
  if (last !== "") yield last;
}

const newline = 0x0a;
