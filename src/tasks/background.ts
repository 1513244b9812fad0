/**
 * What every task in the background has in common, whatever its kind: an output file from the start (TA-6), a record
 * on disk, and exactly one notification at its end (TA-9).
 *
 * The notification has an id that follows from the task. What ended, but whose notification stands neither in the
 * queue nor in a transcript, is found when the session is restored and told then, under the same id.
 */
import { CadreError, messageOf } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import type { Block } from "../contracts/message.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import type { Task } from "../contracts/task.ts";
import { notificationOf, type TaskEnd } from "./notification.ts";
import { createTaskOutput, type TaskOutputFile } from "./output.ts";
import type { Queue } from "./queue.ts";
import type { TaskOutcome, TaskRegistry, TaskRun } from "./registry.ts";

export interface BackgroundTasks {
  /**
   * The task of this run is in the background from now on. Resolves when its file is there and its record on disk:
   * only then whoever started it may be told that it runs. Rejects, and leaves it as it was, if that cannot be.
   */
  adopt(run: TaskRun): Promise<BackgroundTask>;
  /** A call has told of the end of this task: no notification comes any more. False if one has been taken already. */
  tell(taskId: string, toolUseId: string): boolean;
  /** How many have ended and their notification is not in the queue yet. */
  readonly ending: number;
  /** Called whenever that changes. */
  onChange(listener: () => void): () => void;
}

export interface BackgroundTask {
  readonly outputFile: string;
  /** The file has something already, from an earlier run. */
  readonly goesOn: boolean;
  /** Readable text for its output file, in order. */
  write(text: string | Uint8Array): void;
  /**
   * The first end wins; the status is set at once, and the rest waits for the notice. Resolves when the notification is
   * in the queue, from where it will arrive. Never rejects.
   */
  end(outcome: RunOutcome, notice: Notice | Promise<Notice>): Promise<void>;
}

export interface RunOutcome extends TaskOutcome {
  /** Tells the runs of one task apart. */
  readonly run?: string;
}

/** What is said of the end. */
export interface Notice extends Pick<TaskEnd, "summary" | "result" | "usage" | "worktree"> {
  /** Said instead of the notification, as a prompt that nobody sees. */
  readonly prompt?: readonly Block[];
  /** Said beside the notification, by the runtime. */
  readonly more?: readonly Block[];
}

async function open(output: TaskOutputFile): Promise<boolean> {
  try {
    return await output.open();
  } catch (error) {
    throw new CadreError({
      code: "task-output-unwritable",
      message: `Nothing can be sent to the background: its output file ${output.path} cannot be made (${messageOf(error)}). Make the folder writable, or let it run in the foreground.`,
      cause: error,
    });
  }
}

/** The id of the notification of a run's end. */
export function endIdOf(taskId: string, run: string | undefined): string {
  return run === undefined ? `ended:${taskId}` : `ended:${taskId}:${run}`;
}

/** Of whose end a notification with this id tells; undefined: it tells of something else. */
export function taskOfEndId(uuid: string): string | undefined {
  return /^ended:([^:]+)/.exec(uuid)?.[1];
}

export interface BackgroundOptions {
  readonly world: Pick<World, "files" | "platform">;
  /** Where output files are. */
  readonly folder: string;
  readonly tasks: TaskRegistry;
  readonly queue: Queue;
  /** Into the transcript of the session. */
  readonly record: (record: BackgroundRecord) => void;
  readonly durable: () => Promise<void>;
  /** The nearest agent above that is alive; undefined: the main one. Asked with those above it, the nearest first. */
  readonly receiver: (above: readonly string[]) => string | undefined;
  /** Something went wrong that nobody waits for. */
  readonly onProblem: (message: string) => void;
}

export type BackgroundRecord =
  | { readonly type: "task"; readonly task: StoredTask }
  | { readonly type: "told"; readonly uuid: string; readonly toolUseId: string };

export type StoredTask = Omit<Task, "agent" | "isBackgrounded" | "notified"> & {
  readonly agentType?: string;
  readonly name?: string;
};

interface EndedTask {
  readonly run: TaskRun;
  /** Of its notification. */
  readonly uuid: string;
  /** `lost`: no notification could be kept, and nobody was told. */
  state: "ending" | "told" | "lost";
}

/** So many that have ended are kept, for whoever asks what became of them. */
const keptEnded = 200;

export function createBackgroundTasks(options: BackgroundOptions): BackgroundTasks {
  const { tasks, queue } = options;
  const listeners = new Set<() => void>();
  /** Of those that run, by task: the agents above it, the nearest first. */
  const aboveRunning = new Map<string, readonly string[]>();
  /** By task, in the order of their ends. */
  const ended = new Map<string, EndedTask>();
  let ending = 0;

  /** A task must end, whatever becomes of those who are told of it. */
  const attempt = (call: () => void) => {
    try {
      call();
    } catch {
      // Nobody is left to tell.
    }
  };
  const onProblem = (message: string) => attempt(() => options.onProblem(message));
  const change = (by: number) => {
    ending += by;
    for (const listener of [...listeners]) attempt(listener);
  };

  async function adopt(run: TaskRun): Promise<BackgroundTask> {
    const { id } = run.task;
    const above = agentsAbove(run.task);
    const output = createTaskOutput({ ...options, onProblem, id });
    const goesOn = await open(output);
    try {
      options.record({ type: "task", task: { ...storedForm(run.task), outputFile: output.path } });
      await options.durable();
    } catch (error) {
      await output.close();
      throw error;
    }
    run.update({ isBackgrounded: true, outputFile: output.path });
    aboveRunning.set(id, above);
    let ends: Promise<void> | undefined;
    return {
      outputFile: output.path,
      goesOn,
      write: output.write,
      end(outcome, notice) {
        const given = Promise.resolve(notice);
        // Of a second end nobody wants to know.
        given.catch(() => {});
        ends ??= end({ run, output, above }, outcome, given);
        return ends;
      },
    };
  }

  /** The nearest first. Looked up at the start: those who end leave the registry. */
  function agentsAbove(task: Task): readonly string[] {
    const above: string[] = [];
    let id = task.parentAgentId;
    while (id !== undefined && !above.includes(id)) {
      above.push(id);
      // In the background it may have outlived those above it; in the foreground they wait for it.
      const further = aboveRunning.get(id);
      if (further !== undefined) return [...new Set([...above, ...further])];
      id = tasks.get(id)?.parentAgentId;
    }
    return above;
  }

  /** Status first, whoever waits for it; then what the file lacks; then the notification (TA-5). */
  async function end(
    { run, output, above }: { run: TaskRun; output: TaskOutputFile; above: readonly string[] },
    { run: mark, ...outcome }: RunOutcome,
    given: Promise<Notice>,
  ): Promise<void> {
    const { id } = run.task;
    const own: EndedTask = { run, uuid: endIdOf(id, mark), state: "ending" };
    change(1);
    try {
      ended.delete(id);
      ended.set(id, own);
      // Who has ended it before has not told of it: that is done here, and only here.
      run.end(outcome);
      const [notice] = await Promise.all([
        given.catch((error) => plainNotice(run.task, error)),
        output.close(),
      ]);
      options.record({ type: "task", task: storedForm(run.task) });
      if (run.markNotified()) await notify(run.task, { uuid: own.uuid, notice, above });
      own.state = "told";
    } catch (error) {
      own.state = "lost";
      onProblem(
        `The end of the task ${id} could not be told: ${messageOf(error)}. It is told when the session is resumed.`,
      );
    } finally {
      if (aboveRunning.get(id) === above) aboveRunning.delete(id);
      forgetOldest();
      change(-1);
    }
  }

  async function notify(
    task: Task,
    { uuid, notice, above }: { uuid: string; notice: Notice; above: readonly string[] },
  ): Promise<void> {
    const { more = [], prompt, ...said } = notice;
    const { id, toolUseId, outputFile, status } = task;
    if (status === "pending" || status === "running") return;
    const text = notificationOf({ taskId: id, toolUseId, outputFile, status, ...said });
    const target = options.receiver(above);
    const item: QueueItem = {
      uuid,
      mode: prompt === undefined ? "task-notification" : "prompt",
      priority: "later",
      ...(target !== undefined && { target }),
      content: [...(prompt ?? [{ type: "text", text } as const]), ...more],
    };
    await queue.add(item);
    await follow(item, above);
  }

  /** Who lived when it was written may have ended meanwhile, and nobody is left to take it. */
  async function follow(item: QueueItem, above: readonly string[]): Promise<void> {
    const target = options.receiver(above);
    if (target === item.target) return;
    await queue.readdress(item, target);
    await follow({ ...item, target }, above);
  }

  /** One whose notification is still on its way stays. */
  function forgetOldest(): void {
    for (const [id, { state }] of ended) {
      if (ended.size <= keptEnded) return;
      if (state === "ending") continue;
      ended.delete(id);
      tasks.remove(id);
    }
  }

  return {
    adopt,
    tell(taskId, toolUseId) {
      const own = ended.get(taskId);
      if (own === undefined) return false;
      const { run, uuid, state } = own;
      if (!run.markNotified() && !queue.withdraw(uuid) && state !== "lost") return false;
      own.state = state === "lost" ? "told" : state;
      options.record({ type: "told", uuid, toolUseId });
      return true;
    },
    get ending() {
      return ending;
    },
    onChange(listener) {
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}

/** Of one whose notice could not be had: that it ended is told all the same. */
function plainNotice({ description, status }: Task, error: unknown): Notice {
  return { summary: `"${description}" ended: ${status}`, result: messageOf(error) };
}

function storedForm({ agent, isBackgrounded: _, notified: __, ...task }: Task): StoredTask {
  return {
    ...task,
    ...(agent && { agentType: agent.agentType }),
    ...(agent?.name !== undefined && { name: agent.name }),
  };
}
