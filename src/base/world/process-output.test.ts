import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../testing/manual-clock.ts";
import { createProcessOutput } from "./process-output.ts";

const chunk = Buffer.alloc(100_000, "x");
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A pipe in which more waits than is read ahead. */
async function stuffed() {
  const clock = createManualClock();
  const pipe = new PassThrough({ highWaterMark: 1e6 });
  const output = createProcessOutput(pipe, clock);
  const iterator = output.chunks[Symbol.asyncIterator]();
  const first = iterator.next();
  for (let n = 0; n < 8; n++) pipe.write(chunk);
  await first;
  while (!pipe.isPaused()) await turn();
  return { clock, pipe, output, iterator };
}

describe("a process's output", () => {
  it("holds the process back while its reader is slow", async () => {
    const { pipe } = await stuffed();
    expect(pipe.readableLength).toBeGreaterThan(0);
  });

  it("is not given up after the process's end while its reader is slow", async () => {
    const { clock, pipe, output, iterator } = await stuffed();
    output.endWhenQuiet();
    await clock.advance(60_000);
    pipe.end();
    let rest = 0;
    for (let next = await iterator.next(); !next.done; next = await iterator.next())
      rest += next.value.length;
    expect(rest).toBe(7 * chunk.length);
    await output.ended;
    expect(clock.pendingMs()).toEqual([]);
  });

  it("is given up once it is quiet, and what had come is still there", async () => {
    const clock = createManualClock();
    const pipe = new PassThrough();
    const output = createProcessOutput(pipe, clock);
    pipe.write("kept");
    await turn();
    output.endWhenQuiet();
    await clock.advance(200);
    await output.ended;
    const pieces: string[] = [];
    for await (const piece of output.chunks) pieces.push(Buffer.from(piece).toString());
    expect(pieces).toEqual(["kept"]);
  });

  it("flows on, unseen, when its reader has left", async () => {
    const { pipe, output, iterator } = await stuffed();
    await iterator.return?.();
    pipe.end(chunk);
    await output.ended;
    expect(pipe.readableLength).toBe(0);
  });
});
