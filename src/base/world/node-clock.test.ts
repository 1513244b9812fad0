import { describe, expect, it } from "vitest";
import { createNodeClock } from "./node-clock.ts";

const clock = createNodeClock();

describe("the real clock", () => {
  it("agrees with the system, and never goes back", () => {
    const before = Date.now();
    const now = clock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
    const first = clock.monotonicMs();
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(first);
  });

  it("calls back once, and not at all when called off", async () => {
    const calls: string[] = [];
    clock.setTimer(0, () => calls.push("cancelled")).cancel();
    await new Promise<void>((resolve) => {
      clock.setTimer(Number.NaN, () => calls.push("odd"));
      clock.setTimer(-5, () => calls.push("past"));
      clock.setTimer(20, resolve);
    });
    expect(calls).toEqual(["odd", "past"]);
  });

  it("does not fire at once what lies further ahead than Node can count", async () => {
    let fired = false;
    const far = clock.setTimer(2 ** 40, () => {
      fired = true;
    });
    await new Promise<void>((resolve) => {
      clock.setTimer(20, resolve);
    });
    far.cancel();
    expect(fired).toBe(false);
  });
});
