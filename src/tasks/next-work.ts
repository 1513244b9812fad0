/** What a session waits for when its main agent is idle: something to do, or the certainty that nothing comes (TA-12). */
import { cancelledErrorOf, onCancelled, throwIfCancelled } from "../base/cancellation.ts";
import type { BackgroundTasks } from "./background.ts";
import type { Queue } from "./queue.ts";
import { hasEnded, type TaskRegistry } from "./registry.ts";

/**
 * True as soon as something waits for the main agent. False when nothing does, nothing in the background goes on, and
 * nothing is on its way into the queue. Rejects with the `CancelledError` of the signal.
 */
export async function nextWork(options: {
  queue: Pick<Queue, "waiting" | "arriving" | "onAdd" | "onSettle">;
  tasks: Pick<TaskRegistry, "get" | "list" | "onChange">;
  background: Pick<BackgroundTasks, "ending" | "onChange">;
  signal?: AbortSignal | undefined;
}): Promise<boolean> {
  const { queue, tasks, background, signal } = options;
  if (signal) throwIfCancelled(signal);
  /** What goes on in the background. Kept here, since going through all tasks at every change would be long. */
  const going = new Set<string>();
  const see = (id: string) => {
    const task = tasks.get(id);
    if (task?.isBackgrounded && !hasEnded(task)) going.add(id);
    else going.delete(id);
  };
  const answer = (): boolean | undefined => {
    if (queue.waiting(undefined) > 0) return true;
    return going.size > 0 || background.ending > 0 || queue.arriving > 0 ? undefined : false;
  };
  for (const { id } of tasks.list()) see(id);
  return answer() ?? changeTo({ answer, see, ...options });
}

function changeTo({
  queue,
  tasks,
  background,
  signal,
  answer,
  see,
}: Parameters<typeof nextWork>[0] & {
  answer: () => boolean | undefined;
  see: (taskId: string) => void;
}): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      for (const stop of listening) stop();
    };
    const look = () => {
      const work = answer();
      if (work === undefined) return;
      leave();
      resolve(work);
    };
    const listening = [
      queue.onAdd(look),
      queue.onSettle(look),
      background.onChange(look),
      tasks.onChange(({ task }) => {
        see(task.id);
        look();
      }),
    ];
    if (signal)
      listening.push(
        onCancelled(signal, () => {
          leave();
          reject(cancelledErrorOf(signal));
        }),
      );
  });
}
