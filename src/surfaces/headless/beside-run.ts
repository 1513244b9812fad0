/**
 * What happens beside a run is heard at once, what the run itself says only when its reader gets round to it. So that
 * nothing overtakes what came before it, the former waits until the latter has been told.
 */
import type { Clock } from "../../base/world.ts";

type Told = Promise<void> | undefined;

export interface BesideRun {
  add(tell: () => Told): void;
  /** Something that the run has said is being told until this resolves. */
  telling(told: Promise<void>): Promise<void>;
  /** The run has said everything: tells the rest. */
  flush(): Promise<void>;
}

export function createBesideRun({ clock }: { clock: Pick<Clock, "setTimer"> }): BesideRun {
  let waiting: (() => Told)[] = [];
  let ofRun = 0;
  let scheduled = false;
  let flushing: Promise<void> | undefined;

  /** Until the clock's next tick everything that the run has said so far reaches its reader, if that can take it. */
  function schedule(): void {
    if (scheduled || waiting.length === 0) return;
    scheduled = true;
    clock.setTimer(0, () => {
      scheduled = false;
      if (ofRun === 0) void flush();
    });
  }

  async function tellAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      for (const tell of batch) {
        const told = tell();
        if (told !== undefined) await told;
      }
    }
  }

  async function flush(): Promise<void> {
    while (flushing !== undefined || waiting.length > 0) {
      flushing ??= tellAll().finally(() => {
        flushing = undefined;
      });
      await flushing;
    }
  }

  return {
    add(tell) {
      waiting.push(tell);
      schedule();
    },
    async telling(told) {
      ofRun += 1;
      try {
        await told;
      } finally {
        ofRun -= 1;
        schedule();
      }
    },
    flush,
  };
}
