import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Clock } from "../base/world.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createStallWatch, Watched } from "./stall-watch.ts";

class Agent extends Watched {
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }
}

function createScene(stallMs = 1000) {
  const clock = createManualClock(5);
  const told: string[] = [];
  const watch = createStallWatch<Agent>({
    clock,
    stallMs,
    onStall: ({ name }) => told.push(`${name} stalls`),
    onRecover: ({ name }) => told.push(`${name} moves`),
  });
  const watched = (name: string) => {
    const agent = new Agent(name);
    watch.watch(agent);
    return agent;
  };
  return { clock, told, watch, watched };
}

describe("an agent in which nothing happens", () => {
  it("is reported once when that has gone on for the time, and once when it moves again", async () => {
    const { clock, told, watched } = createScene();
    const agent = watched("a");
    await clock.advance(1000);
    expect(told).toEqual([]);
    await clock.advance(200);
    expect(told).toEqual(["a stalls"]);
    await clock.advance(10_000);
    expect(told).toEqual(["a stalls"]);
    agent.quietSweeps = 0;
    await clock.advance(200);
    expect(told).toEqual(["a stalls", "a moves"]);
    await clock.advance(1200);
    expect(told).toEqual(["a stalls", "a moves", "a stalls"]);
  });

  it("is not reported while something happens in it now and then", async () => {
    const { clock, told, watched } = createScene();
    const [busy] = [watched("busy"), watched("quiet")];
    for (let passed = 0; passed < 5000; passed += 990) {
      await clock.advance(990);
      busy.quietSweeps = 0;
    }
    expect(told).toEqual(["quiet stalls"]);
  });

  it("is of no interest when it has left, also if it was reported, and is new when it comes again", async () => {
    const { clock, told, watch, watched } = createScene();
    const agent = watched("a");
    watched("b").quietSweeps = -100;
    await clock.advance(1200);
    watch.unwatch(agent);
    watch.unwatch(agent);
    await clock.advance(5000);
    agent.quietSweeps = 4;
    watch.watch(agent);
    watch.watch(agent);
    await clock.advance(1000);
    expect(told).toEqual(["a stalls"]);
    await clock.advance(200);
    expect(told).toEqual(["a stalls", "a stalls"]);
  });

  it("can be ended by whoever hears of it, with others that would be next", async () => {
    const clock = createManualClock();
    const told: string[] = [];
    const agents = Array.from({ length: 6 }, (_, index) => new Agent(`a${index}`));
    const watch = createStallWatch<Agent>({
      clock,
      stallMs: 100,
      onStall({ name }) {
        told.push(name);
        for (const agent of agents) watch.unwatch(agent);
        watch.watch(new Agent("new"));
      },
      onRecover: () => {},
    });
    for (const agent of agents) watch.watch(agent);
    await clock.advance(120);
    expect(told).toEqual(["a5"]);
    expect(agents.some(({ isWatched }) => isWatched)).toBe(false);
    await clock.advance(120);
    expect(told).toEqual(["a5", "new"]);
  });
});

it("an agent that waits for a person or another gets its whole time again, and is reported after that", async () => {
  const clock = createManualClock();
  const told: string[] = [];
  let waits = true;
  const watch = createStallWatch<Agent>({
    clock,
    stallMs: 1000,
    isWaiting: ({ name }) => name === "a" && waits,
    onStall: ({ name }) => told.push(`${name} stalls`),
    onRecover: ({ name }) => told.push(`${name} moves`),
  });
  for (const name of ["a", "b"]) watch.watch(new Agent(name));
  await clock.advance(2500);
  waits = false;
  await clock.advance(1000);
  expect(told).toEqual(["b stalls"]);
  await clock.advance(200);
  expect(told).toEqual(["b stalls", "a stalls"]);
});

describe("the timer", () => {
  it("is one for all, holds no process, and is there only while something is watched", () => {
    const manual = createManualClock();
    const unref: unknown[] = [];
    const clock: Clock = {
      ...manual,
      setTimer(delayMs, callback, options) {
        unref.push(options?.unref);
        return manual.setTimer(delayMs, callback);
      },
    };
    const watch = createStallWatch<Agent>({ clock, stallMs: 1000, onStall: () => {}, onRecover: () => {} });
    const agents = Array.from({ length: 10_000 }, () => new Agent("a"));
    for (const agent of agents) watch.watch(agent);
    expect([manual.pendingMs(), unref]).toEqual([[200], [true]]);
    for (const agent of agents) watch.unwatch(agent);
    expect(manual.pendingMs()).toEqual([]);
    watch.watch(new Agent("b"));
    expect(manual.pendingMs()).toEqual([200]);
  });

  it("goes on although whoever is told throws", async () => {
    const manual = createManualClock();
    const clock: Clock = {
      ...manual,
      setTimer: (delayMs, callback) =>
        manual.setTimer(delayMs, () => {
          try {
            callback();
          } catch {
            // As a program would that survives its faults.
          }
        }),
    };
    const told: string[] = [];
    const watch = createStallWatch<Agent>({
      clock,
      stallMs: 1000,
      onStall({ name }) {
        told.push(name);
        throw new Error("a fault");
      },
      onRecover: () => {},
    });
    watch.watch(new Agent("first"));
    await manual.advance(200);
    watch.watch(new Agent("second"));
    await manual.advance(1200);
    expect(told).toEqual(["first", "second"]);
  });
});

describe("a sweep that comes late", () => {
  /** Timers that fire when the test says so, whatever the time. */
  function createLateScene() {
    let now = 0;
    let fire = () => {};
    const told: string[] = [];
    const watch = createStallWatch<Agent>({
      clock: {
        now: () => now,
        monotonicMs: () => now,
        setTimer(_, callback) {
          fire = callback;
          return { cancel: () => {} };
        },
      },
      stallMs: 1000,
      onStall: ({ name }) => told.push(`${name} stalls`),
      onRecover: ({ name }) => told.push(`${name} moves`),
    });
    const sweepAfter = (ms: number) => {
      now += ms;
      fire();
    };
    return { told, watch, sweepAfter };
  }

  it("says nothing of the agents, which slept with the machine", () => {
    const { told, watch, sweepAfter } = createLateScene();
    const agent = new Agent("a");
    watch.watch(agent);
    for (let sweep = 0; sweep < 5; sweep++) sweepAfter(200);
    sweepAfter(8 * 3_600_000);
    expect([told, agent.quietSweeps]).toEqual([[], 5]);
    sweepAfter(200);
    expect(told).toEqual(["a stalls"]);
  });

  it("hears of what moves again all the same", () => {
    const { told, watch, sweepAfter } = createLateScene();
    const agent = new Agent("a");
    watch.watch(agent);
    for (let sweep = 0; sweep < 6; sweep++) sweepAfter(200);
    agent.quietSweeps = 0;
    sweepAfter(3_600_000);
    expect(told).toEqual(["a stalls", "a moves"]);
  });

  it("counts when the one before came late, too: a program that is always busy has stalls as well", () => {
    const { told, watch, sweepAfter } = createLateScene();
    watch.watch(new Agent("a"));
    for (let sweep = 0; sweep < 12; sweep++) sweepAfter(1000);
    expect(told).toEqual(["a stalls"]);
  });
});

describe("whatever comes, goes and happens", () => {
  it("reports exactly those that were quiet for the time", async () => {
    const step = fc.oneof(
      fc.record({
        type: fc.constantFrom("watch" as const, "unwatch" as const, "event" as const),
        at: fc.nat(4),
      }),
      fc.record({ type: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 90 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const clock = createManualClock();
        const stallMs = 100;
        const agents = Array.from({ length: 5 }, (_, index) => new Agent(`a${index}`));
        const quietSince = new Map<Agent, number>();
        const stalled = new Set<Agent>();
        const watch = createStallWatch<Agent>({
          clock,
          stallMs,
          onStall(agent) {
            const quietMs = clock.now() - (quietSince.get(agent) ?? Number.NaN);
            expect(quietMs).toBeGreaterThanOrEqual(stallMs);
            expect(quietMs).toBeLessThanOrEqual(1.2 * stallMs);
            expect(stalled.has(agent)).toBe(false);
            stalled.add(agent);
          },
          onRecover(agent) {
            expect(clock.now() - (quietSince.get(agent) ?? Number.NaN)).toBeLessThanOrEqual(stallMs / 5);
            expect(stalled.delete(agent)).toBe(true);
          },
        });
        for (const each of steps) {
          if (each.type === "pass") {
            await clock.advance(each.ms);
            for (const [agent, since] of quietSince)
              if (clock.now() - since > 1.2 * stallMs) expect(stalled.has(agent)).toBe(true);
            continue;
          }
          const agent = agents[each.at];
          if (agent === undefined) continue;
          if (each.type === "watch") {
            if (!quietSince.has(agent)) quietSince.set(agent, clock.now());
            watch.watch(agent);
          } else if (each.type === "unwatch") {
            watch.unwatch(agent);
            quietSince.delete(agent);
            stalled.delete(agent);
          } else if (quietSince.has(agent)) {
            agent.quietSweeps = 0;
            quietSince.set(agent, clock.now());
          }
          expect(clock.pendingMs()).toHaveLength(quietSince.size > 0 ? 1 : 0);
        }
      }),
    );
  });
});
