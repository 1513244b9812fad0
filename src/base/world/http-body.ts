import type { IncomingMessage } from "node:http";
import type { Readable, Transform } from "node:stream";
import type { FetchResponse } from "../world.ts";

/**
 * The body of a response, its own iterator. Chunks are Node's, unchanged. A body that was cut fails; it never
 * looks like one that ended. Hand-written instead of a generator for two reasons: `return()` must free the
 * connection even before the first `next()`, and whoever iterates must keep the body itself alive.
 */
export class ResponseBody implements AsyncIterableIterator<Uint8Array> {
  readonly #stream: Readable;
  readonly #explain: (error: Error) => Error;
  #cancelled = false;
  #used = false;
  #wake = () => {};
  #last: Promise<unknown> | undefined;

  constructor(stream: Readable, explain: (error: Error) => Error) {
    this.#stream = stream;
    this.#explain = explain;
    const wake = () => this.#wake();
    for (const event of ["readable", "end", "close", "error"]) stream.on(event, wake);
  }

  /** Somebody has begun to read it. */
  get used(): boolean {
    return this.#used;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array, undefined>> {
    // Calls that overlap are answered in their order.
    const read = () => this.#read();
    const result = this.#last === undefined ? read() : this.#last.then(read, read);
    this.#last = result;
    return result;
  }

  async #read(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#used = true;
    const stream = this.#stream;
    for (;;) {
      if (this.#cancelled) return { done: true, value: undefined };
      // An error that came after the last good bytes must not overtake them: but a destroyed stream gives no
      // more bytes, so what is lost with it is reported as lost.
      if (stream.errored) throw this.#explain(stream.errored);
      const chunk = stream.read() as Uint8Array | null;
      if (chunk !== null) return { done: false, value: chunk };
      if (stream.readableEnded) return { done: true, value: undefined };
      if (stream.destroyed) throw this.#explain(new Error("the connection was closed"));
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    await this.cancel();
    return { done: true, value: undefined };
  }

  cancel(): Promise<void> {
    if (!this.#cancelled && !this.#stream.readableEnded) {
      // What has arrived whole can be thrown away without losing the connection.
      if ((this.#stream as Partial<IncomingMessage>).complete === true) this.#stream.resume();
      else this.#stream.destroy();
    }
    this.#cancelled = true;
    this.#wake();
    return Promise.resolve();
  }
}

export async function bytesOf(body: FetchResponse["body"]): Promise<Buffer> {
  if (body === null) return Buffer.alloc(0);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const [only] = chunks;
  return only !== undefined && chunks.length === 1
    ? Buffer.from(only.buffer, only.byteOffset, only.byteLength)
    : Buffer.concat(chunks);
}

/** `message`, or what comes out of its content-encodings. */
export async function decoded(message: IncomingMessage): Promise<Readable> {
  const encodings = (message.headers["content-encoding"] ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && name !== "identity");
  if (encodings.length === 0 || message.headers["content-length"] === "0") return message;
  const zlib = process.getBuiltinModule("node:zlib");
  const { pipeline } = process.getBuiltinModule("node:stream");
  // Each step hands on what it has at once, or an event stream would stall in the decoder.
  const eager = { flush: zlib.constants.Z_SYNC_FLUSH };
  let stream: Readable = message;
  for (const encoding of encodings.reverse()) {
    let decoder: Transform;
    if (encoding === "gzip" || encoding === "x-gzip") decoder = zlib.createGunzip(eager);
    else if (encoding === "br")
      decoder = zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH });
    else if (encoding !== "deflate")
      throw new Error(`it is encoded as "${encoding}", which is not understood`);
    else decoder = (await beginsLikeZlib(stream)) ? zlib.createInflate(eager) : zlib.createInflateRaw(eager);
    // The error reaches the reader through the decoder, which `pipeline` destroys with it.
    stream = pipeline(stream, decoder, () => {});
  }
  return stream;
}

/** Some servers send bare deflate data under a name that promises the zlib format. */
async function beginsLikeZlib(stream: Readable): Promise<boolean> {
  await new Promise<void>((resolve) => {
    for (const event of ["readable", "end", "close", "error"]) stream.once(event, () => resolve());
  });
  const head = stream.read() as Uint8Array | null;
  if (head === null) return true;
  stream.unshift(head);
  return ((head[0] ?? 0) & 0x0f) === 8;
}
