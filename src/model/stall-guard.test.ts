import { expect, test } from "vitest";
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
