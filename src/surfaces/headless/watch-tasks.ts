/**
 * What the registry tells of tasks, as far as surfaces show it: what is at work in the background, which agent has
 * stalled or said in a line what it does, and the start and end, each exactly once, of what is no agent. Agents tell that themselves.
 */

import type { Task } from "../../contracts/task.ts";
import { isGoingOn } from "../../contracts/task.ts";
import type { TaskChange } from "../../tasks/registry.ts";

export interface TaskMoment {
  /** Something other than an agent goes on in the background. */
  readonly started?: Task;
  readonly ended?: Task;
  /** An agent in which nothing happens any more; told once, until something does. */
  readonly stalled?: Task;
  /** An agent about which there is a new line of what it does. */
  readonly summarized?: Task;
  /** Another set of tasks is at work in the background. */
  readonly changed: boolean;
}

export interface TaskWatch {
  /** Undefined: it is of no interest, as most changes are. */
  see(change: TaskChange): TaskMoment | undefined;
  /** In the background, in the order of their start. */
  readonly atWork: readonly Task[];
  /** Nothing will be heard any more: the ends of what was told as started. */
  close(): TaskMoment[];
}

export function createTaskWatch(): TaskWatch {
  const atWork = new Map<string, Task>();
  const stalled = new Set<string>();
  /** By agent; only of those about which there is one. */
  const summaries = new Map<string, string>();

  function enter(task: Task): TaskMoment | undefined {
    const isNew = !atWork.has(task.id);
    atWork.set(task.id, task);
    if (!isNew) return undefined;
    return { changed: true, ...(task.agent === undefined && { started: task }) };
  }

  function leave(task: Task): TaskMoment | undefined {
    stalled.delete(task.id);
    summaries.delete(task.id);
    if (!atWork.delete(task.id)) return undefined;
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

  function hasNewSummary(task: Task): boolean {
    const summary = task.agent?.progress.summary;
    if (summary === undefined || summaries.get(task.id) === summary) return false;
    summaries.set(task.id, summary);
    return true;
  }

  return {
    see({ type, task }) {
      if (type === "task-end") return leave(task);
      if (type !== "task-start" && type !== "task-update") return undefined;
      const moment = task.isBackgrounded ? enter(task) : undefined;
      const isStalled = hasJustStalled(task);
      const isSummarized = hasNewSummary(task);
      if (!isStalled && !isSummarized) return moment;
      return {
        changed: false,
        ...moment,
        ...(isStalled && { stalled: task }),
        ...(isSummarized && { summarized: task }),
      };
    },
    get atWork() {
      return [...atWork.values()];
    },
    close() {
      const left = [...atWork.values()].filter(({ agent }) => agent === undefined);
      atWork.clear();
      return left.map((task) => ({ changed: true, ended: { ...task, status: "killed" } }));
    },
  };
}

/** What goes on in the background of a session, in the order of its start. */
export function tasksAtWork(session: { tasks: { list(): Task[] } }): Task[] {
  return session.tasks.list().filter((task) => task.isBackgrounded && isGoingOn(task));
}
