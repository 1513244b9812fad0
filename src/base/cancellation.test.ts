import { describe, expect, it } from "vitest";
import { createManualClock } from "../testing/manual-clock.ts";
import {
  cancelAfter,
  createScope,
  shielded,
  sleep,
  throwIfCancelled,
  unlessCancelled,
} from "./cancellation.ts";
import { CancelledError } from "./errors.ts";

/** What would end the program, in place of that. */
async function uncaughtDuring(work: () => void): Promise<string[]> {
  const thrown: string[] = [];
  const others = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => thrown.push(error.message));
  try {
    work();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const other of others) process.on("uncaughtException", other);
  }
  return thrown;
}

describe("scopes", () => {
  it("tell their watchers once, after everything below knows, and not those that left", () => {
    const scope = createScope();
    const child = scope.child();
    const told: string[] = [];
    const watcherNamed = (name: string) => ({
      scopeCancelled: () => void told.push(`${name} ${child.cancelled}`),
    });
    const left = watcherNamed("left");
    scope.watch(watcherNamed("first"));
    scope.watch(left);
    scope.watch(watcherNamed("second"));
    scope.unwatch(left);
    scope.cancel("enough");
    scope.cancel("again");
    expect(told).toEqual(["first true", "second true"]);
  });

  it("do not tell a watcher that another one took off", () => {
    const scope = createScope();
    const told: string[] = [];
    const second = { scopeCancelled: () => void told.push("second") };
    scope.watch({
      scopeCancelled() {
        told.push("first");
        scope.unwatch(second);
      },
    });
    scope.watch(second);
    scope.cancel("enough");
    expect(told).toEqual(["first"]);
  });

  it("tell nobody who comes too late, also not one that comes while others are told", () => {
    const scope = createScope();
    const told: string[] = [];
    const late = { scopeCancelled: () => void told.push("late") };
    scope.watch({ scopeCancelled: () => scope.watch(late) });
    scope.cancel("enough");
    scope.watch(late);
    expect(told).toEqual([]);
  });

  it("reach everybody although a watcher throws, and whoever cancels is not bothered", async () => {
    const parent = createScope();
    const [first, second] = [parent.child(), parent.child()];
    const told: string[] = [];
    for (const [name, scope] of Object.entries({ first, second, parent })) {
      scope.watch({
        scopeCancelled() {
          throw new Error(`a fault of ${name}`);
        },
      });
      scope.watch({ scopeCancelled: () => void told.push(name) });
    }
    const thrown = await uncaughtDuring(() => parent.cancel("enough"));
    expect(told).toEqual(["second", "first", "parent"]);
    expect(thrown).toEqual(["a fault of second", "a fault of first", "a fault of parent"]);
    expect(parent.signal.aborted).toBe(true);
  });

  it("let children leave in any order, and cancel those that stayed", () => {
    const parent = createScope();
    const children = Array.from({ length: 5 }, () => parent.child());
    for (const index of [2, 0, 4, 2]) children[index]?.release();
    parent.cancel("enough");
    expect(children.map(({ cancelled }) => cancelled)).toEqual([false, true, false, true, false]);
  });

  it("cancel everything below and nothing above", () => {
    const session = createScope();
    const turn = session.child();
    const call = turn.child();
    const sibling = session.child();
    turn.cancel("interrupted");
    expect([session.cancelled, turn.cancelled, call.cancelled, sibling.cancelled]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(call.signal.reason).toBe(turn.signal.reason);
  });

  it("tell those below before those above hear of it", () => {
    const parent = createScope();
    const child = parent.child();
    let childKnew = false;
    parent.signal.addEventListener("abort", () => {
      childKnew = child.cancelled;
    });
    parent.cancel("stop");
    expect(childKnew).toBe(true);
  });

  it("keep the first reason", () => {
    const scope = createScope();
    scope.cancel("first");
    scope.cancel("second");
    expect((scope.signal.reason as CancelledError).reason).toBe("first");
  });

  it("that are born under a cancelled scope are cancelled", () => {
    const scope = createScope();
    scope.cancel("stop");
    expect(scope.child().cancelled).toBe(true);
  });

  it("that were released are left alone", () => {
    const scope = createScope();
    const child = scope.child();
    child.release();
    scope.cancel("stop");
    expect(child.cancelled).toBe(false);
  });

  it("follow a foreign signal, also one that has fired already", () => {
    const controller = new AbortController();
    const scope = createScope(controller.signal);
    const child = scope.child();
    controller.abort(new Error("from outside"));
    expect(child.cancelled).toBe(true);
    expect(child.signal.reason).toBeInstanceOf(CancelledError);
    expect(createScope(AbortSignal.abort("gone")).cancelled).toBe(true);
  });
});

describe("a scope that moves", () => {
  it("is cancelled with what it is below now, and no longer with what it was below", () => {
    const [turn, session] = [createScope(), createScope()];
    const agent = turn.child();
    const call = agent.child();
    const stays = turn.child();
    agent.moveBelow(session);
    turn.cancel("interrupted");
    expect([agent, call, stays].map(({ cancelled }) => cancelled)).toEqual([false, false, true]);
    session.cancel("closed");
    expect([agent, call].map(({ cancelledBy }) => cancelledBy?.reason)).toEqual(["closed", "closed"]);
    expect(call.signal.aborted).toBe(true);
  });

  it("leaves its old neighbours together, wherever it stood among them, and can move again", () => {
    const [from, to] = [createScope(), createScope()];
    const children = Array.from({ length: 5 }, () => from.child());
    for (const index of [2, 0, 4]) children[index]?.moveBelow(to);
    children[2]?.moveBelow(from);
    children[4]?.release();
    from.cancel("enough");
    expect(children.map(({ cancelled }) => cancelled)).toEqual([false, true, true, true, false]);
    to.cancel("enough");
    expect(children.map(({ cancelled }) => cancelled)).toEqual([true, true, true, true, false]);
  });

  it("is cancelled at once below one that is, and stays as it is when it was cancelled before", () => {
    const [gone, living] = [createScope(), createScope()];
    gone.cancel("closed");
    const late = living.child();
    late.moveBelow(gone);
    expect(late.cancelledBy?.reason).toBe("closed");
    const cancelled = living.child();
    cancelled.cancel("first");
    cancelled.moveBelow(gone);
    expect(cancelled.cancelledBy?.reason).toBe("first");
  });

  it("lets go of a signal that it hung on, and follows one through what it is below", () => {
    const [old, other] = [new AbortController(), new AbortController()];
    const scope = createScope(old.signal);
    scope.moveBelow(createScope(other.signal));
    old.abort("old");
    expect(scope.cancelled).toBe(false);
    other.abort("other");
    expect(scope.cancelledBy?.reason).toBe("other");
  });

  it("cannot end up below itself, where a cancellation would never come to an end", () => {
    const scope = createScope();
    const grandchild = scope.child().child();
    expect(() => scope.moveBelow(scope)).toThrow(TypeError);
    expect(() => scope.moveBelow(grandchild)).toThrow(TypeError);
    grandchild.release();
    scope.moveBelow(grandchild);
    grandchild.cancel("enough");
    expect(scope.cancelled).toBe(true);
  });
});

describe("waiting", () => {
  it("ends with the cancellation, whichever signal brought it", async () => {
    const controller = new AbortController();
    const waiting = unlessCancelled(new Promise(() => {}), controller.signal);
    controller.abort("enough");
    await expect(waiting).rejects.toBeInstanceOf(CancelledError);
    expect(() => throwIfCancelled(controller.signal)).toThrow("enough");
  });

  it("sleeps on the given clock and leaves no timer behind when cancelled", async () => {
    const clock = createManualClock();
    const scope = createScope();
    const first = sleep(clock, 100, scope.signal);
    await clock.advance(100);
    await first;
    const second = sleep(clock, 100, scope.signal);
    scope.cancel("stop");
    await expect(second).rejects.toBeInstanceOf(CancelledError);
    expect(clock.pendingMs()).toEqual([]);
  });

  it("cancels at a deadline unless that was called off", async () => {
    const clock = createManualClock();
    const [late, inTime] = [createScope(), createScope()];
    cancelAfter({ clock, scope: late, delayMs: 50, reason: "too slow" });
    cancelAfter({ clock, scope: inTime, delayMs: 50, reason: "too slow" })();
    await clock.advance(50);
    expect([late.cancelled, inTime.cancelled]).toEqual([true, false]);
  });

  it("gives clean-up its own time, and no more than that", async () => {
    const clock = createManualClock();
    let told = false;
    const cleaning = shielded({ clock, deadlineMs: 1000, what: "Clean-up" }, (signal) => {
      signal.addEventListener("abort", () => {
        told = true;
      });
      return new Promise(() => {});
    });
    const outcome = expect(cleaning).rejects.toThrow("Clean-up took longer than 1000 ms");
    await clock.advance(1000);
    await outcome;
    expect(told).toBe(true);
  });
});
