import type { Clock, Timer } from "../base/world.ts";

/** How long a budget lasts, from the moment it was made. */
export interface TimeLimit {
  readonly minutes: number;
  readonly elapsedMinutes: number;
  readonly over: boolean;
  /** Calls back when the time is over, unless the returned function is called before. */
  watch(onOver: () => void): () => void;
}

/** One timer, however many watch, and none while nobody does. */
export function createTimeLimit({ clock, minutes }: { clock: Clock; minutes: number }): TimeLimit {
  const startedMs = clock.monotonicMs();
  const limitMs = minutes * 60_000;
  const elapsedMs = () => clock.monotonicMs() - startedMs;
  const watchers = new Set<() => void>();
  let timer: Timer | undefined;
  let fired = false;

  function fire(): void {
    fired = true;
    timer = undefined;
    // The last to come is told first: a child hears of it before its parent, which may stop it, does.
    for (const onOver of [...watchers].reverse()) if (watchers.delete(onOver)) onOver();
  }

  return {
    minutes,
    get elapsedMinutes() {
      return elapsedMs() / 60_000;
    },
    get over() {
      return fired || elapsedMs() >= limitMs;
    },
    watch(onOver) {
      // Of its own, so that one who watches twice is two watchers.
      const watcher = () => onOver();
      watchers.add(watcher);
      timer ??= clock.setTimer(Math.max(0, limitMs - elapsedMs()), fire, { unref: true });
      return () => {
        watchers.delete(watcher);
        if (watchers.size > 0) return;
        timer?.cancel();
        timer = undefined;
      };
    },
  };
}
