import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../testing/manual-clock.ts";
import { createTempWorkspace } from "../../testing/temp-workspace.ts";
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

  it("is not quiet while what has arrived could not be read yet", async () => {
    const folder = await createTempWorkspace();
    const server = createServer();
    const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
    await new Promise<void>((resolve) => server.listen(join(folder.path, "pipe"), resolve));
    const pipe = connect(join(folder.path, "pipe"));
    const writer = await accepted;
    let timeIsUp = () => {};
    const setTimer = (_ms: number, callback: () => void) => {
      timeIsUp = callback;
      return { cancel() {} };
    };
    const output = createProcessOutput(pipe, { ...createManualClock(), setTimer });
    await turn();
    // All in one go: the event loop does not come to look at the pipe in between.
    writer.end(chunk);
    output.endWhenQuiet();
    timeIsUp();
    let received = 0;
    for await (const piece of output.chunks) received += piece.length;
    expect(received).toBe(chunk.length);
    await new Promise((resolve) => server.close(resolve));
    await folder.remove();
  });

  it("flows on, unseen, when its reader has left", async () => {
    const { pipe, output, iterator } = await stuffed();
    await iterator.return?.();
    pipe.end(chunk);
    await output.ended;
    expect(pipe.readableLength).toBe(0);
  });
});
