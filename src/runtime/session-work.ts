/** What goes on in a session beside its turns: tasks, the queue, and how both are told. */
import type { AgentBackground } from "../agents/agent-host.ts";
import { agentMessageBlock } from "../agents/agent-message.ts";
import type { Scope } from "../base/cancellation.ts";
import { CadreError, messageOf, systemCodeOf } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import type { BackgroundActivity } from "../contracts/event.ts";
import type { Message } from "../contracts/message.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import type { Settings } from "../contracts/settings.ts";
import { type BackgroundTasks, createBackgroundTasks } from "../tasks/background.ts";
import { outputPathOf } from "../tasks/output.ts";
import { createQueue, type Queue } from "../tasks/queue.ts";
import { createTaskRegistry, type TaskRegistry } from "../tasks/registry.ts";
import { untilQuiet } from "../tasks/until-quiet.ts";
import { createTaskWaits, type TaskWaits } from "../tasks/wait.ts";
import type { ShellBackground } from "../toolbox/bash-task.ts";
import type { AgentTranscripts } from "../transcript/agent-transcripts.ts";
import type { TranscriptWriter } from "../transcript/writer.ts";
import type { Session, TaskText } from "./session.ts";

export interface SessionWork {
  readonly registry: TaskRegistry;
  readonly queue: Queue;
  readonly waits: TaskWaits;
  /** Undefined: everything waits. */
  readonly background: BackgroundTasks | undefined;
  readonly agents: AgentBackground | undefined;
  readonly shells: ShellBackground | undefined;
  readonly onActivity: Session["onActivity"];
  readonly nextWork: Session["nextWork"];
  readonly deliver: Session["deliver"];
  readonly output: Session["taskOutput"];
  /** Takes back for good what nobody has taken from the queue. False: somebody has, so it arrives. */
  takeBack(uuid: string, toolUseId: string): boolean;
  /** Stops what runs in the background and waits until all of that is told, as long as that is bearable. */
  close(): Promise<void>;
}

export interface SessionWorkOptions {
  readonly world: World;
  readonly settings: Settings;
  /** Where output files are. */
  readonly folder: string;
  readonly transcript: TranscriptWriter;
  readonly transcripts: AgentTranscripts | undefined;
  /** What waited when the session ended. */
  readonly waiting: readonly QueueItem[];
  /** Of the session. */
  readonly scope: Scope;
  readonly isAlive: (agentId: string) => boolean;
  /** What an agent that is alive has said and heard. */
  readonly messagesOf: (agentId: string) => readonly Message[] | undefined;
  readonly onProblem: (message: string) => void;
}

export function createSessionWork(options: SessionWorkOptions): SessionWork {
  const { world, settings, folder, transcript, scope } = options;
  const queue = createQueue({
    async record(item) {
      transcript.append({ type: "queue", item });
      await transcript.durable();
    },
    restored: options.waiting,
  });
  const registry = createTaskRegistry({ clock: world.clock });
  const listeners = new Set<(activity: BackgroundActivity) => void>();
  const delivered = new Set<string>();
  const background = isOff(settings, world)
    ? undefined
    : createBackgroundTasks({
        world,
        folder,
        tasks: registry,
        queue,
        record: (record) => transcript.append(record),
        durable: () => transcript.durable(),
        receiver: (above) => above.find(options.isAlive),
        onProblem: options.onProblem,
      });

  async function remind(text: string, target: string | undefined): Promise<void> {
    const item: QueueItem = {
      uuid: world.random.uuid(),
      mode: "task-notification",
      priority: "later",
      ...(target !== undefined && { target }),
      content: [{ type: "text", text }],
    };
    await queue.add(item);
    // It may have ended meanwhile.
    if (target !== undefined && !options.isAlive(target)) await queue.readdress(item, undefined);
  }

  return {
    registry,
    queue,
    waits: createTaskWaits({ tasks: registry, clock: world.clock }),
    background,
    agents: background && {
      tasks: background,
      scope: scope.child(),
      onActivity(activity) {
        for (const listener of [...listeners]) listener(activity);
      },
    },
    shells: background && {
      tasks: registry,
      background,
      remind({ task, text }) {
        const starter = task.parentAgentId;
        const target = starter !== undefined && options.isAlive(starter) ? starter : undefined;
        remind(text, target).catch((error: unknown) => options.onProblem(messageOf(error)));
      },
    },
    onActivity(listener) {
      const own = (activity: BackgroundActivity) => listener(activity);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    async nextWork(signal) {
      if (background === undefined) return queue.waiting(undefined) > 0;
      const { nextWork } = await import("../tasks/next-work.ts");
      return await nextWork({ queue, tasks: registry, background, ...(signal && { signal }) });
    },
    async deliver({ from, id = world.random.uuid(), text }) {
      const uuid = `message:${from}:${id}`;
      // A sender that did not hear our answer asks again.
      if (delivered.has(uuid)) return;
      await queue.add({
        uuid,
        mode: "prompt",
        priority: "later",
        // Whoever it is, it is none of this session: neither its user nor one of its agents.
        content: [agentMessageBlock({ from: from.startsWith("uds:") ? from : `elsewhere:${from}`, text })],
      });
      // Only now: what could not be kept is taken the second time.
      delivered.add(uuid);
      const [oldest] = delivered;
      if (delivered.size > keptDelivered && oldest !== undefined) delivered.delete(oldest);
    },
    output: (taskId, { maxBytes = defaultOutputBytes } = {}) => readOutput(taskId, maxBytes, options),
    takeBack(uuid, toolUseId) {
      if (!queue.withdraw(uuid)) return false;
      transcript.append({ type: "told", uuid, toolUseId });
      return true;
    },
    async close() {
      if (background === undefined) return;
      registry.stopAll("the session was closed");
      await untilQuiet({ tasks: registry, background, clock: world.clock, deadlineMs: closeMs });
      if (transcript.path === undefined) await world.files.remove(folder, { recursive: true, force: true });
    },
  };
}

const keptDelivered = 1_000;
const defaultOutputBytes = 100_000;
/** What ignores its end for so long is reported when the session is resumed. */
const closeMs = 5_000;

function isOff({ backgroundTasks }: Settings, { env }: World): boolean {
  const disabled = env.CADRE_DISABLE_BACKGROUND_TASKS;
  return backgroundTasks === false || (disabled !== undefined && !/^(0|false|no|off)?$/i.test(disabled));
}

/** Its output file; of an agent that nobody sent to the background, the same text made of its transcript (TA-2). */
async function readOutput(
  taskId: string,
  maxBytes: number,
  { world, folder, messagesOf, transcripts }: SessionWorkOptions,
): Promise<TaskText> {
  // Whatever it is, it becomes part of a path.
  if (/^[\w-]{1,100}$/.test(taskId)) {
    const { readTaskOutput } = await import("../tasks/read-output.ts");
    try {
      return await readTaskOutput({ files: world.files, path: outputPathOf(folder, taskId), maxBytes });
    } catch (error) {
      if (systemCodeOf(error) !== "ENOENT") throw error;
    }
    const messages = messagesOf(taskId) ?? (await transcripts?.read(taskId))?.messages;
    if (messages !== undefined) return await textOf(messages, maxBytes);
  }
  throw new CadreError({
    code: "task-unknown",
    message: `This session has no task ${taskId.slice(0, 100)}.`,
    data: { taskId },
  });
}

async function textOf(messages: readonly Message[], maxBytes: number): Promise<TaskText> {
  const { textOfMessages } = await import("../tasks/output-text.ts");
  const whole = Buffer.from(textOfMessages(messages));
  const truncated = whole.length > maxBytes;
  const end = truncated ? whole.subarray(whole.length - maxBytes) : whole;
  // What is left of a character that was cut is no text.
  const text = end.toString("utf8").replace(/^\uFFFD+/, "");
  return { text, totalBytes: whole.length, truncated };
}
