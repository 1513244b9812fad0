import { describe, expect, test } from "vitest";
import { createScope } from "../base/cancellation.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createStallGuard } from "./stall-guard.ts";

function setUp() {
  const clock = createManualClock();
  const scope = createScope();
  const guard = createStallGuard({
    clock,
    stallMs: 1000,
    scope: createScope(scope.signal),
    onStall: () => new Error("stalled"),
  });
  return { clock, scope, guard };
}

const never = new Promise<never>(() => {});

test("work that comes in time is handed on, however long it all takes", async () => {
  const { clock, guard } = setUp();
  for (let chunk = 0; chunk < 5; chunk += 1) {
    let deliver = (_: number) => {};
    const waiting = guard.waitFor(
      new Promise<number>((resolve) => {
        deliver = resolve;
      }),
    );
    await clock.advance(999);
    deliver(chunk);
    expect(await waiting).toBe(chunk);
  }
  expect(guard.scope.cancelled).toBe(false);
});

test("silence ends the wait and the request", async () => {
  const { clock, guard } = setUp();
  await clock.advance(600);
  const waiting = expect(guard.waitFor(never)).rejects.toThrow("stalled");
  await clock.advance(999);
  expect(guard.scope.cancelled).toBe(false);
  await clock.advance(1);
  await waiting;
  expect(guard.scope.cancelled).toBe(true);
});

test("a consumer that takes its time is not silence", async () => {
  const { clock, guard } = setUp();
  await guard.waitFor(Promise.resolve());
  await clock.advance(60_000);
  expect(await guard.waitFor(Promise.resolve("still there"))).toBe("still there");
});

test("the limit can become shorter", async () => {
  const { clock, guard } = setUp();
  guard.limitTo(10);
  const waiting = expect(guard.waitFor(never)).rejects.toThrow("stalled");
  await clock.advance(10);
  await waiting;
});

test("cancelling ends the wait with the caller's reason, and every later one", async () => {
  const { scope, guard } = setUp();
  const waiting = guard.waitFor(never);
  scope.cancel("enough");
  await expect(waiting).rejects.toBe(scope.signal.reason);
  await expect(guard.waitFor(Promise.resolve())).rejects.toBe(scope.signal.reason);
  expect(guard.scope.cancelled).toBe(true);
});

test("a signal that has fired already counts, and one without a reason of ours is translated", async () => {
  const guard = createStallGuard({
    clock: createManualClock(),
    stallMs: 1,
    scope: createScope(AbortSignal.abort("because")),
    onStall: () => new Error("stalled"),
  });
  await expect(guard.waitFor(never)).rejects.toMatchObject({ name: "CancelledError", reason: "because" });
});

test("release gives up what is not complete, and leaves no timer behind", () => {
  const incomplete = setUp();
  incomplete.guard.release({ complete: false });
  expect(incomplete.guard.scope.cancelled).toBe(true);
  const complete = setUp();
  complete.guard.release({ complete: true });
  complete.scope.cancel("later");
  expect(complete.guard.scope.cancelled).toBe(false);
  expect([...incomplete.clock.pendingMs(), ...complete.clock.pendingMs()]).toEqual([]);
});

test("release ends a wait that nothing else would end", async () => {
  const { guard } = setUp();
  const waiting = guard.waitFor(never);
  guard.release({ complete: false });
  await expect(waiting).rejects.toMatchObject({ reason: "the request was given up" });
});

describe("many requests by one clock", () => {
  function guardsOf(...limitsMs: number[]) {
    const clock = createManualClock();
    const session = createScope();
    const guards = limitsMs.map((stallMs) =>
      createStallGuard({
        clock,
        stallMs,
        scope: session,
        onStall: (silentMs) => new Error(`stalled after ${silentMs} ms`),
      }),
    );
    const stalled: string[] = [];
    const wait = (index: number) =>
      void guards[index]?.waitFor(never).catch((error: Error) => {
        stalled.push(`${index} at ${clock.monotonicMs()}: ${error.message}`);
      });
    return { clock, session, guards, stalled, wait };
  }

  test("share one timer, and each is ended at its own time", async () => {
    const { clock, stalled, wait } = guardsOf(1_000, 300, 700);
    expect(clock.pendingMs()).toEqual([300]);
    wait(0);
    wait(1);
    await clock.advance(100);
    wait(2);
    for (let ms = 0; ms < 1_000; ms += 50) await clock.advance(50);
    expect(stalled).toEqual([
      "1 at 300: stalled after 300 ms",
      "2 at 800: stalled after 700 ms",
      "0 at 1000: stalled after 1000 ms",
    ]);
    expect(clock.pendingMs()).toEqual([]);
  });

  test("a shorter limit is that of one of them", async () => {
    const { clock, guards, stalled, wait } = guardsOf(1_000, 1_000);
    wait(0);
    await clock.advance(500);
    guards[1]?.limitTo(100);
    wait(1);
    await clock.advance(100);
    expect(stalled).toEqual(["1 at 600: stalled after 100 ms"]);
    await clock.advance(400);
    expect(stalled).toHaveLength(2);
  });

  test("who leaves takes nothing from the others; who comes later is watched too", async () => {
    const { clock, guards, stalled, wait } = guardsOf(300, 1_000);
    wait(1);
    guards[0]?.release({ complete: true });
    await clock.advance(999);
    expect(stalled).toEqual([]);
    await clock.advance(1);
    expect(stalled).toEqual(["1 at 1000: stalled after 1000 ms"]);
    guards[1]?.release({ complete: false });
    expect(clock.pendingMs()).toEqual([]);
  });

  test("one that takes others with it when it ends leaves no timer for them", async () => {
    const { clock, guards, stalled, wait } = guardsOf(1_000, 300);
    guards[1]?.scope.watch({ scopeCancelled: () => guards[0]?.release({ complete: true }) });
    wait(1);
    await clock.advance(300);
    expect(stalled).toHaveLength(1);
    guards[1]?.release({ complete: false });
    expect(clock.pendingMs()).toEqual([]);
  });

  test("cancelling what is above them ends all, each once", async () => {
    const { clock, session, guards, stalled, wait } = guardsOf(1_000, 300);
    wait(0);
    wait(1);
    session.cancel("closed");
    await clock.advance(2_000);
    expect(stalled.sort()).toEqual(["0 at 0: Cancelled: closed", "1 at 0: Cancelled: closed"]);
    for (const guard of guards) guard.release({ complete: false });
    expect(clock.pendingMs()).toEqual([]);
  });
});
