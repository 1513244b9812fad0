/** Tells all that a session does, in its runs and beside them, as objects or as lines. */
import type { Clock } from "../../base/world.ts";
import type { BackgroundActivity, LoopEvent } from "../../contracts/event.ts";
import type { Task } from "../../contracts/task.ts";
import type { Session } from "../../runtime/session.ts";
import { createActivityLines } from "../plain/activity-lines.ts";
import { createBesideRun } from "./beside-run.ts";
import { toJsonLine } from "./json-lines.ts";
import type { Sink } from "./sink.ts";
import { createTaskWatch, type TaskMoment } from "./watch-tasks.ts";
import { createWireActivity } from "./wire-activity.ts";
import type { WireContext, WireMessage } from "./wire-messages.ts";
import { wireBackgroundTasks } from "./wire-tasks.ts";

/** Undefined: there is nothing to wait for. */
type Told = Promise<void> | undefined;

export interface WatchedSession {
  /** What happened before the run is told before it. */
  startRun(): Promise<void>;
  /** Of a run. */
  event(event: LoopEvent): Told;
  /** The run is over: what it waited for does not outlive it. */
  endRun(): Promise<void>;
  /** The session is closed: nothing more will be heard. */
  close(): Promise<void>;
}

export interface WatchOptions {
  readonly session: Session;
  /** The objects of `stream-json` go to standard output, lines to standard error. */
  readonly format: "text" | "json" | "stream-json";
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly context: WireContext;
  readonly clock: Pick<Clock, "setTimer">;
  readonly withAgentText: boolean;
}

export function watchSession(options: WatchOptions): WatchedSession {
  const { session } = options;
  const teller = options.format === "stream-json" ? objectsTo(options) : linesTo(options);
  const beside = createBesideRun(options);
  const tasks = createTaskWatch();
  const tellTask = (moment: TaskMoment) => {
    if (moment.changed) tellList();
    beside.add(() => teller.task(moment));
  };
  let listIsDue = false;
  /** Once for all that changed at the same time: it names every task. */
  const tellList = () => {
    if (listIsDue) return;
    listIsDue = true;
    beside.add(() => {
      listIsDue = false;
      return teller.list(tasks.atWork);
    });
  };
  const stopListening = [
    session.onActivity((activity) => beside.add(() => teller.beside(activity))),
    session.tasks.onChange((change) => {
      const moment = tasks.see(change);
      if (moment !== undefined) tellTask(moment);
    }),
  ];
  return {
    startRun: beside.flush,
    event(event) {
      const told = teller.event(event);
      return told && beside.telling(told);
    },
    async endRun() {
      await beside.flush();
      await teller.endRun();
    },
    async close() {
      for (const stop of stopListening) stop();
      for (const moment of tasks.close()) tellTask(moment);
      await beside.flush();
      await teller.close();
    },
  };
}

interface Teller {
  event(event: LoopEvent): Told;
  beside(activity: BackgroundActivity): Told;
  task(moment: TaskMoment): Told;
  /** What is at work in the background. */
  list(tasks: readonly Task[]): Told;
  endRun(): Told;
  close(): Told;
}

function objectsTo({ stdout, context, session, withAgentText }: WatchOptions): Teller {
  const wire = createWireActivity({ context, withAgentText, taskOf: session.tasks.get });
  // In one piece, so that nothing else comes between.
  const emit = (messages: readonly WireMessage[]) =>
    messages.length === 0 ? undefined : stdout.write(messages.map(toJsonLine).join(""));
  return {
    event: (event) => emit(wire.messagesOf(event)),
    beside: (activity) => emit(wire.messagesBeside(activity)),
    task: (moment) => emit(wire.messagesOfTask(moment)),
    list: (tasks) => emit([wireBackgroundTasks(tasks, context)]),
    endRun: () => emit(wire.endRun()),
    close: () => emit(wire.close()),
  };
}

function linesTo({ stderr, session }: WatchOptions): Teller {
  const lines = createActivityLines({ taskOf: session.tasks.get, folder: session.cwd });
  const show = (texts: readonly string[]) =>
    texts.length === 0 ? undefined : stderr.write(texts.map((text) => `${text}\n`).join(""));
  return {
    event: (event) => show(lines.at(event)),
    beside: (activity) => show(lines.beside(activity)),
    task: (moment) => show(lines.ofTask(moment)),
    list: () => undefined,
    endRun: () => show(lines.endRun()),
    close: () => show(lines.close()),
  };
}
