import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createSink } from "./sink.ts";

/** Takes one piece at a time, when the test says so. */
function slowStream() {
  const taken: string[] = [];
  let release: (() => void) | undefined;
  const stream = new Writable({
    highWaterMark: 4,
    write(chunk: Buffer, _encoding, done) {
      release = () => {
        taken.push(chunk.toString());
        done();
      };
    },
  });
  return { stream, taken, next: () => release?.() };
}

describe("createSink", () => {
  it("holds the writer back until a slow reader has room", async () => {
    const slow = slowStream();
    const sink = createSink(slow.stream);
    const order: string[] = [];
    const writing = sink.write("a long text").then(() => order.push("written"));
    await Promise.resolve();
    order.push("still waiting");
    slow.next();
    await writing;
    expect(order).toEqual(["still waiting", "written"]);
  });

  it("is flushed only when everything was taken", async () => {
    const slow = slowStream();
    const sink = createSink(slow.stream);
    void sink.write("first");
    let flushed = false;
    const flushing = sink.flush().then(() => {
      flushed = true;
    });
    await new Promise(setImmediate);
    expect(flushed).toBe(false);
    slow.next();
    await new Promise(setImmediate);
    slow.next();
    await flushing;
    expect(slow.taken.join("")).toBe("first");
  });

  it("takes a reader that left for the end, tells it once, and never hangs", async () => {
    let told = 0;
    const stream = new Writable({
      highWaterMark: 1,
      write(_chunk, _encoding, done) {
        done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
      },
    });
    const sink = createSink(stream, { onBroken: () => told++ });
    await sink.write("lost");
    await sink.write("lost as well");
    await sink.flush();
    expect(sink.broken).toBe(true);
    expect(told).toBe(1);
  });
});
