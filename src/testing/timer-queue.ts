import type { Timer } from "../base/world.ts";

/** Timers in the order in which they fall due; those of one moment in the order in which they were set. */
export interface TimerQueue {
  now(): number;
  set(delayMs: number, callback: () => void): Timer;
  /** Moves the time to the next timer and fires it, unless that lies after `untilMs`. */
  fireNext(untilMs: number): boolean;
  moveTo(ms: number): void;
  /** How long each waiting timer still has to wait, the next one first. */
  pendingMs(): number[];
}

interface Entry {
  readonly dueMs: number;
  readonly callback: () => void;
}

export function createTimerQueue(startMs: number): TimerQueue {
  let nowMs = startMs;
  // A set keeps the order of insertion, which decides between timers of one moment.
  const entries = new Set<Entry>();

  return {
    now: () => nowMs,
    set(delayMs, callback) {
      const entry = { dueMs: nowMs + Math.max(0, delayMs || 0), callback };
      entries.add(entry);
      return { cancel: () => entries.delete(entry) };
    },
    fireNext(untilMs) {
      let next: Entry | undefined;
      for (const entry of entries) if (next === undefined || entry.dueMs < next.dueMs) next = entry;
      if (next === undefined || next.dueMs > untilMs) return false;
      entries.delete(next);
      nowMs = Math.max(nowMs, next.dueMs);
      next.callback();
      return true;
    },
    moveTo(ms) {
      nowMs = Math.max(nowMs, ms);
    },
    pendingMs: () => [...entries].map((entry) => entry.dueMs - nowMs).sort((a, b) => a - b),
  };
}
