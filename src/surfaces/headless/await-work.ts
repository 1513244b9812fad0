/** Waiting, when no run goes on, for what tasks in the background bring. */
import { isCancelled } from "../../base/errors.ts";
import type { Clock } from "../../base/world.ts";
import type { LoopEnd } from "../../contracts/event.ts";
import type { Session } from "../../runtime/session.ts";
import { tasksAtWork } from "./watch-tasks.ts";

/** How long tasks are waited for at all. */
export interface Patience {
  /** Tasks are not waited for. */
  readonly noWait: boolean;
  readonly clock: Pick<Clock, "setTimer" | "monotonicMs">;
  /** The limit on the time of the session, once that is open. */
  readonly timeLimit: () => TimeLimit | undefined;
}

export interface TimeLimit {
  readonly minutes: number;
  /** On the monotonic clock. */
  readonly endsAtMs: number;
}

/** True: something waits for the main agent. False: nothing will come. Or why it is waited for no longer. */
export async function awaitWork(options: {
  session: Session;
  signal: AbortSignal;
  patience: Patience;
}): Promise<boolean | LoopEnd> {
  const { session, signal, patience } = options;
  const { clock } = patience;
  // Most sessions send nothing there: then there is nothing to load, and nothing to wait for.
  if (session.queued === 0 && !session.tasks.list().some((task) => task.isBackgrounded)) return false;
  const limit = patience.timeLimit();
  const wait = new AbortController();
  const stop = () => wait.abort();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const timer = limit && clock.setTimer(Math.max(0, limit.endsAtMs - clock.monotonicMs()), stop);
  try {
    return await session.nextWork(wait.signal);
  } catch (error) {
    if (!isCancelled(error)) throw error;
    if (limit === undefined || signal.aborted)
      return { reason: "aborted", during: "between-turns", why: "while waiting for background tasks" };
    const message = `The time budget of the session is used up: ${limit.minutes} ${limit.minutes === 1 ? "minute" : "minutes"}.`;
    return { reason: "budget_exhausted", budget: "time", message };
  } finally {
    signal.removeEventListener("abort", stop);
    timer?.cancel();
  }
}

/** Stops what is left in the background; answers with what to say of it, if there was something. */
export function stopWhatIsLeft(session: Session): string | undefined {
  const { length } = tasksAtWork(session);
  if (length === 0) return undefined;
  session.tasks.stopAll("the command has ended");
  const what = length === 1 ? "1 background task was" : `${length} background tasks were`;
  const how = session.transcriptPath === undefined ? "" : ` To go on: cadre --resume ${session.id}`;
  return `${what} still at work and had to stop.${how}`;
}
