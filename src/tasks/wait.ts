/**
 * Waiting for the end of a task: always with a deadline, and never in a circle.
 *
 * Who waits for whom is known: whoever calls `wait`, and whoever started a task that is in the foreground. Only a wait
 * can close a circle, so it is enough to look when one begins: a task that starts, or starts again, waits for nobody
 * yet, a move to the background only takes a wait away, and nothing comes back from there.
 */
import { type Cancellation, cancelledErrorOf, onCancelled, throwIfCancelled } from "../base/cancellation.ts";
import { CadreError } from "../base/errors.ts";
import type { Clock } from "../base/world.ts";
import type { Task } from "../contracts/task.ts";
import { hasEnded, type TaskChange, type TaskRegistry } from "./registry.ts";

export interface TaskWaits {
  /**
   * The task when it has ended, at once if it has; undefined when the time is over. Rejects with the cancellation of
   * `scope`, with `task-unknown`, and with `wait-cycle` if the task waits for the waiter, directly or through others.
   */
  wait(options: WaitOptions): Promise<Task | undefined>;
  /** Whether this agent waits for a task right now. */
  isWaiting(agentId: string): boolean;
}

export interface WaitOptions {
  readonly taskId: string;
  /** The agent that waits; undefined: the main one, or a program. */
  readonly waiter: string | undefined;
  /** At most ten minutes; more is taken as that. */
  readonly timeoutMs: number;
  readonly scope?: Cancellation | undefined;
}

export const longestWaitMs = 600_000;

export function createTaskWaits(options: {
  tasks: Pick<TaskRegistry, "get" | "onChange">;
  clock: Pick<Clock, "setTimer">;
}): TaskWaits {
  const { tasks, clock } = options;
  /** By the task that they wait for. */
  const waits = new Map<string, Set<Wait>>();
  let stopListening: (() => void) | undefined;

  function enter(taskId: string, wait: Wait): void {
    const same = waits.get(taskId);
    if (same === undefined) waits.set(taskId, new Set([wait]));
    else same.add(wait);
    // One listener for all of them, and none when nobody waits.
    stopListening ??= tasks.onChange(releaseAtEnd);
  }

  function leave(taskId: string, wait: Wait): void {
    const same = waits.get(taskId);
    same?.delete(wait);
    if (same?.size === 0) waits.delete(taskId);
    if (waits.size > 0) return;
    stopListening?.();
    stopListening = undefined;
  }

  function releaseAtEnd({ type, task }: TaskChange): void {
    if (type === "task-end") for (const wait of [...(waits.get(task.id) ?? [])]) wait.release(task);
  }

  /** Those who wait for this agent: its starter, if it is in the foreground, and whoever called `wait`. */
  function* waitersOf(agentId: string): Generator<string> {
    const task = tasks.get(agentId);
    if (task?.parentAgentId !== undefined && !task.isBackgrounded && !hasEnded(task))
      yield task.parentAgentId;
    for (const { waiter } of waits.get(agentId) ?? []) if (waiter !== undefined) yield waiter;
  }

  /** From `waiter` to `taskId` and back, if the task waits for the waiter already. Nobody waits for the main agent. */
  function circleOf(waiter: string, taskId: string): string[] | undefined {
    /** By agent: whom it waits for, on the way to the waiter. */
    const waitsFor = new Map<string, string>([[waiter, waiter]]);
    // A map goes through what is added meanwhile, too.
    for (const agentId of waitsFor.keys()) {
      if (agentId === taskId) return [waiter, ...wayTo(waiter, taskId, waitsFor), waiter];
      for (const further of waitersOf(agentId)) if (!waitsFor.has(further)) waitsFor.set(further, agentId);
    }
    return undefined;
  }

  function nameOf(agentId: string): string {
    const description = tasks.get(agentId)?.description;
    return description === undefined ? agentId : `${agentId} ("${description}")`;
  }

  return {
    isWaiting: (agentId) =>
      [...waits.values()].some((same) => [...same].some(({ waiter }) => waiter === agentId)),
    async wait({ taskId, waiter, timeoutMs, scope }) {
      if (scope !== undefined) throwIfCancelled(scope);
      const task = tasks.get(taskId);
      if (task === undefined) throw unknown(taskId);
      if (hasEnded(task)) return task;
      const circle = waiter === undefined ? undefined : circleOf(waiter, taskId);
      if (circle !== undefined) throw waitsInCircle(circle, nameOf);
      return new Promise((resolve, reject) => {
        const settle = (finish: () => void) => {
          leave(taskId, wait);
          timer.cancel();
          stopWatching?.();
          finish();
        };
        const wait: Wait = { waiter, release: (ended) => settle(() => resolve(ended)) };
        const timer = clock.setTimer(bounded(timeoutMs), () => wait.release(undefined));
        const stopWatching = scope && onCancelled(scope, () => settle(() => reject(cancelledErrorOf(scope))));
        enter(taskId, wait);
      });
    },
  };
}

interface Wait {
  readonly waiter: string | undefined;
  readonly release: (ended: Task | undefined) => void;
}

function bounded(timeoutMs: number): number {
  return Number.isNaN(timeoutMs) ? 0 : Math.min(Math.max(0, timeoutMs), longestWaitMs);
}

/** `taskId`, whom it waits for, and so on, up to the waiter. */
function wayTo(waiter: string, taskId: string, waitsFor: ReadonlyMap<string, string>): string[] {
  const way: string[] = [];
  for (let id = taskId; id !== waiter; id = waitsFor.get(id) ?? waiter) way.push(id);
  return way;
}

function unknown(taskId: string): CadreError {
  return new CadreError({
    code: "task-unknown",
    message: `There is no task ${taskId}: it never was, or ended long ago.`,
    data: { taskId },
  });
}

function waitsInCircle(circle: readonly string[], nameOf: (id: string) => string): CadreError {
  const [waiter = "", ...others] = circle;
  // The last is the first again.
  const names = others.map((id, index) => (index === others.length - 1 ? id : nameOf(id)));
  const words = `${nameOf(waiter)} waits for ${names.join(", which waits for ")}`;
  return new CadreError({
    code: "wait-cycle",
    message: `This wait could never end: ${words}. Go on without it: the end of the task is told when it comes.`,
    data: { cycle: circle },
  });
}
