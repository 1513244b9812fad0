/**
 * tasks/ owns what goes on beside a turn: the registry of what runs, the queue of everything that wants to reach an
 * agent between turns, and how the end of a task is told. It must not know models, tools or surfaces.
 *
 * Taking is take and acknowledge (TA-13): an item leaves the durable queue only when it stands in its receiver's
 * transcript. The record of an addition is in the transcript of the session and the message that carries the item in
 * that of its receiver, so the queue after a crash is additions less acknowledged ones.
 */
import type { QueueItem } from "../contracts/queue-item.ts";

export interface Queue {
  /** Resolves when the item is on disk: from then on it will arrive. What is in the queue already is not added again. */
  add(item: QueueItem): Promise<void>;
  /** What waits for this agent (undefined: the main one), by priority, then first in, first out. Held until acknowledged. */
  take(target: string | undefined): QueueItem[];
  /** They stand in the receiver's transcript. */
  acknowledge(items: readonly QueueItem[]): void;
  waiting(target: string | undefined): number;
  /** What waits now, in the order of its arrival, without taking it. */
  list(target: string | undefined): readonly QueueItem[];
  /** Takes back what nobody has taken; false if it is not there. Whoever does so sees to it that it stays away. */
  withdraw(uuid: string): boolean;
  /** What waits for one agent is from now on for another, unless it is taken before that is on disk. */
  readdress(item: QueueItem, target: string | undefined): Promise<void>;
  /** How much is being written: it may wait for somebody in a moment. */
  readonly arriving: number;
  /** Called for each item that can be taken now. */
  onAdd(listener: (item: QueueItem) => void): () => void;
  /** Called when something was written, or could not be. */
  onSettle(listener: () => void): () => void;
}

const order = { now: 0, next: 1, later: 2 } as const;

/** On its way to disk for the first time. */
interface Addition {
  done: Promise<void>;
  isWithdrawn: boolean;
}

export function createQueue(options: {
  /** Makes an addition durable. */
  record: (item: QueueItem) => Promise<void>;
  /** What was waiting when the session ended. */
  restored?: readonly QueueItem[];
}): Queue {
  /** In the queue in any way: being written, waiting, or taken and not acknowledged. */
  const known = new Set<string>();
  const additions = new Map<string, Addition>();
  const waiting = new Map<string | undefined, QueueItem[]>();
  const addListeners = new Set<(item: QueueItem) => void>();
  const settleListeners = new Set<() => void>();
  let arriving = 0;
  let lastWrite: Promise<void> = Promise.resolve();
  for (const item of options.restored ?? []) {
    known.add(item.uuid);
    offer(item);
  }

  function offer(item: QueueItem): void {
    const items = waiting.get(item.target);
    if (items === undefined) waiting.set(item.target, [item]);
    else items.push(item);
    for (const listener of [...addListeners]) tell(() => listener(item));
  }

  /** Nothing overtakes what was written before it: the messages of one sender arrive in their order. */
  function write(item: QueueItem, arrive: () => void): Promise<void> {
    const writing = writeAfter(lastWrite, item, arrive);
    lastWrite = writing.catch(() => {});
    return writing;
  }

  async function writeAfter(earlier: Promise<void>, item: QueueItem, arrive: () => void): Promise<void> {
    arriving += 1;
    try {
      try {
        await options.record(item);
      } finally {
        await earlier;
      }
      arrive();
    } finally {
      arriving -= 1;
      for (const listener of [...settleListeners]) tell(listener);
    }
  }

  async function addNew(item: QueueItem, addition: Addition): Promise<void> {
    const { uuid } = item;
    const leave = () => additions.get(uuid) === addition && additions.delete(uuid);
    try {
      await write(item, () => {
        leave();
        if (!addition.isWithdrawn) offer(item);
      });
    } catch (error) {
      if (leave()) known.delete(uuid);
      if (!addition.isWithdrawn) throw error;
    }
  }

  function isWaiting({ uuid, target }: QueueItem): boolean {
    return waiting.get(target)?.some((item) => item.uuid === uuid) ?? false;
  }

  function remove(uuid: string, target: string | undefined): boolean {
    const items = waiting.get(target) ?? [];
    const index = items.findIndex((item) => item.uuid === uuid);
    if (index < 0) return false;
    items.splice(index, 1);
    if (items.length === 0) waiting.delete(target);
    return true;
  }

  return {
    add(item) {
      const same = additions.get(item.uuid);
      if (same !== undefined) return same.done;
      if (known.has(item.uuid)) return Promise.resolve();
      known.add(item.uuid);
      const addition: Addition = { done: Promise.resolve(), isWithdrawn: false };
      additions.set(item.uuid, addition);
      addition.done = addNew(item, addition);
      return addition.done;
    },
    take(target) {
      const items = waiting.get(target);
      if (items === undefined) return [];
      waiting.delete(target);
      return items.sort((a, b) => order[a.priority] - order[b.priority]);
    },
    acknowledge(done) {
      for (const item of done) known.delete(item.uuid);
    },
    waiting: (target) => waiting.get(target)?.length ?? 0,
    list: (target) => [...(waiting.get(target) ?? [])],
    withdraw(uuid) {
      const addition = additions.get(uuid);
      if (addition !== undefined) {
        addition.isWithdrawn = true;
        return additions.delete(uuid) && known.delete(uuid);
      }
      for (const target of waiting.keys()) if (remove(uuid, target)) return known.delete(uuid);
      return false;
    },
    async readdress(item, target) {
      if (item.target === target || !isWaiting(item)) return;
      const { target: _, ...rest } = item;
      const moved = { ...rest, ...(target !== undefined && { target }) };
      // It stays where it is until then: a failing disk changes nothing, and it can be taken or withdrawn meanwhile.
      await write(moved, () => {
        if (remove(item.uuid, item.target)) offer(moved);
      });
    },
    get arriving() {
      return arriving;
    },
    onAdd: (listener) => listenOn(addListeners, listener),
    onSettle: (listener) => listenOn(settleListeners, listener),
  };
}

/** One of its own for each call, so that the same function can listen twice and leave once. */
function listenOn<Arguments extends unknown[]>(
  listeners: Set<(...values: Arguments) => void>,
  listener: (...values: Arguments) => void,
): () => void {
  const own = (...values: Arguments) => listener(...values);
  listeners.add(own);
  return () => void listeners.delete(own);
}

/** What was written is in the queue, whatever a listener makes of it. */
function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
