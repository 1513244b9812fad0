/**
 * What the registry tells of tasks, as far as surfaces show it: what is at work in the background, which agent has
 * stalled, and the start and end, each exactly once, of what is no agent. Agents tell that themselves.
 */
import type { Task } from "../../contracts/task.ts";
import type { TaskChange } from "../../tasks/registry.ts";

export interface TaskMoment {
  /** Something other than an agent goes on in the background. */
  readonly started?: Task;
  readonly ended?: Task;
  /** An agent in which nothing happens any more; told once, until something does. */
  readonly stalled?: Task;
  /** Another set of tasks is at work in the background. */
  readonly changed: boolean;
}

export interface TaskWatch {
  see(change: TaskChange): TaskMoment;
  /** In the background, in the order of their start. */
  readonly atWork: readonly Task[];
  /** Nothing will be heard any more: what was told as started and will not be told as ended. */
  close(): Task[];
}

const nothing: TaskMoment = { changed: false };

export function createTaskWatch(): TaskWatch {
  const atWork = new Map<string, Task>();
  const stalled = new Set<string>();

  function enter(task: Task): TaskMoment {
    const isNew = !atWork.has(task.id);
    atWork.set(task.id, task);
    if (!isNew) return nothing;
    return { changed: true, ...(task.agent === undefined && { started: task }) };
  }

  function leave(task: Task): TaskMoment {
    stalled.delete(task.id);
    if (!atWork.delete(task.id)) return nothing;
    return { changed: true, ...(task.agent === undefined && { ended: task }) };
  }

  /** In the foreground as well. */
  function hasJustStalled(task: Task): boolean {
    const isStalled = task.agent?.progress.state === "stalled";
    if (!isStalled) stalled.delete(task.id);
    else if (!stalled.has(task.id)) {
      stalled.add(task.id);
      return true;
    }
    return false;
  }

  return {
    see({ type, task }) {
      if (type === "task-end") return leave(task);
      if (type !== "task-start" && type !== "task-update") return nothing;
      const moment = task.isBackgrounded ? enter(task) : nothing;
      return hasJustStalled(task) ? { ...moment, stalled: task } : moment;
    },
    get atWork() {
      return [...atWork.values()];
    },
    close() {
      const left = [...atWork.values()].filter(({ agent }) => agent === undefined);
      atWork.clear();
      return left.map((task): Task => ({ ...task, status: "killed" }));
    },
  };
}

/** What goes on in the background of a session, in the order of its start. */
export function tasksAtWork(session: { tasks: { list(): Task[] } }): Task[] {
  return session.tasks.list().filter((task) => task.isBackgrounded && isAtWork(task));
}

export function isAtWork({ status }: Task): boolean {
  return status === "running" || status === "pending";
}
