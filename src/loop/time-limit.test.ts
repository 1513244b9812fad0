import { describe, expect, it } from "vitest";
import { createManualClock } from "../testing/manual-clock.ts";
import { createTimeLimit } from "./time-limit.ts";

const minute = 60_000;

describe("a limit of time", () => {
  it("counts from the moment it was made", async () => {
    const clock = createManualClock();
    const limit = createTimeLimit({ clock, minutes: 2 });
    await clock.advance(2 * minute - 1);
    expect(limit.over).toBe(false);
    await clock.advance(1);
    expect(limit).toMatchObject({ over: true, elapsedMinutes: 2, minutes: 2 });
  });

  it("has one timer for all who watch, and none when nobody does", async () => {
    const clock = createManualClock();
    const limit = createTimeLimit({ clock, minutes: 1 });
    expect(clock.pendingMs()).toEqual([]);
    const stop = [limit.watch(() => {}), limit.watch(() => {})];
    expect(clock.pendingMs()).toEqual([minute]);
    stop[0]?.();
    stop[0]?.();
    expect(clock.pendingMs()).toEqual([minute]);
    stop[1]?.();
    expect(clock.pendingMs()).toEqual([]);
    await clock.advance(minute / 2);
    limit.watch(() => {})();
    limit.watch(() => {});
    expect(clock.pendingMs()).toEqual([minute / 2]);
  });

  it("tells the last who came first, each once, and nobody who has left", async () => {
    const clock = createManualClock();
    const limit = createTimeLimit({ clock, minutes: 1 });
    const told: string[] = [];
    const tell = (name: string) => limit.watch(() => told.push(name));
    tell("first");
    const leave = tell("gone before");
    const leaveNow = tell("gone meanwhile");
    limit.watch(() => {
      told.push("last");
      leaveNow();
    });
    leave();
    await clock.advance(5 * minute);
    expect(told).toEqual(["last", "first"]);
    expect(clock.pendingMs()).toEqual([]);
  });

  it("tells those who come too late as well", async () => {
    const clock = createManualClock();
    const limit = createTimeLimit({ clock, minutes: 1 });
    const told: string[] = [];
    limit.watch(() => told.push("in time"));
    await clock.advance(minute);
    limit.watch(() => told.push("too late"));
    await clock.advance(0);
    expect(told).toEqual(["in time", "too late"]);
  });
});
