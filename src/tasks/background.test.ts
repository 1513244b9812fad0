import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runs } from "../../test/prove.ts";
import { createNodeWorld } from "../base/world/node-world.ts";
import type { FileSystem } from "../base/world.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import { createFaultyFiles } from "../testing/faulty-files.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import {
  type BackgroundRecord,
  type BackgroundTask,
  createBackgroundTasks,
  endIdOf,
  type Notice,
} from "./background.ts";
import { createQueue } from "./queue.ts";
import { createTaskRegistry, type NewTask, type TaskRun } from "./registry.ts";

const world = createNodeWorld();
let workspace: TempWorkspace;
beforeEach(async () => {
  workspace = await createTempWorkspace();
});
afterEach(() => workspace.remove());

const notice: Notice = { summary: 'Agent "look" completed', result: "It is there." };
const completed = { status: "completed" } as const;

function createScene(
  given: {
    files?: FileSystem;
    record?: (record: BackgroundRecord) => void;
    durable?: () => Promise<void>;
    /** Makes an addition to the queue durable. */
    keep?: (item: QueueItem) => Promise<void>;
    onProblem?: (message: string) => void;
  } = {},
) {
  const clock = createManualClock();
  const tasks = createTaskRegistry({ clock });
  const queue = createQueue({ record: given.keep ?? (async () => {}) });
  const records: BackgroundRecord[] = [];
  const problems: string[] = [];
  const alive = new Set<string>();
  const background = createBackgroundTasks({
    world: { files: given.files ?? world.files, platform: world.platform },
    folder: join(workspace.path, "tasks"),
    tasks,
    queue,
    record: (record) => {
      given.record?.(record);
      records.push(record);
    },
    durable: given.durable ?? (async () => {}),
    receiver: (above) => above.find((id) => alive.has(id)),
    onProblem: (message) => {
      problems.push(message);
      given.onProblem?.(message);
    },
  });
  const register = (id: string, more: Partial<NewTask> = {}): TaskRun => {
    const run = tasks.register(
      { id, kind: "local_bash", description: `do ${id}`, isBackgrounded: false, ...more },
      { stop: () => run.end({ status: "killed" }) },
    );
    return run;
  };
  return {
    clock,
    tasks,
    queue,
    records,
    problems,
    alive,
    background,
    register,
    start: (id: string, more?: Partial<NewTask>) => background.adopt(register(id, more)),
    read: (id: string) => workspace.read(`tasks/${id}.txt`),
    told: (target?: string) => queue.list(target).map(({ uuid }) => uuid),
  };
}

/** Holds back until it is let go; the latest first if there are several. */
function createGate() {
  const waiting: { open: () => void; fail: () => void }[] = [];
  return {
    pass: () =>
      new Promise<void>((resolve, reject) => {
        waiting.push({ open: resolve, fail: () => reject(new Error("disk full")) });
      }),
    open: () => waiting.pop()?.open(),
    fail: () => waiting.pop()?.fail(),
    get size() {
      return waiting.length;
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const until = async (condition: () => boolean) => {
  while (!condition()) await settled();
};

describe("a task that goes to the background", () => {
  it("has a file and a record on disk before anybody is told so", async () => {
    const disk = createGate();
    const { register, background, records, tasks, read } = createScene({ durable: disk.pass });
    const run = register("b1", { toolUseId: "toolu_1", parentAgentId: "a1", command: "make" });
    const adopting = background.adopt(run);
    await until(() => disk.size > 0);
    expect(tasks.get("b1")?.isBackgrounded).toBe(false);
    disk.open();
    const task = await adopting;
    expect(tasks.get("b1")).toMatchObject({ isBackgrounded: true, outputFile: task.outputFile });
    expect(records).toEqual([
      {
        type: "task",
        task: {
          id: "b1",
          kind: "local_bash",
          status: "running",
          description: "do b1",
          toolUseId: "toolu_1",
          parentAgentId: "a1",
          command: "make",
          startedAt: 0,
          outputFile: task.outputFile,
        },
      },
    ]);
    expect(await read("b1")).toBe("");
  });

  it("stays as it was when there can be no file", async () => {
    const files = createFaultyFiles(world.files, [{ operation: "open", at: 1, code: "ENOSPC" }]);
    const { register, background, records, tasks } = createScene({ files });
    await expect(background.adopt(register("b1"))).rejects.toThrow("ENOSPC");
    expect([tasks.get("b1")?.isBackgrounded, records]).toEqual([false, []]);
  });

  it("stays as it was when its record cannot be kept, and its file is let go", async () => {
    let open = 0;
    const files: FileSystem = {
      ...world.files,
      async open(...options) {
        const handle = await world.files.open(...options);
        open += 1;
        return {
          ...handle,
          async close() {
            open -= 1;
            await handle.close();
          },
        };
      },
    };
    const { register, background, tasks } = createScene({
      files,
      durable: () => Promise.reject(new Error("disk full")),
    });
    const run = register("b1");
    await expect(background.adopt(run)).rejects.toThrow("disk full");
    expect([open, tasks.get("b1")]).toMatchObject([0, { isBackgrounded: false, status: "running" }]);
    expect(tasks.get("b1")).not.toHaveProperty("outputFile");
  });
});

describe("the end of a task in the background", () => {
  it("sets the status at once, then closes the file, then tells", async () => {
    const { start, background, queue, records, tasks, read } = createScene();
    const task = await start("b1", { toolUseId: "toolu_1" });
    task.write("one\n");
    task.write("two\n");
    let give = (_: Notice) => {};
    const ending = task.end(
      { status: "failed", error: "exit code 2", exitCode: 2 },
      new Promise<Notice>((resolve) => {
        give = resolve;
      }),
    );
    expect(tasks.get("b1")).toMatchObject({ status: "failed", exitCode: 2, notified: false });
    expect([background.ending, queue.waiting(undefined)]).toEqual([1, 0]);
    give({ summary: "failed", result: "<b>", more: [{ type: "text", text: "a receipt" }] });
    await ending;
    expect(await read("b1")).toBe("one\ntwo\n");
    expect(tasks.get("b1")?.notified).toBe(true);
    expect(records.at(-1)).toMatchObject({ type: "task", task: { status: "failed", error: "exit code 2" } });
    const [item] = queue.take(undefined);
    expect(item).toMatchObject({ uuid: "ended:b1", mode: "task-notification", priority: "later" });
    expect(item?.content).toEqual([
      { type: "text", text: expect.stringContaining("<tool-use-id>toolu_1</tool-use-id>") },
      { type: "text", text: "a receipt" },
    ]);
    expect(item?.content[0]).toMatchObject({ text: expect.stringContaining("<result>&lt;b&gt;</result>") });
    expect(background.ending).toBe(0);
  });

  it("is told once, however often it ends, and all who end it wait for that", async () => {
    const disk = createGate();
    const { start, told, tasks } = createScene({ keep: disk.pass });
    const task = await start("b1");
    const ends = [
      task.end(completed, notice),
      task.end({ status: "failed" }, Promise.reject(new Error("of no interest"))),
    ];
    let ended = 0;
    for (const end of ends) void end.then(() => (ended += 1));
    await until(() => disk.size > 0);
    await settled();
    expect(ended).toBe(0);
    disk.open();
    await Promise.all(ends);
    expect([told(), tasks.get("b1")?.status]).toEqual([["ended:b1"], "completed"]);
  });

  it("is told although somebody else had ended its run, as that did", async () => {
    const { start, queue, tasks } = createScene();
    const task = await start("b1");
    tasks.stop("b1", "the user said so");
    await task.end(completed, notice);
    expect(queue.take(undefined)[0]?.content[0]).toMatchObject({
      text: expect.stringContaining("<status>killed</status>"),
    });
  });

  it("is told of each run of an agent, under its own id, although the next began at once", async () => {
    const { start, register, background, told, tasks } = createScene();
    const first = await start("a1");
    let give = (_: Notice) => {};
    const ending = first.end(
      { ...completed, run: "m1" },
      new Promise<Notice>((resolve) => {
        give = resolve;
      }),
    );
    const second = await background.adopt(register("a1"));
    give(notice);
    await ending;
    expect(told()).toEqual([endIdOf("a1", "m1")]);
    expect(tasks.get("a1")).toMatchObject({ status: "running", notified: false });
    await second.end({ status: "killed", run: "m2" }, notice);
    expect(told()).toEqual(["ended:a1:m1", "ended:a1:m2"]);
  });

  it("is told in plain words when there is no notice", async () => {
    const { start, queue, problems } = createScene();
    await (await start("b1")).end(completed, Promise.reject(new Error("no worktree")));
    expect(queue.take(undefined)[0]?.content[0]).toMatchObject({
      text: expect.stringMatching(/<summary>"do b1" ended: completed<\/summary>\n<result>no worktree/),
    });
    expect(problems).toEqual([]);
  });

  it("is told although its file cannot be written, and although whoever hears of that throws", async () => {
    const files = createFaultyFiles(world.files, [{ operation: "write", at: 1, code: "ENOSPC" }]);
    const { start, background, told, problems } = createScene({
      files,
      onProblem: () => {
        throw new Error("a fault");
      },
    });
    background.onChange(() => {
      throw new Error("a fault");
    });
    const task = await start("b1");
    task.write("lost");
    await task.end(completed, notice);
    expect([told(), problems.length, background.ending]).toEqual([["ended:b1"], 1, 0]);
  });

  it("is told of what changes, to each who listens, until they leave", async () => {
    const { start, background } = createScene();
    const heard: number[] = [];
    const listener = () => void heard.push(background.ending);
    const [stop, stopAgain] = [background.onChange(listener), background.onChange(listener)];
    stop();
    await (await start("b1")).end(completed, notice);
    stopAgain();
    await (await start("b2")).end(completed, notice);
    expect(heard).toEqual([1, 0]);
  });
});

describe("who is told", () => {
  it("is the nearest agent above that lives, at last the main one", async () => {
    const { start, register, alive, told } = createScene();
    register("a1", { kind: "local_agent" });
    register("a2", { kind: "local_agent", parentAgentId: "a1" });
    const ends = ["b1", "b2", "b3"];
    const tasks = await Promise.all(ends.map((id) => start(id, { parentAgentId: "a2" })));
    alive.add("a1").add("a2");
    await tasks[0]?.end(completed, notice);
    alive.delete("a2");
    await tasks[1]?.end(completed, notice);
    alive.delete("a1");
    await tasks[2]?.end(completed, notice);
    expect([told("a2"), told("a1"), told()]).toEqual([["ended:b1"], ["ended:b2"], ["ended:b3"]]);
  });

  it("is found although those between have long left the registry", async () => {
    const { start, register, tasks, alive, told } = createScene();
    register("top", { kind: "local_agent" });
    const middle = register("middle", { kind: "local_agent", parentAgentId: "top" });
    await start("low", { kind: "local_agent", parentAgentId: "middle" });
    middle.end(completed);
    tasks.remove("middle");
    const task = await start("b1", { parentAgentId: "low" });
    alive.add("top");
    await task.end(completed, notice);
    expect(told("top")).toEqual(["ended:b1"]);
  });

  it("is the next one above when the first ends while the notification is written", async () => {
    const disk = createGate();
    const { start, register, alive, told, queue } = createScene({ keep: disk.pass });
    register("a1", { kind: "local_agent" });
    register("a2", { kind: "local_agent", parentAgentId: "a1" });
    const task = await start("b1", { parentAgentId: "a2" });
    alive.add("a1").add("a2");
    const ending = task.end(completed, notice);
    await until(() => disk.size > 0);
    alive.delete("a2");
    disk.open();
    await until(() => disk.size > 0);
    alive.delete("a1");
    disk.open();
    await until(() => disk.size > 0);
    disk.open();
    await ending;
    expect([told(), queue.waiting("a1"), queue.waiting("a2")]).toEqual([["ended:b1"], 0, 0]);
  });
});

describe("a call that tells of the end", () => {
  it("takes the place of the notification, until that is taken", async () => {
    const { start, background, queue, records, told } = createScene();
    const [first, second] = [await start("b1"), await start("b2")];
    expect([background.tell("b1", "toolu_1"), background.tell("nothing", "toolu_1")]).toEqual([false, false]);
    await Promise.all([first.end(completed, notice), second.end(completed, notice)]);
    expect([background.tell("b1", "toolu_1"), background.tell("b1", "toolu_2")]).toEqual([true, false]);
    expect(records.at(-1)).toEqual({ type: "told", uuid: "ended:b1", toolUseId: "toolu_1" });
    expect(told()).toEqual(["ended:b2"]);
    queue.take(undefined);
    expect(background.tell("b2", "toolu_3")).toBe(false);
  });

  it("is in time as soon as the status is set, for whoever waits for that", async () => {
    const { start, background, tasks, told } = createScene();
    const task = await start("b1");
    const answers: boolean[] = [];
    tasks.onChange(({ type }) => {
      if (type === "task-end") answers.push(background.tell("b1", "toolu_1"));
    });
    await task.end(completed, notice);
    expect([answers, told(), tasks.get("b1")?.notified]).toEqual([[true], [], true]);
  });

  it("is in time while the notification is written", async () => {
    const disk = createGate();
    const { start, background, told, problems } = createScene({ keep: disk.pass });
    for (const settle of [disk.open, disk.fail]) {
      const task = await start("b1");
      const ending = task.end(completed, notice);
      await until(() => disk.size > 0);
      expect(background.tell("b1", "toolu_1")).toBe(true);
      settle();
      await ending;
      expect([told(), problems]).toEqual([[], []]);
    }
  });

  it("is good for one whose notification could not be kept", async () => {
    const { start, background, problems, records } = createScene({
      keep: () => Promise.reject(new Error("disk full")),
    });
    await (await start("b1")).end(completed, notice);
    expect(problems).toEqual([
      "The end of the task b1 could not be told: disk full. It is told when the session is resumed.",
    ]);
    // On disk it has ended, and nothing says that it was told: so it is found by this id.
    expect(records.at(-1)).toMatchObject({ type: "task", task: { id: "b1", status: "completed" } });
    expect([background.tell("b1", "toolu_1"), background.tell("b1", "toolu_2")]).toEqual([true, false]);
    expect(records.at(-1)).toMatchObject({ type: "told", uuid: "ended:b1" });
  });
});

describe("tasks that have ended", () => {
  it("are kept for a while, the oldest go first, and those that run stay", async () => {
    const { start, tasks } = createScene();
    await start("runs");
    for (let index = 0; index < 230; index++) await (await start(`b${index}`)).end(completed, notice);
    const ids = tasks.list().map(({ id }) => id);
    expect(ids).toHaveLength(201);
    expect([ids[0], ids[1], ids.at(-1)]).toEqual(["runs", "b30", "b229"]);
  });

  it("stay while their notification is on its way, however many end meanwhile", async () => {
    const { start, tasks, background } = createScene();
    const first = await start("first");
    let give = (_: Notice) => {};
    const ending = first.end(
      completed,
      new Promise<Notice>((resolve) => {
        give = resolve;
      }),
    );
    for (let index = 0; index < 201; index++) await (await start(`b${index}`)).end(completed, notice);
    expect(tasks.get("first")).toMatchObject({ status: "completed", notified: false });
    expect(background.tell("first", "toolu_1")).toBe(true);
    give(notice);
    await ending;
    expect(tasks.list()).toHaveLength(200);
  });

  it("are not more when all end at once on a slow or full disk", async () => {
    const disk = createGate();
    const { start, tasks } = createScene({ keep: disk.pass });
    const started: BackgroundTask[] = [];
    for (let index = 0; index < 230; index++) started.push(await start(`b${index}`));
    const ends = started.map((task) => task.end(completed, notice));
    await until(() => disk.size === 230);
    expect(tasks.list()).toHaveLength(230);
    while (disk.size > 0) {
      disk.open();
      disk.fail();
    }
    await Promise.all(ends);
    expect(tasks.list()).toHaveLength(200);
  });
});

describe("whatever happens in whatever order", () => {
  it("the end of each task is told exactly once: by a notification, by a call, or when the session is resumed", async () => {
    const action = fc.constantFrom("end", "end otherwise", "stop", "tell", "take", "notice fails");
    const script = fc.array(fc.record({ at: fc.nat(2), action }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        script,
        fc.infiniteStream(fc.nat(9)),
        fc.scheduler(),
        async (steps, faults, scheduler) => {
          const fails = () => faults.next().value === 0;
          const scene = createScene({
            async keep({ uuid }) {
              const isLost = fails();
              await scheduler.schedule(Promise.resolve(uuid));
              if (isLost) throw new Error("disk full");
            },
          });
          const { background, queue, tasks, problems, records } = scene;
          const taken: string[] = [];
          const take = () => taken.push(...queue.take(undefined).map(({ uuid }) => uuid));
          const told: string[] = [];
          const started = [await scene.start("b0"), await scene.start("b1"), await scene.start("b2")];
          const work: Promise<unknown>[] = [];
          const play = async ({ at, action: what }: (typeof steps)[number]) => {
            await scheduler.schedule(Promise.resolve(what));
            if (what === "end") work.push(started[at]?.end(completed, notice) ?? Promise.resolve());
            else if (what === "end otherwise")
              work.push(started[at]?.end({ status: "killed" }, notice) ?? Promise.resolve());
            else if (what === "notice fails")
              work.push(
                started[at]?.end({ status: "failed" }, Promise.reject(new Error("x"))) ?? Promise.resolve(),
              );
            else if (what === "stop") tasks.stop(`b${at}`, "enough");
            else if (what === "take") take();
            else if (background.tell(`b${at}`, "toolu")) told.push(`ended:b${at}`);
          };
          await scheduler.waitFor(Promise.all(steps.map(play)));
          work.push(...started.map((task) => task.end(completed, notice)));
          await scheduler.waitFor(Promise.all(work));
          take();
          for (const id of ["b0", "b1", "b2"]) {
            const uuid = `ended:${id}`;
            const ways = [...taken, ...told].filter((each) => each === uuid).length;
            const isLost = problems.some((problem) => problem.includes(`task ${id} `));
            expect({ id, ways, isLost }).toEqual(
              ways === 1
                ? { id, ways, isLost: told.includes(uuid) && isLost }
                : { id, ways: 0, isLost: true },
            );
            const stored = records.flatMap((record) =>
              record.type === "task" && record.task.id === id ? [record.task.status] : [],
            );
            expect(stored).toEqual(["running", tasks.get(id)?.status]);
          }
          expect(background.ending).toBe(0);
        },
      ),
      { numRuns: runs({ sample: 100, full: 3_000 }) },
    );
  });
});
