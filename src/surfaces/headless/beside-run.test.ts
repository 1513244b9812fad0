import { describe, expect, it } from "vitest";
import { createChannel } from "../../base/channel.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { createBesideRun } from "./beside-run.ts";

const nextTick = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe("what happens beside a run", () => {
  it("is told after what the run had said before, though that takes longer to arrive", async () => {
    const clock = createManualClock();
    const beside = createBesideRun({ clock });
    const told: string[] = [];
    const said = createChannel<string>();
    const reading = (async () => {
      for await (const text of said) told.push(text);
    })();
    said.push("run 1");
    said.push("run 2");
    beside.add(() => void told.push("beside"));
    expect(told).toEqual([]);
    await clock.advance(0);
    said.push("run 3");
    said.close();
    await reading;
    expect(told).toEqual(["run 1", "run 2", "beside", "run 3"]);
  });

  it("waits for a reader who is slow to take what the run said", async () => {
    const clock = createManualClock();
    const beside = createBesideRun({ clock });
    const told: string[] = [];
    let drain = () => {};
    const slow = new Promise<void>((resolve) => {
      drain = resolve;
    });
    const telling = beside.telling(slow.then(() => void told.push("run")));
    beside.add(() => void told.push("beside"));
    await clock.advance(0);
    expect(told).toEqual([]);
    drain();
    await telling;
    await clock.advance(0);
    expect(told).toEqual(["run", "beside"]);
  });

  it("keeps its order, also when something comes while it is told", async () => {
    const beside = createBesideRun({ clock: createManualClock() });
    const told: string[] = [];
    beside.add(async () => {
      beside.add(() => void told.push("third"));
      await nextTick();
      told.push("first");
    });
    beside.add(() => void told.push("second"));
    await Promise.all([beside.flush(), beside.flush()]);
    beside.add(() => void told.push("fourth"));
    await beside.flush();
    expect(told).toEqual(["first", "second", "third", "fourth"]);
  });
});
