import { afterEach, describe, expect, it } from "vitest";
import { createScope, type Scope } from "../base/cancellation.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import { noUsage } from "../contracts/usage.ts";
import { createInterrupt, type Interrupt } from "../loop/interrupt.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import type { Prefix } from "../loop/request.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createStagger } from "./stagger.ts";

const done: LoopEnd = { reason: "completed", stopReason: "end_turn" };
const long: Prefix = { system: "x".repeat(5000), tools: [] };
const started: LoopEvent = {
  type: "model-event",
  event: { type: "message-start", id: "m", model: "mock", usage: noUsage },
};

/** An agent of the test: it runs until the test says how it ended. */
interface Running {
  readonly name: string;
  answer(): void;
  end(): void;
  fail(error: Error): void;
}

const clocks: ReturnType<typeof createManualClock>[] = [];

function setUp() {
  const clock = createManualClock(1_000_000);
  clocks.push(clock);
  const running = new Map<string, Running>();
  const heard: LoopEvent[] = [];
  const run = (loop: LoopOptions): Promise<LoopEnd> =>
    new Promise((resolve, reject) => {
      const name = loop.agent.agentId ?? "";
      running.set(name, {
        name,
        answer: () => loop.listener.emit(started),
        end: () => resolve(done),
        fail: reject,
      });
    });
  const stagger = createStagger({ clock, run });
  const ends = new Map<string, Promise<LoopEnd>>();
  const start = (name: string, more: StartOptions = {}): void => {
    const { prefix = long, kind = "agent", model = "mock" } = more;
    const loop = {
      agent: { agentId: name, source: { kind } },
      prefix,
      model: { provider: "p", id: model },
      scope: more.scope ?? createScope(),
      interrupt: more.interrupt ?? createInterrupt(),
      listener: { emit: (event: LoopEvent) => void heard.push(event) },
    } as unknown as LoopOptions;
    const end = stagger(loop);
    end.catch(() => {});
    ends.set(name, end);
  };
  const agent = (name: string): Running => {
    const one = running.get(name);
    if (one === undefined) throw new Error(`${name} does not run`);
    return one;
  };
  /** In the order in which they began. */
  const names = async () => {
    await clock.advance(0);
    return [...running.keys()];
  };
  return { clock, start, ends, agent, names, heard };
}

interface StartOptions {
  prefix?: Prefix;
  kind?: string;
  model?: string;
  scope?: Scope;
  interrupt?: Interrupt;
}

afterEach(() => {
  // Nothing waits any longer for an agent that is gone.
  for (const clock of clocks.splice(0)) expect(clock.pendingMs()).toEqual([]);
});

describe("of agents that start together", () => {
  it("the first goes ahead, and the others follow when its answer begins", async () => {
    const { start, agent, names, heard } = setUp();
    for (const name of ["a", "b", "c"]) start(name);
    expect(await names()).toEqual(["a"]);
    agent("a").answer();
    expect(await names()).toEqual(["a", "b", "c"]);
    expect(heard).toEqual([started]);
    agent("a").end();
  });

  it("those with other tools or prompts, or with another model, do not wait for it", async () => {
    const { start, agent, names } = setUp();
    start("a");
    start("b", { prefix: { ...long } });
    start("c", { model: "other" });
    expect(await names()).toEqual(["a", "b", "c"]);
    for (const name of ["a", "b", "c"]) agent(name).end();
    await names();
  });

  it("forks never wait, nor those whose prefix nobody would cache", async () => {
    const { start, names } = setUp();
    const short: Prefix = { system: "short", tools: [] };
    for (const name of ["a", "b"]) start(name, { kind: "fork" });
    for (const name of ["c", "d"]) start(name, { prefix: short });
    expect(await names()).toEqual(["a", "b", "c", "d"]);
  });

  it("nobody waits while the entry is in the cache, and one goes ahead when it has expired", async () => {
    const { clock, start, agent, names } = setUp();
    start("a");
    agent("a").answer();
    await clock.advance(200_000);
    start("b");
    start("c");
    expect(await names()).toEqual(["a", "b", "c"]);
    // Every answer keeps it for five minutes more.
    agent("c").answer();
    await clock.advance(299_000);
    start("d");
    expect(await names()).toHaveLength(4);
    await clock.advance(1_000);
    start("e");
    start("f");
    expect(await names()).toEqual(["a", "b", "c", "d", "e"]);
    agent("e").answer();
    expect(await names()).toHaveLength(6);
  });
});

describe("nobody is held up for ever", () => {
  it("by one that takes too long", async () => {
    const { clock, start, agent, names } = setUp();
    start("a");
    start("b");
    await clock.advance(14_999);
    expect(await names()).toEqual(["a"]);
    await clock.advance(1);
    start("c");
    expect(await names()).toEqual(["a", "b", "c"]);
    agent("a").end();
    await names();
  });

  it("by one that fails: the next tries, and all of them together wait no longer than for one", async () => {
    const { clock, start, ends, agent, names } = setUp();
    start("a");
    for (const name of ["b", "c", "d"]) start(name);
    await clock.advance(5_000);
    agent("a").fail(new Error("refused"));
    await expect(ends.get("a")).rejects.toThrow("refused");
    expect(await names()).toEqual(["a", "b"]);
    await clock.advance(9_999);
    expect(await names()).toEqual(["a", "b"]);
    await clock.advance(1);
    expect(await names()).toEqual(["a", "b", "c", "d"]);
    agent("b").end();
    await names();
  });

  it("by one that ended without an answer, though nobody waited then", async () => {
    const { start, agent, names } = setUp();
    start("a");
    agent("a").end();
    await names();
    start("b");
    start("c");
    expect(await names()).toEqual(["a", "b"]);
    agent("b").answer();
    expect(await names()).toEqual(["a", "b", "c"]);
    agent("b").end();
  });

  it("by one that led long ago and ends only now", async () => {
    const { clock, start, agent, names } = setUp();
    start("a");
    agent("a").answer();
    await clock.advance(400_000);
    start("b");
    start("c");
    agent("a").end();
    expect(await names()).toEqual(["a", "b"]);
    agent("b").answer();
    expect(await names()).toEqual(["a", "b", "c"]);
  });
});

describe("whoever is stopped while it waits", () => {
  it("goes on to its own end at once, by cancellation or by an interrupt", async () => {
    const { start, agent, names } = setUp();
    const scope = createScope();
    const interrupt = createInterrupt();
    start("a");
    start("b", { scope });
    start("c", { interrupt });
    start("d");
    scope.cancel("enough");
    expect(await names()).toEqual(["a", "b"]);
    interrupt.request("stop");
    expect(await names()).toEqual(["a", "b", "c"]);
    agent("a").answer();
    expect(await names()).toEqual(["a", "b", "c", "d"]);
  });

  it("before it began to wait, too", async () => {
    const { start, agent, names } = setUp();
    const scope = createScope();
    scope.cancel("enough");
    start("a");
    start("b", { scope });
    expect(await names()).toEqual(["a", "b"]);
    agent("a").end();
    await names();
  });
});
