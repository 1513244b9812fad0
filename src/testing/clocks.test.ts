import { describe, expect, it } from "vitest";
import { sleep } from "../base/cancellation.ts";
import { createNodeFiles } from "../base/world/node-files.ts";
import { createManualClock } from "./manual-clock.ts";
import { createVirtualClock } from "./virtual-clock.ts";

describe("the manual clock", () => {
  it("fires what is due in order, and lets each timer's consequences happen first", async () => {
    const clock = createManualClock(1000);
    const seen: string[] = [];
    const note = (name: string) => seen.push(`${name}@${clock.now()}`);
    clock.setTimer(20, () => note("b"));
    clock.setTimer(10, () => note("a"));
    clock.setTimer(20, () => note("c"));
    clock.setTimer(99, () => note("late"));
    void (async () => {
      await sleep(clock, 12);
      note("slept");
      await sleep(clock, 3);
      note("again");
    })();
    await clock.advance(20);
    expect(seen).toEqual(["a@1010", "slept@1012", "again@1015", "b@1020", "c@1020"]);
    expect([clock.now(), clock.monotonicMs(), clock.pendingMs()]).toEqual([1020, 20, [79]]);
  });

  it("stands still by itself", async () => {
    const clock = createManualClock();
    let fired = false;
    const timer = clock.setTimer(0, () => {
      fired = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect([fired, clock.now()]).toEqual([false, 0]);
    timer.cancel();
    await clock.advance(10);
    expect(fired).toBe(false);
  });
});

describe("the virtual clock", () => {
  it("lets hours pass when nothing else happens", async () => {
    const clock = createVirtualClock();
    const day = async () => {
      for (let hour = 0; hour < 24; hour++) await sleep(clock, 3_600_000);
      return "done";
    };
    expect(await clock.runUntil(day())).toBe("done");
    expect(clock.now()).toBe(24 * 3_600_000);
  });

  it("waits for real files before it lets a deadline pass", async () => {
    const clock = createVirtualClock();
    const files = createNodeFiles();
    const work = async () => {
      for (let n = 0; n < 300; n++) await files.readFile(import.meta.filename);
      return "read";
    };
    const deadline = sleep(clock, 1000).then(() => "late");
    expect(await clock.runUntil(Promise.race([work(), deadline]))).toBe("read");
  });

  it("passes failures on, and says when nothing is left that could end the work", async () => {
    const clock = createVirtualClock();
    await expect(clock.runUntil(Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    await expect(clock.runUntil(new Promise(() => {}))).rejects.toThrow("Nothing is left to do");
  });
});
