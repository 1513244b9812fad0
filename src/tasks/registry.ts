/**
 * All tasks of a session, and the only writer of their state. A task is one run (TA-3): its status moves forward,
 * it ends once, and nothing changes after that. How a kind of task is stopped lies in the handle that is given
 * with it, so that new kinds need no change here.
 */

import { CadreError } from "../base/errors.ts";
import type { Clock, Random } from "../base/world.ts";
import type { AgentTask, Task, TaskEndStatus, TaskKind } from "../contracts/task.ts";
import { isGoingOn } from "../contracts/task.ts";

export interface TaskHandle {
  /** Asks the task to end; it says itself when it has. */
  stop(reason: string): void;
  /** Asks a task that somebody waits for to go on in the background; it says itself when it does. */
  toBackground?(): void;
  /** It is a tool of whoever started it and ends with it; otherwise it goes on, unless its starter was stopped (TA-7). */
  readonly endsWithStarter?: boolean;
}

export type NewTask = Omit<Task, "status" | "startedAt" | "endedAt" | "notified" | "error"> & {
  /** Default: `running`. */
  readonly status?: "pending" | "running";
  /** Default: now. */
  readonly startedAt?: number;
};

export interface TaskPatch {
  readonly status?: "running";
  readonly description?: string;
  readonly outputFile?: string;
  /** Only forward: a task that was moved to the background stays there. */
  readonly isBackgrounded?: true;
  readonly agent?: Partial<Omit<AgentTask, "result">>;
}

export interface TaskOutcome {
  readonly status: TaskEndStatus;
  /** Of an agent: its final text, or as much as there was. */
  readonly result?: string;
  readonly error?: string;
  /** Of an agent: what it came to in the end. */
  readonly agent?: TaskPatch["agent"];
  /** Of a shell. */
  readonly exitCode?: number | null;
}

export type TaskChange = {
  readonly type: "task-start" | "task-update" | "task-end" | "task-notify" | "task-remove";
  readonly task: Task;
};

/** One run of a task. What comes late from an earlier run of the same agent does not reach the present one. */
export interface TaskRun {
  readonly task: Task;
  /** False, and nothing happens, when the run has ended. */
  update(patch: TaskPatch): boolean;
  /** The first end wins: false, and nothing happens, when the run has ended. */
  end(outcome: TaskOutcome): boolean;
  /** Check and set in one step (TA-9): true for exactly one caller, after the end, also when a new run has begun. */
  markNotified(): boolean;
}

export interface TaskRegistry {
  /** Throws `task-exists` while a task with this id goes on. One that has ended gives way to the new run. */
  register(task: NewTask, handle: TaskHandle): TaskRun;
  get(id: string): Task | undefined;
  /** In the order of their start. */
  list(): Task[];
  /** Whether this agent has started something in the foreground that goes on. */
  isWaitedOnBy(agentId: string): boolean;
  /** As of the run; these mean the present run of that id. */
  update(id: string, patch: TaskPatch): boolean;
  end(id: string, outcome: TaskOutcome): boolean;
  /** False when there is nothing to stop. The task ends when its run says so. */
  stop(id: string, reason: string): boolean;
  /** Stops everything in the background, and answers with how much that was. */
  stopAll(reason: string): number;
  /** False when nobody waits for it, or it cannot be. It moves when its run says so. */
  toBackground(id: string): boolean;
  markNotified(id: string): boolean;
  /** Only one that has ended can go. */
  remove(id: string): boolean;
  /** Told of every change in order, also of those that a listener makes. */
  onChange(listener: (change: TaskChange) => void): () => void;
}

export function createTaskRegistry(options: {
  clock: Pick<Clock, "now">;
  /** A listener, or what stops a task, threw; the others are told all the same. */
  onListenerError?: (error: unknown) => void;
}): TaskRegistry {
  const { clock } = options;
  const runs = new Map<string, Run>();
  /** Those that go on, by the agent that started them; the main agent's are not among them. */
  const startedBy = new Map<string, Set<Run>>();
  const listeners = new Set<(change: TaskChange) => void>();
  const untold: TaskChange[] = [];
  let isTelling = false;

  function tell(change: TaskChange): void {
    if (listeners.size === 0) return;
    untold.push(change);
    if (isTelling) return;
    isTelling = true;
    for (let next = untold.shift(); next !== undefined; next = untold.shift())
      for (const listener of [...listeners]) tellOne(listener, next);
    isTelling = false;
  }

  function tellOne(listener: (change: TaskChange) => void, change: TaskChange): void {
    try {
      listener(change);
    } catch (error) {
      reportQuietly(options.onListenerError, error);
    }
  }

  /** A class, because there are many: their functions are shared. */
  class Run implements TaskRun {
    task: Task;
    /** Let go of at the end, with all that it holds. */
    handle: TaskHandle | undefined;

    constructor(task: Task, handle: TaskHandle) {
      this.task = task;
      this.handle = handle;
    }

    get hasEnded(): boolean {
      return hasEnded(this.task);
    }

    update({ agent, ...patch }: TaskPatch): boolean {
      if (this.hasEnded) return false;
      this.task = { ...this.task, ...patch, ...mergedAgent(this.task, agent) };
      tell({ type: "task-update", task: this.task });
      return true;
    }

    end({ status, result, error, agent, exitCode }: TaskOutcome): boolean {
      if (this.hasEnded) return false;
      this.task = {
        ...this.task,
        ...mergedAgent(this.task, { ...agent, ...(result !== undefined && { result }) }),
        ...(error !== undefined && { error }),
        ...(exitCode !== undefined && { exitCode }),
        status,
        endedAt: clock.now(),
      };
      this.handle = undefined;
      leaveStarter(this);
      tell({ type: "task-end", task: this.task });
      endWhatItStarted(this.task);
      return true;
    }

    markNotified(): boolean {
      if (!this.hasEnded || this.task.notified) return false;
      this.task = { ...this.task, notified: true };
      // Under this id there is nothing to see but the present run.
      if (runs.get(this.task.id) === this) tell({ type: "task-notify", task: this.task });
      return true;
    }
  }

  function enterStarter(run: Run): void {
    const { parentAgentId } = run.task;
    if (parentAgentId === undefined) return;
    const started = startedBy.get(parentAgentId);
    if (started === undefined) startedBy.set(parentAgentId, new Set([run]));
    else started.add(run);
  }

  function leaveStarter(run: Run): void {
    const { parentAgentId } = run.task;
    if (parentAgentId === undefined) return;
    const started = startedBy.get(parentAgentId);
    started?.delete(run);
    if (started?.size === 0) startedBy.delete(parentAgentId);
  }

  function stopBelow(id: string, reason: string): void {
    for (const run of [...(startedBy.get(id) ?? [])]) {
      stopBelow(run.task.id, reason);
      if (run.task.isBackgrounded) stopOne(run, reason);
    }
  }

  /** Of one that was stopped everything (TA-21), of another what is a part of it (SP-19). */
  function endWhatItStarted({ id, status, description }: Task): void {
    for (const run of [...(startedBy.get(id) ?? [])])
      if (status === "killed") stopOne(run, `what started it ("${description}") was stopped`);
      else if (run.handle?.endsWithStarter) stopOne(run, `what started it ("${description}") has ended`);
  }

  /** One that cannot be stopped must not keep the others from it. */
  function stopOne({ handle }: Run, reason: string): void {
    try {
      handle?.stop(reason);
    } catch (error) {
      reportQuietly(options.onListenerError, error);
    }
  }

  return {
    register(given, handle) {
      const existing = runs.get(given.id);
      if (existing && !existing.hasEnded) throw stillGoingOn(existing.task);
      const task: Task = {
        ...given,
        status: given.status ?? "running",
        startedAt: given.startedAt ?? clock.now(),
        notified: false,
      };
      const run = new Run(task, handle);
      // In the order of starts: a new run stands at the end.
      runs.delete(given.id);
      runs.set(given.id, run);
      enterStarter(run);
      tell({ type: "task-start", task });
      return run;
    },
    get: (id) => runs.get(id)?.task,
    isWaitedOnBy: (agentId) => [...(startedBy.get(agentId) ?? [])].some(({ task }) => !task.isBackgrounded),
    list: () => Array.from(runs.values(), (run) => run.task),
    update: (id, patch) => runs.get(id)?.update(patch) ?? false,
    end: (id, outcome) => runs.get(id)?.end(outcome) ?? false,
    stop(id, reason) {
      const handle = runs.get(id)?.handle;
      if (handle === undefined) return false;
      // It may take its time to end; what is in the background below it need not wait for that.
      stopBelow(id, `what started it ("${runs.get(id)?.task.description}") was stopped`);
      handle.stop(reason);
      return true;
    },
    stopAll(reason) {
      const beside = [...runs.values()].filter(({ task, hasEnded }) => task.isBackgrounded && !hasEnded);
      for (const run of beside) stopOne(run, reason);
      return beside.length;
    },
    toBackground(id) {
      const run = runs.get(id);
      if (run === undefined || run.task.isBackgrounded || run.handle?.toBackground === undefined)
        return false;
      run.handle.toBackground();
      return true;
    },
    markNotified: (id) => runs.get(id)?.markNotified() ?? false,
    remove(id) {
      const run = runs.get(id);
      if (run === undefined || !run.hasEnded) return false;
      runs.delete(id);
      tell({ type: "task-remove", task: run.task });
      return true;
    },
    onChange(listener) {
      // One of its own for each call, so that the same function can listen twice and leave once.
      const own = (change: TaskChange) => listener(change);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}

export function hasEnded(task: Pick<Task, "status">): boolean {
  return !isGoingOn(task);
}

/** A task must end, whatever becomes of those who watch it. */
function reportQuietly(report: ((error: unknown) => void) | undefined, error: unknown): void {
  try {
    report?.(error);
  } catch {
    // Nobody is left to tell.
  }
}

const letters: Readonly<Record<string, string>> = {
  local_agent: "a",
  local_bash: "b",
  remote_agent: "r",
  teammate: "t",
  monitor: "m",
  workflow: "w",
};

/** A letter for its kind and 16 random characters, good as part of a file's name. */
export function newTaskId(kind: TaskKind, random: Pick<Random, "bytes">): string {
  const letter = Object.hasOwn(letters, kind) ? letters[kind] : "x";
  return letter + Array.from(random.bytes(16), (byte) => (byte % 32).toString(32)).join("");
}

function mergedAgent(task: Task, patch: Partial<AgentTask> | undefined): Pick<Task, "agent"> {
  return task.agent === undefined || patch === undefined ? {} : { agent: { ...task.agent, ...patch } };
}

function stillGoingOn({ id, description }: Task): CadreError {
  return new CadreError({
    code: "task-exists",
    message: `The task ${id} ("${description}") still goes on: wait for its end, or stop it.`,
    data: { id },
  });
}
