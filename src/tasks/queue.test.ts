import { describe, expect, it } from "vitest";
import type { QueueItem } from "../contracts/queue-item.ts";
import { createQueue } from "./queue.ts";

const item = (uuid: string, priority: QueueItem["priority"] = "next", target?: string): QueueItem => ({
  uuid,
  mode: "prompt",
  priority,
  ...(target !== undefined && { target }),
  content: [{ type: "text", text: uuid }],
});
const ids = (items: QueueItem[]) => items.map(({ uuid }) => uuid);

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
