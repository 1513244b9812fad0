import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/prove.ts";
import { createScope } from "../base/cancellation.ts";
import { CancelledError } from "../base/errors.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createWatchedScope } from "../testing/watched-scope.ts";
import { createTaskRegistry, type NewTask, type TaskRegistry } from "./registry.ts";
import { createTaskWaits } from "./wait.ts";

function createScene() {
  const clock = createManualClock();
  const registry = createTaskRegistry({ clock });
  let listeners = 0;
  const tasks: TaskRegistry = {
    ...registry,
    onChange(listener) {
      listeners += 1;
      const stop = registry.onChange(listener);
      return () => {
        listeners -= 1;
        stop();
      };
    },
  };
  const waits = createTaskWaits({ tasks, clock });
  const start = (id: string, more: Partial<NewTask> = {}) =>
    registry.register(
      { id, kind: "local_agent", description: `do ${id}`, isBackgrounded: true, ...more },
      { stop: () => {} },
    );
  const wait = (waiter: string | undefined, taskId: string, timeoutMs = 1000) =>
    waits.wait({ taskId, waiter, timeoutMs, scope: undefined });
  /** What it says of the circle. */
  const refusal = async (waiting: Promise<unknown>) => {
    const error: unknown = await waiting.then(
      () => "not refused",
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: "wait-cycle" });
    return /never end: (.*?)\. Go on/.exec((error as Error).message)?.[1];
  };
  return { clock, registry, waits, start, wait, refusal, listeners: () => listeners };
}

describe("waiting for a task", () => {
  it("ends with its end, for all who wait, and at once when it has ended", async () => {
    const { clock, start, waits, wait, listeners } = createScene();
    const run = start("a1");
    const waiting = [undefined, "a2", undefined].map((waiter) => wait(waiter, "a1"));
    expect(listeners()).toBe(1);
    run.update({ description: "still there" });
    const isWaiting = () => ["a1", "a2"].map(waits.isWaiting);
    expect(isWaiting()).toEqual([false, true]);
    run.end({ status: "failed", error: "why" });
    expect(isWaiting()).toEqual([false, false]);
    for (const each of waiting)
      expect(await each).toMatchObject({ id: "a1", status: "failed", error: "why" });
    expect(await wait(undefined, "a1")).toBe(run.task);
    expect([clock.pendingMs(), listeners()]).toEqual([[], 0]);
  });

  it("ends with its time, which is never more than ten minutes", async () => {
    const { clock, start, wait, listeners } = createScene();
    start("a1");
    const waiting = [0, 500, 3_600_000, Infinity, -1, Number.NaN].map((timeoutMs) =>
      wait(undefined, "a1", timeoutMs),
    );
    expect(clock.pendingMs()).toEqual([0, 0, 0, 500, 600_000, 600_000]);
    await clock.advance(600_000);
    expect(await Promise.all(waiting)).toEqual(Array(6).fill(undefined));
    expect([clock.pendingMs(), listeners()]).toEqual([[], 0]);
  });

  it("ends with its cancellation, also one that came before, and with a signal from elsewhere", async () => {
    const { clock, start, waits, listeners } = createScene();
    start("a1");
    const { scope, held } = createWatchedScope();
    const controller = new AbortController();
    const options = { taskId: "a1", waiter: undefined, timeoutMs: 1000 };
    const waiting = [waits.wait({ ...options, scope }), waits.wait({ ...options, scope: controller.signal })];
    const refused = waiting.map((each) => expect(each).rejects.toBeInstanceOf(CancelledError));
    scope.cancel("interrupted");
    controller.abort("enough");
    await Promise.all(refused);
    await expect(waits.wait({ ...options, scope })).rejects.toThrow("interrupted");
    expect([clock.pendingMs(), listeners(), held()]).toEqual([[], 0, 0]);
  });

  it("leaves nothing behind, however many wait, and whichever way their waits end", async () => {
    const { clock, start, waits, listeners } = createScene();
    const tasks = Array.from({ length: 100 }, (_, index) => start(`a${index}`));
    const { scope: others, held } = createWatchedScope();
    const cancelled = createScope();
    const waiting = Array.from({ length: 1000 }, (_, index) =>
      waits
        .wait({
          taskId: `a${index % 100}`,
          waiter: undefined,
          timeoutMs: 1 + index,
          scope: index % 3 === 0 ? cancelled : others,
        })
        .catch(() => "cancelled"),
    );
    expect(listeners()).toBe(1);
    await clock.advance(300);
    cancelled.cancel("enough");
    for (const task of tasks) task.end({ status: "completed" });
    const answers = await Promise.all(waiting);
    const count = (which: (answer: unknown) => boolean) => answers.filter(which).length;
    expect(count((answer) => answer === undefined)).toBe(300);
    expect(count((answer) => answer === "cancelled")).toBe(234);
    expect(count((answer) => typeof answer === "object")).toBe(466);
    expect([clock.pendingMs(), listeners(), held()]).toEqual([[], 0, 0]);
  });

  it("is not for what does not exist", async () => {
    await expect(createScene().wait(undefined, "a9")).rejects.toMatchObject({ code: "task-unknown" });
  });

  it("ends with the run that was there when it began, not with a later one", async () => {
    const { start, wait } = createScene();
    const first = start("a1");
    const waiting = wait(undefined, "a1");
    first.end({ status: "killed" });
    start("a1");
    expect(await waiting).toMatchObject({ status: "killed" });
  });
});

describe("agents that wait for each other", () => {
  it("are told which circle it would be, and the one that closes it does not wait", async () => {
    const { clock, start, wait, refusal, listeners } = createScene();
    const runs = ["a1", "b2", "c3"].map((id) => start(id));
    const waiting = [wait("a1", "b2"), wait("b2", "c3")];
    expect(await refusal(wait("c3", "a1"))).toBe(
      'c3 ("do c3") waits for a1 ("do a1"), which waits for b2 ("do b2"), which waits for c3',
    );
    // The others go on waiting, and what they wait for can still end.
    for (const run of runs) run.end({ status: "completed" });
    expect(await Promise.all(waiting)).toMatchObject([{ id: "b2" }, { id: "c3" }]);
    expect([clock.pendingMs(), listeners()]).toEqual([[], 0]);
  });

  it("include one that waits for itself, and one that waits for whoever waits for it in the foreground", async () => {
    const { start, wait, refusal } = createScene();
    start("a1");
    start("b2", { parentAgentId: "a1", isBackgrounded: false });
    start("c3", { parentAgentId: "b2", isBackgrounded: false });
    expect(await refusal(wait("a1", "a1"))).toBe('a1 ("do a1") waits for a1');
    expect(await refusal(wait("b2", "a1"))).toBe('b2 ("do b2") waits for a1 ("do a1"), which waits for b2');
    expect(await refusal(wait("c3", "a1"))).toBe(
      'c3 ("do c3") waits for a1 ("do a1"), which waits for b2 ("do b2"), which waits for c3',
    );
  });

  it("are told of the shortest circle, if there are several", async () => {
    const { start, wait, refusal } = createScene();
    for (const id of ["a1", "b2", "c3"]) start(id);
    void wait("b2", "c3");
    void wait("a1", "c3");
    void wait("a1", "b2");
    expect(await refusal(wait("c3", "a1"))).toBe('c3 ("do c3") waits for a1 ("do a1"), which waits for c3');
  });

  it("include those that wait through a child that started after the wait began", async () => {
    const { start, wait, refusal } = createScene();
    start("a1");
    start("b2");
    void wait("a1", "b2");
    start("c3", { parentAgentId: "b2", isBackgrounded: false });
    expect(await refusal(wait("c3", "a1"))).toBe(
      'c3 ("do c3") waits for a1 ("do a1"), which waits for b2 ("do b2"), which waits for c3',
    );
  });

  it("do not include a child in the background, or one that moved there, or an agent whose wait is over", async () => {
    const { clock, start, wait } = createScene();
    const parent = start("a1");
    start("b2", { parentAgentId: "a1" });
    const moved = start("c3", { parentAgentId: "a1", isBackgrounded: false });
    moved.update({ isBackgrounded: true });
    start("d4");
    void wait("a1", "d4", 10);
    await clock.advance(10);
    start("e5", { parentAgentId: "a1", isBackgrounded: false }).end({ status: "completed" });
    const waiting = ["b2", "c3", "d4", "e5"].map((waiter) => wait(waiter, "a1"));
    parent.end({ status: "completed" });
    expect(await Promise.all(waiting)).toMatchObject(Array(4).fill({ id: "a1" }));
  });

  it("may all wait for one, and one for many; the main agent and programs are never in a circle", async () => {
    const { start, wait } = createScene();
    const run = start("a1", { isBackgrounded: false });
    for (const id of ["b2", "c3", "d4"]) start(id);
    const waiting = [
      wait("b2", "c3"),
      wait("b2", "d4"),
      wait("c3", "d4"),
      ...[undefined, "b2", "c3", "d4"].map((waiter) => wait(waiter, "a1")),
    ];
    run.end({ status: "completed" });
    expect(await Promise.all(waiting.slice(3))).toMatchObject(Array(4).fill({ id: "a1" }));
  });
});

describe("whoever waits, starts, moves and ends in whatever order", () => {
  it("never waits in a circle, is refused only then, and is released", async () => {
    const id = fc.nat(5).map((index) => `a${index}`);
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ type: fc.constant("wait" as const), waiter: id, task: id }) },
      fc.record({
        type: fc.constant("start" as const),
        task: id,
        by: fc.option(id, { nil: undefined }),
        isBackgrounded: fc.boolean(),
      }),
      fc.record({ type: fc.constant("move" as const), task: id }),
      fc.record({ type: fc.constant("end" as const), task: id }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { clock, registry, start, waits, listeners } = createScene();
        const edges = new Set<{ waiter: string; task: string }>();
        const isGoing = (task: string) => registry.get(task)?.status === "running";
        const waitsFor = (from: string): string[] => [
          ...[...edges].flatMap(({ waiter, task }) => (waiter === from ? [task] : [])),
          ...registry
            .list()
            .flatMap(({ id: child, parentAgentId, isBackgrounded, status }) =>
              parentAgentId === from && !isBackgrounded && status === "running" ? [child] : [],
            ),
        ];
        const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
          from === to ||
          (!seen.has(from) && waitsFor(from).some((next) => reaches(next, to, new Set([...seen, from]))));
        for (const each of steps) {
          if (each.type === "start" && !isGoing(each.task)) {
            // Agents start others while they run, and a task that somebody waits for is not started again.
            if (each.by !== undefined && (!isGoing(each.by) || each.by === each.task)) continue;
            start(each.task, {
              isBackgrounded: each.isBackgrounded,
              ...(each.by !== undefined && { parentAgentId: each.by }),
            });
          } else if (each.type === "move") registry.update(each.task, { isBackgrounded: true });
          else if (each.type === "end") {
            // One that waits cannot end by itself.
            if (waitsFor(each.task).length === 0) registry.end(each.task, { status: "completed" });
          } else if (each.type === "wait" && isGoing(each.waiter) && isGoing(each.task)) {
            const edge = { waiter: each.waiter, task: each.task };
            const closes = reaches(each.task, each.waiter);
            if (!closes) edges.add(edge);
            const waiting = waits
              .wait({ taskId: each.task, waiter: each.waiter, timeoutMs: 1000 })
              .finally(() => edges.delete(edge));
            if (closes) await expect(waiting).rejects.toMatchObject({ code: "wait-cycle" });
            else waiting.catch(() => expect.unreachable());
          }
          await Promise.resolve();
        }
        // Without a circle there is always one that waits for nobody, so that all of them come to an end.
        for (;;) {
          await new Promise((resolve) => setImmediate(resolve));
          const going = registry.list().filter(({ status }) => status === "running");
          if (going.length === 0) break;
          const free = going.filter((task) => waitsFor(task.id).length === 0);
          expect(free).not.toEqual([]);
          for (const task of free) registry.end(task.id, { status: "completed" });
        }
        expect([clock.pendingMs(), listeners(), edges.size]).toEqual([[], 0, 0]);
      }),
      { numRuns: runs({ sample: 300, full: 10_000 }) },
    );
  });
});
