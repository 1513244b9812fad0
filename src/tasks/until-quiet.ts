import type { Clock } from "../base/world.ts";
import { isGoingOn } from "../contracts/task.ts";
import type { BackgroundTasks } from "./background.ts";
import type { TaskRegistry } from "./registry.ts";

/** Resolves when nothing runs in the background and every end is told, or when the time is over. */
export function untilQuiet(options: {
  tasks: Pick<TaskRegistry, "list" | "onChange">;
  background: Pick<BackgroundTasks, "ending" | "onChange">;
  clock: Pick<Clock, "setTimer">;
  deadlineMs: number;
}): Promise<void> {
  const { tasks, background, clock, deadlineMs } = options;
  const isQuiet = () =>
    background.ending === 0 && !tasks.list().some((task) => task.isBackgrounded && isGoingOn(task));
  if (isQuiet()) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      timer.cancel();
      stopListening();
      stopWatching();
      resolve();
    };
    const look = () => {
      if (isQuiet()) end();
    };
    const timer = clock.setTimer(deadlineMs, end);
    const stopListening = tasks.onChange(look);
    const stopWatching = background.onChange(look);
  });
}
