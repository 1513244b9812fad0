import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../test/prove.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import { createQueue } from "./queue.ts";

const item = (uuid: string, priority: QueueItem["priority"] = "next", target?: string): QueueItem => ({
  uuid,
  mode: "prompt",
  priority,
  ...(target !== undefined && { target }),
  content: [{ type: "text", text: uuid }],
});
const ids = (items: readonly QueueItem[]) => items.map(({ uuid }) => uuid);

describe("the queue", () => {
  it("hands out by priority, then first in, first out, to whom it is addressed", async () => {
    const queue = createQueue({ record: async () => {} });
    for (const added of [
      item("later 1", "later"),
      item("next 1"),
      item("other", "now", "agent-1"),
      item("now", "now"),
      item("next 2"),
      item("later 2", "later"),
    ]) {
      await queue.add(added);
    }
    expect(ids(queue.take(undefined))).toEqual(["now", "next 1", "next 2", "later 1", "later 2"]);
    expect(queue.waiting(undefined)).toBe(0);
    expect(ids(queue.take("agent-1"))).toEqual(["other"]);
  });

  it("hands nothing out before it is on disk, and forgets what could not be kept", async () => {
    let keep: (() => void) | undefined;
    const queue = createQueue({
      record: (added) =>
        new Promise((resolve, reject) => {
          if (added.uuid === "lost") reject(new Error("no space left on device"));
          else keep = resolve;
        }),
    });
    const adding = queue.add(item("a"));
    expect(queue.take(undefined)).toEqual([]);
    keep?.();
    await adding;
    expect(queue.waiting(undefined)).toBe(1);
    await expect(queue.add(item("lost"))).rejects.toThrow("no space left");
    expect(ids(queue.take(undefined))).toEqual(["a"]);
  });

  it("takes the same item only once, and has what was waiting before", async () => {
    const queue = createQueue({ record: async () => {}, restored: [item("old")] });
    await queue.add(item("old"));
    await queue.add(item("new"));
    expect(ids(queue.take(undefined))).toEqual(["old", "new"]);
    expect(queue.take(undefined)).toEqual([]);
  });

  it("tells listeners what was added", async () => {
    const queue = createQueue({ record: async () => {} });
    const heard: string[] = [];
    const stop = queue.onAdd(({ uuid }) => heard.push(uuid));
    await queue.add(item("a"));
    stop();
    await queue.add(item("b"));
    expect(heard).toEqual(["a"]);
  });
});

/** A disk that writes when the test says so, in whatever order. */
function createDisk() {
  const writes: { item: QueueItem; succeed: () => void; fail: () => void }[] = [];
  const record = (item: QueueItem) =>
    new Promise<void>((resolve, reject) => {
      writes.push({ item, succeed: resolve, fail: () => reject(new Error("disk full")) });
    });
  return { record, writes };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("additions at the same time", () => {
  it("arrive in the order in which they were made, whatever order the disk has", async () => {
    const { record, writes } = createDisk();
    const queue = createQueue({ record });
    const additions = ["a", "b", "c"].map((uuid) => queue.add(item(uuid)));
    const refused = expect(additions[1]).rejects.toThrow("disk full");
    writes[2]?.succeed();
    writes[1]?.fail();
    await settled();
    expect([queue.waiting(undefined), queue.arriving]).toEqual([0, 3]);
    writes[0]?.succeed();
    await Promise.allSettled(additions);
    await refused;
    expect([ids(queue.take(undefined)), queue.arriving]).toEqual([["a", "c"], 0]);
  });

  it("of one item are one, and all of them wait for the disk", async () => {
    const { record, writes } = createDisk();
    const queue = createQueue({ record });
    const [first, second] = [queue.add(item("a")), queue.add(item("a"))];
    writes[0]?.fail();
    await expect(first).rejects.toThrow("disk full");
    await expect(second).rejects.toThrow("disk full");
    const third = queue.add(item("a"));
    writes[1]?.succeed();
    await third;
    expect([writes.length, ids(queue.take(undefined))]).toEqual([2, ["a"]]);
  });

  it("are counted until they are settled, of which is told", async () => {
    const { record, writes } = createDisk();
    const queue = createQueue({ record });
    const heard: (readonly [number, number])[] = [];
    const stop = queue.onSettle(() => heard.push([queue.arriving, queue.waiting(undefined)]));
    const additions = [queue.add(item("a")), queue.add(item("b"))];
    const refused = expect(additions[0]).rejects.toThrow();
    writes[0]?.fail();
    writes[1]?.succeed();
    await Promise.allSettled(additions);
    await refused;
    expect(heard).toEqual([
      [1, 0],
      [0, 1],
    ]);
    stop();
    void queue.add(item("c"));
    writes[2]?.succeed();
    await settled();
    expect(heard).toHaveLength(2);
  });
});

describe("what waits", () => {
  it("can be looked at without being taken, and changed while one goes through it", async () => {
    const queue = createQueue({ record: async () => {} });
    for (const uuid of ["a", "b", "c", "d"]) await queue.add(item(uuid, "next", "agent-1"));
    for (const each of queue.list("agent-1")) await queue.readdress(each, undefined);
    expect(ids(queue.list(undefined))).toEqual(["a", "b", "c", "d"]);
    expect([queue.list("agent-1"), queue.waiting(undefined)]).toEqual([[], 4]);
  });

  it("can be taken back until somebody has taken it", async () => {
    const queue = createQueue({ record: async () => {} });
    for (const uuid of ["a", "b", "c"]) await queue.add(item(uuid));
    expect([queue.withdraw("b"), queue.withdraw("b"), queue.withdraw("nothing")]).toEqual([
      true,
      false,
      false,
    ]);
    expect(ids(queue.take(undefined))).toEqual(["a", "c"]);
    expect(queue.withdraw("a")).toBe(false);
    // It left, so it can come again.
    await queue.add(item("b"));
    expect(ids(queue.take(undefined))).toEqual(["b"]);
  });

  it("can be taken back while it is written, and whoever adds it is not bothered by a full disk then", async () => {
    const { record, writes } = createDisk();
    const queue = createQueue({ record });
    const heard: string[] = [];
    queue.onAdd(({ uuid }) => heard.push(uuid));
    const additions = [queue.add(item("a")), queue.add(item("b"))];
    expect([queue.withdraw("a"), queue.withdraw("b"), queue.withdraw("b")]).toEqual([true, true, false]);
    const again = queue.add(item("a"));
    writes[0]?.succeed();
    writes[1]?.fail();
    await Promise.all(additions);
    expect([queue.withdraw("a"), queue.withdraw("a")]).toEqual([true, false]);
    writes[2]?.succeed();
    await again;
    expect([queue.waiting(undefined), heard]).toEqual([0, []]);
    const atLast = queue.add(item("a"));
    writes[3]?.succeed();
    await atLast;
    expect(ids(queue.take(undefined))).toEqual(["a"]);
  });

  it("is for another when that is on disk, and stays in its place if that cannot be", async () => {
    const { record, writes } = createDisk();
    const queue = createQueue({ record, restored: [item("a", "next", "x"), item("b", "next", "x")] });
    const [first] = queue.list("x");
    if (first === undefined) throw new Error("nothing waits");
    const refused = expect(queue.readdress(first, undefined)).rejects.toThrow("disk full");
    writes[0]?.fail();
    await refused;
    expect([ids(queue.list("x")), queue.waiting(undefined)]).toEqual([["a", "b"], 0]);
    const moving = queue.readdress(first, undefined);
    expect([queue.waiting("x"), queue.waiting(undefined), queue.arriving]).toEqual([2, 0, 1]);
    writes[1]?.succeed();
    await moving;
    expect(writes[1]?.item).not.toHaveProperty("target");
    expect([ids(queue.list("x")), ids(queue.take(undefined))]).toEqual([["b"], ["a"]]);
    await queue.readdress(first, "x");
    expect(writes).toHaveLength(2);
  });

  it("is taken only once when it is taken, withdrawn or moved elsewhere while it moves", async () => {
    const { record, writes } = createDisk();
    const restored = [item("taken", "next", "x"), item("withdrawn", "next", "y"), item("twice", "next", "z")];
    const queue = createQueue({ record, restored });
    const moves = restored.map((each) => queue.readdress(each, undefined));
    const second = queue.readdress(item("twice", "next", "z"), "x");
    expect(ids(queue.take("x"))).toEqual(["taken"]);
    expect(queue.withdraw("withdrawn")).toBe(true);
    for (const { succeed } of writes) succeed();
    await Promise.all([...moves, second]);
    expect(ids(queue.take(undefined))).toEqual(["twice"]);
    expect([queue.waiting("x"), queue.waiting("y"), queue.waiting("z")]).toEqual([0, 0, 0]);
  });

  it("is there although a listener throws, and the others hear of it", async () => {
    const queue = createQueue({ record: async () => {} });
    const heard: string[] = [];
    queue.onAdd(() => {
      throw new Error("a fault of the listener");
    });
    queue.onAdd(({ uuid }) => heard.push(uuid));
    const thrown: unknown[] = [];
    const others = process.listeners("uncaughtException");
    process.removeAllListeners("uncaughtException");
    process.on("uncaughtException", (error) => thrown.push(error.message));
    try {
      await queue.add(item("a"));
      await settled();
    } finally {
      process.removeAllListeners("uncaughtException");
      for (const other of others) process.on("uncaughtException", other);
    }
    expect([heard, thrown, queue.waiting(undefined)]).toEqual([["a"], ["a fault of the listener"], 1]);
  });

  it("is told to a function as often as it listens", async () => {
    const queue = createQueue({ record: async () => {} });
    const heard: string[] = [];
    const listener = ({ uuid }: QueueItem) => void heard.push(uuid);
    const [stop] = [queue.onAdd(listener), queue.onAdd(listener)];
    stop();
    await queue.add(item("a"));
    expect(heard).toEqual(["a"]);
  });
});

const targets = fc.constantFrom(undefined, "x", "y");
const priorities = fc.constantFrom("now" as const, "next" as const, "later" as const);

describe("whatever order the disk has, and whatever fails", () => {
  it("each agent gets what was added for it, by priority, then in the order of additions", async () => {
    const additions = fc.array(fc.record({ target: targets, priority: priorities, fails: fc.boolean() }), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(additions, fc.scheduler(), async (given, scheduler) => {
        const queue = createQueue({
          record: async ({ uuid }) => {
            await scheduler.schedule(Promise.resolve(uuid));
            if (given[Number(uuid)]?.fails) throw new Error("disk full");
          },
        });
        const all = given.map(({ target, priority }, index) =>
          queue.add(item(String(index), priority, target)),
        );
        await scheduler.waitFor(Promise.allSettled(all));
        for (const target of [undefined, "x", "y"]) {
          const expected = (["now", "next", "later"] as const).flatMap((priority) =>
            given.flatMap((each, index) =>
              each.target === target && each.priority === priority && !each.fails ? [String(index)] : [],
            ),
          );
          expect(ids(queue.take(target))).toEqual(expected);
        }
      }),
      { numRuns: runs({ sample: 200, full: 5_000 }) },
    );
  });

  it("nothing is lost and nothing comes twice, whoever takes, withdraws and moves things", async () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant("add" as const), target: targets, priority: priorities }),
      fc.record({ type: fc.constant("take" as const), target: targets }),
      fc.record({ type: fc.constant("withdraw" as const), uuid: fc.nat(10).map(String) }),
      fc.record({ type: fc.constant("move" as const), from: targets, to: targets }),
      fc.record({ type: fc.constant("wait" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.infiniteStream(fc.boolean()),
        fc.scheduler(),
        async (steps, faults, scheduler) => {
          const queue = createQueue({
            record: async ({ uuid }) => {
              const { value: fails } = faults.next();
              await scheduler.schedule(Promise.resolve(uuid));
              if (fails) throw new Error("disk full");
            },
          });
          const fates = new Map<string, string[]>();
          const fate = (uuid: string, what: string) => fates.get(uuid)?.push(what);
          const work: Promise<unknown>[] = [];
          for (const each of steps) {
            if (each.type === "add") {
              const uuid = String(fates.size);
              fates.set(uuid, []);
              work.push(queue.add(item(uuid, each.priority, each.target)).catch(() => fate(uuid, "refused")));
            } else if (each.type === "take")
              for (const { uuid } of queue.take(each.target)) fate(uuid, "taken");
            else if (each.type === "withdraw") {
              if (queue.withdraw(each.uuid)) fate(each.uuid, "withdrawn");
            } else if (each.type === "move")
              for (const waiting of queue.list(each.from))
                work.push(queue.readdress(waiting, each.to).catch(() => {}));
            else if (scheduler.count() > 0) await scheduler.waitOne();
          }
          await scheduler.waitFor(Promise.all(work));
          for (const target of [undefined, "x", "y"])
            for (const { uuid } of queue.take(target)) fate(uuid, "taken");
          for (const [uuid, what] of fates) expect({ uuid, fates: what.length }).toEqual({ uuid, fates: 1 });
          expect(queue.arriving).toBe(0);
        },
      ),
      { numRuns: runs({ sample: 300, full: 10_000 }) },
    );
  });
});
