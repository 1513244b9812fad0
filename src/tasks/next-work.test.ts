import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runs } from "../../test/prove.ts";
import { CancelledError } from "../base/errors.ts";
import { createNodeWorld } from "../base/world/node-world.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { type BackgroundTask, createBackgroundTasks } from "./background.ts";
import { nextWork } from "./next-work.ts";
import { createQueue } from "./queue.ts";
import { createTaskRegistry, type NewTask } from "./registry.ts";

const world = createNodeWorld();
let workspace: TempWorkspace;
beforeEach(async () => {
  workspace = await createTempWorkspace();
});
afterEach(() => workspace.remove());

const notice = { summary: "ended" };
const completed = { status: "completed" } as const;
const item = (uuid: string, target?: string): QueueItem => ({
  uuid,
  mode: "prompt",
  priority: "next",
  ...(target !== undefined && { target }),
  content: [{ type: "text", text: uuid }],
});

function createScene(keep: (item: QueueItem) => Promise<void> = async () => {}) {
  const tasks = createTaskRegistry({ clock: createManualClock() });
  const queue = createQueue({ record: keep });
  const alive = new Set<string>();
  const problems: string[] = [];
  const background = createBackgroundTasks({
    world,
    folder: join(workspace.path, "tasks"),
    tasks,
    queue,
    record: () => {},
    durable: async () => {},
    receiver: (above) => above.find((id) => alive.has(id)),
    onProblem: (message) => problems.push(message),
  });
  let listeners = 0;
  const counted =
    <Listener>(listen: (listener: Listener) => () => void) =>
    (listener: Listener) => {
      listeners += 1;
      const stop = listen(listener);
      return () => {
        listeners -= 1;
        stop();
      };
    };
  const watched = {
    queue: Object.create(queue, {
      onAdd: { value: counted(queue.onAdd) },
      onSettle: { value: counted(queue.onSettle) },
    }) as typeof queue,
    tasks: { ...tasks, onChange: counted(tasks.onChange) },
    background: Object.create(background, {
      onChange: { value: counted(background.onChange) },
    }) as typeof background,
  };
  const register = (id: string, more: Partial<NewTask> = {}) => {
    const run = tasks.register(
      { id, kind: "local_agent", description: id, isBackgrounded: false, ...more },
      { stop: () => run.end({ status: "killed" }) },
    );
    return run;
  };
  return {
    tasks,
    queue,
    alive,
    problems,
    background,
    register,
    start: (id: string, more?: Partial<NewTask>) => background.adopt(register(id, more)),
    next: (signal?: AbortSignal) => nextWork({ ...watched, signal }),
    listeners: () => listeners,
  };
}

describe("the next work of a session", () => {
  it("is there when something waits for the main agent, and not what waits for another", async () => {
    const { queue, next, listeners } = createScene();
    await queue.add(item("for another", "a1"));
    expect(await next()).toBe(false);
    await queue.add(item("for main"));
    expect(await next()).toBe(true);
    expect(listeners()).toBe(0);
  });

  it("comes from a task in the background, at the moment when its notification can be taken", async () => {
    const { queue, start, next, listeners } = createScene();
    const task = await start("a1");
    const work = next();
    expect(listeners()).toBe(4);
    await task.end(completed, notice);
    expect([await work, queue.waiting(undefined), listeners()]).toEqual([true, 1, 0]);
  });

  it("does not come from tasks in the foreground, or that have ended", async () => {
    const { register, next } = createScene();
    register("a1");
    register("a2", { isBackgrounded: true }).end(completed);
    expect(await next()).toBe(false);
  });

  it("is waited for while a task is pending, or moves to the background meanwhile", async () => {
    const { register, next, listeners } = createScene();
    const pending = register("a1", { status: "pending", isBackgrounded: true });
    const moves = register("a2");
    const work = next();
    moves.update({ isBackgrounded: true });
    pending.end(completed);
    expect(listeners()).toBe(4);
    moves.end(completed);
    expect([await work, listeners()]).toEqual([false, 0]);
  });

  it("is not given up while something is on its way to it, and is when that is lost", async () => {
    const writes: { succeed: () => void; fail: () => void }[] = [];
    const { queue, next, listeners } = createScene(
      () =>
        new Promise((resolve, reject) => {
          writes.push({ succeed: resolve, fail: () => reject(new Error("disk full")) });
        }),
    );
    const adding = queue.add(item("a"));
    const work = next();
    writes[0]?.succeed();
    expect(await work).toBe(true);
    await adding;
    queue.take(undefined);
    const refused = expect(queue.add(item("b"))).rejects.toThrow("disk full");
    const none = next();
    writes[1]?.fail();
    await refused;
    expect([await none, listeners()]).toEqual([false, 0]);
  });

  it("is there when a call has told of the end instead", async () => {
    const { tasks, background, start, next, listeners } = createScene();
    const task = await start("a1");
    tasks.onChange(({ type }) => type === "task-end" && background.tell("a1", "toolu_1"));
    const work = next();
    await task.end(completed, notice);
    expect([await work, listeners()]).toEqual([false, 0]);
  });

  it("is no longer waited for when that is cancelled", async () => {
    const { start, next, listeners } = createScene();
    await start("a1");
    const controller = new AbortController();
    const refused = expect(next(controller.signal)).rejects.toBeInstanceOf(CancelledError);
    controller.abort("enough");
    await refused;
    await expect(next(controller.signal)).rejects.toBeInstanceOf(CancelledError);
    expect(listeners()).toBe(0);
  });

  it("can be waited for by many at once", async () => {
    const { start, next, listeners } = createScene();
    const task = await start("a1");
    const work = Array.from({ length: 100 }, () => next());
    expect(listeners()).toBe(400);
    await task.end(completed, notice);
    expect([new Set(await Promise.all(work)), listeners()]).toEqual([new Set([true]), 0]);
  });
});

describe("whatever ends in whatever order, on whatever disk", () => {
  it("the main agent takes all that comes for it before it hears that nothing comes", async () => {
    // Each task by the place of its starter among those before it; 0: the main agent.
    const starters = fc.array(fc.nat(5), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        starters,
        fc.infiniteStream(fc.nat(9)),
        fc.scheduler(),
        async (given, faults, scheduler) => {
          const scene = createScene(async ({ uuid }) => {
            const isLost = faults.next().value === 0;
            await scheduler.schedule(Promise.resolve(uuid));
            if (isLost) throw new Error("disk full");
          });
          const { queue, alive, background, start, next, problems, listeners } = scene;
          const taken: string[] = [];
          const tasks: BackgroundTask[] = [];
          for (const [index, place] of given.entries()) {
            const starter = place % (index + 1);
            const parent = starter === 0 ? {} : { parentAgentId: `a${starter}` };
            tasks.push(await start(`a${index + 1}`, parent));
            alive.add(`a${index + 1}`);
          }
          const run = async (index: number) => {
            const id = `a${index + 1}`;
            await scheduler.schedule(Promise.resolve(id));
            // What an agent got it has seen; what comes too late for it goes to the one above.
            const starter = (given[index] ?? 0) % (index + 1);
            const seen = queue.take(id);
            taken.push(...seen.map(({ uuid }) => uuid));
            queue.acknowledge(seen);
            await scheduler.schedule(Promise.resolve(id));
            alive.delete(id);
            const ending = tasks[index]?.end(completed, notice);
            const above = starter === 0 ? undefined : `a${starter}`;
            const target = above !== undefined && alive.has(above) ? above : undefined;
            const moves = queue.list(id).map((each) => queue.readdress(each, target).catch(() => {}));
            await Promise.all([ending, ...moves]);
          };
          const main = async () => {
            while (await next()) {
              const items = queue.take(undefined);
              taken.push(...items.map(({ uuid }) => uuid));
              queue.acknowledge(items);
              await scheduler.schedule(Promise.resolve("turn"));
            }
            return { ending: background.ending, waiting: queue.waiting(undefined), left: queue.arriving };
          };
          const work = Promise.all(given.map((_, index) => run(index)));
          const end = main();
          expect(await scheduler.waitFor(end)).toEqual({ ending: 0, waiting: 0, left: 0 });
          await scheduler.waitFor(work);
          expect([queue.waiting(undefined), listeners()]).toEqual([0, 0]);
          // Each was seen by somebody, or could not be kept or moved.
          const lost = problems.map((problem) => `ended:${/task (a\d+) /.exec(problem)?.[1]}`);
          const stuck = given.flatMap((_, index) => queue.list(`a${index + 1}`).map(({ uuid }) => uuid));
          const all = [...new Set([...taken, ...lost, ...stuck])].sort();
          expect(all).toEqual(given.map((_, index) => `ended:a${index + 1}`));
          expect(new Set(taken).size).toBe(taken.length);
        },
      ),
      { numRuns: runs({ sample: 100, full: 3_000 }) },
    );
  });
});
