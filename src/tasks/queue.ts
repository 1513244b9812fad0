/**
 * tasks/ owns what goes on beside a turn: the queue of everything that wants to reach an agent between
 * turns. It must not know models, tools or surfaces.
 *
 * Taking is take and acknowledge (TA-13): an item leaves the durable queue only when it stands in its
 * receiver's transcript. The record of an addition and the message that carries the item are both in the
 * transcript, so the queue after a crash is additions less acknowledged ones.
 */
import type { QueueItem } from "../contracts/queue-item.ts";

export interface Queue {
  /** Resolves when the item is on disk: from then on it will arrive. */
  add(item: QueueItem): Promise<void>;
  /** What waits for this agent (undefined: the main one), by priority, then first in, first out. Held until acknowledged. */
  take(target: string | undefined): QueueItem[];
  /** They stand in the receiver's transcript. */
  acknowledge(items: readonly QueueItem[]): void;
  waiting(target: string | undefined): number;
  /** Called for each item added. */
  onAdd(listener: (item: QueueItem) => void): () => void;
}

const order = { now: 0, next: 1, later: 2 } as const;

export function createQueue(options: {
  /** Makes an addition durable. */
  record: (item: QueueItem) => Promise<void>;
  /** What was waiting when the session ended. */
  restored?: readonly QueueItem[];
}): Queue {
  const items = new Map<string, { item: QueueItem; taken: boolean }>();
  for (const item of options.restored ?? []) items.set(item.uuid, { item, taken: false });
  const listeners = new Set<(item: QueueItem) => void>();

  const waitingFor = (target: string | undefined) =>
    [...items.values()].filter((entry) => !entry.taken && entry.item.target === target);

  return {
    async add(item) {
      if (items.has(item.uuid)) return;
      items.set(item.uuid, { item, taken: true });
      try {
        await options.record(item);
      } catch (error) {
        items.delete(item.uuid);
        throw error;
      }
      const entry = items.get(item.uuid);
      if (entry) entry.taken = false;
      for (const listener of listeners) listener(item);
    },
    take(target) {
      const entries = waitingFor(target);
      for (const entry of entries) entry.taken = true;
      return entries.map((entry) => entry.item).sort((a, b) => order[a.priority] - order[b.priority]);
    },
    acknowledge(done) {
      for (const item of done) items.delete(item.uuid);
    },
    waiting: (target) => waitingFor(target).length,
    onAdd(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
