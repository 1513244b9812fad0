/** A session without a runtime: for tests of surfaces. Each run plays the events it was given. */
import { throwIfCancelled } from "../base/cancellation.ts";
import { CadreError } from "../base/errors.ts";
import type { BackgroundActivity, LoopEnd, LoopEvent } from "../contracts/event.ts";
import type { Block, Message, StopReasonOfModel } from "../contracts/message.ts";
import type { PermissionMode, PermissionRequest } from "../contracts/permission.ts";
import { noUsage } from "../contracts/usage.ts";
import { createPermissionBroker, type Verdict } from "../permissions/broker.ts";
import type { RunResult, Session } from "../runtime/session.ts";
import { createTaskRegistry, type TaskRegistry } from "../tasks/registry.ts";
import { createManualClock } from "./manual-clock.ts";
import { createSeededRandom } from "./test-world.ts";

/** Yields the events of a run and returns what differs from a run that went well. */
export type ScriptedRun = (run: {
  content: string | Block[] | undefined;
  /** Fires when the session was interrupted. */
  interrupted: AbortSignal;
}) => AsyncGenerator<LoopEvent, Partial<RunResult>, undefined>;

export interface ScriptedSession extends Session {
  readonly submitted: readonly (string | Block[] | undefined)[];
  readonly enqueued: readonly string[];
  readonly closed: boolean;
  /** As a tool call would ask; no rule decides it. */
  ask(request: PermissionRequest, signal?: AbortSignal): Promise<Verdict>;
  /** All of it, so that a test can start and end tasks. */
  readonly tasks: TaskRegistry;
  /** As an agent in the background would. */
  tell(activity: BackgroundActivity): void;
  /** Something waits for the main agent from now on. */
  wake(): void;
}

export function createScriptedSession(
  script: ScriptedRun,
  details: { id?: string; transcriptPath?: string; messages?: readonly Message[] } = {},
): ScriptedSession {
  const submitted: (string | Block[] | undefined)[] = [];
  const enqueued: string[] = [];
  let waiting = 0;
  let mode: PermissionMode = "default";
  let closed = false;
  let prepared = false;
  let running: AbortController | undefined;
  const tasks = createTaskRegistry({ clock: createManualClock() });
  const listeners = new Set<(activity: BackgroundActivity) => void>();
  const changes = new Set<() => void>();
  const changed = () => {
    for (const wake of [...changes]) wake();
  };
  tasks.onChange(changed);
  const goesOn = () => tasks.list().some((task) => task.isBackgrounded && task.status === "running");
  const broker = createPermissionBroker({
    clock: createManualClock(),
    random: createSeededRandom(1),
    grant: () => {},
    keep: async (rules) => `kept ${rules.join(", ")}`,
  });
  return {
    permissions: Object.assign(broker, { decisions: [], warnings: [] }),
    ask: (request, signal = new AbortController().signal) =>
      broker.ask({ request, signal, judge: async () => ({ decision: "ask", reason: request.reason }) }),
    id: details.id ?? "11111111-1111-4111-8111-111111111111",
    transcriptPath: details.transcriptPath,
    cwd: "/project",
    toolNames: ["Read", "Bash"],
    get agentNames() {
      return prepared ? ["Explore"] : [];
    },
    modelId: "scripted",
    messages: details.messages ?? [],
    tasks,
    onActivity(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell(activity) {
      for (const listener of [...listeners]) listener(activity);
    },
    wake() {
      waiting++;
      changed();
    },
    onQueued(listener) {
      const tell = () => {
        if (waiting > 0) listener();
      };
      changes.add(tell);
      return () => void changes.delete(tell);
    },
    async nextWork(signal) {
      for (;;) {
        if (signal) throwIfCancelled(signal);
        if (waiting > 0) return true;
        if (!goesOn()) return false;
        await new Promise<void>((resolve) => {
          const wake = () => {
            changes.delete(wake);
            resolve();
          };
          changes.add(wake);
          signal?.addEventListener("abort", wake, { once: true });
        });
      }
    },
    async taskOutput(id) {
      if (tasks.get(id) === undefined)
        throw new CadreError({ code: "task-unknown", message: `There is no task ${id}.` });
      const text = `what ${id} wrote`;
      return { text, totalBytes: text.length, truncated: false };
    },
    async listen() {},
    async deliver({ text }) {
      enqueued.push(text);
      waiting++;
      changed();
    },
    async prepare() {
      prepared = true;
    },
    totals: { usage: noUsage, usageByModel: {}, costUsd: 0 },
    submitted,
    enqueued,
    get queued() {
      return waiting;
    },
    get permissionMode() {
      return mode;
    },
    get closed() {
      return closed;
    },
    async *submit(content) {
      submitted.push(content);
      waiting = 0;
      running = new AbortController();
      const changes = yield* script({ content, interrupted: running.signal });
      running = undefined;
      return { ...goodResult, ...changes };
    },
    async compact() {
      return { ok: true, promptTokensBefore: 0, usage: noUsage, costUsd: 0 };
    },
    async enqueue(text) {
      enqueued.push(text);
      waiting++;
    },
    async runCommand({ name }) {
      return { status: "completed", agentId: "a1", text: `what /${name} came to` };
    },
    askAside: async (question) => `an answer to: ${question}`,
    watchAgents: () => () => {},
    serviceCosts: [],
    async branch() {
      return { id: "22222222-2222-4222-8222-222222222222" };
    },
    interrupt: () => running?.abort(),
    setPermissionMode(next) {
      mode = next;
    },
    async close() {
      closed = true;
    },
  };
}

const goodResult: RunResult = {
  end: { reason: "completed", stopReason: "end_turn" },
  text: "",
  turns: 1,
  usage: noUsage,
  usageByModel: {},
  costUsd: 0,
  durationMs: 12,
  apiDurationMs: 7,
  permissionDenials: [],
};

/** What a run tells of an answer in one text block. */
export function* answerEvents(text: string): Generator<LoopEvent> {
  yield modelEvent({ type: "message-start", id: "msg_1", model: "scripted", usage: noUsage });
  yield modelEvent({ type: "block-start", index: 0, block: { type: "text", text: "" } });
  yield modelEvent({ type: "block-delta", index: 0, delta: { type: "text", text } });
  yield modelEvent({ type: "block-stop", index: 0 });
  yield modelEvent({ type: "message-stop", stopReason: "end_turn", usage: noUsage });
  yield appended({ role: "assistant", content: [{ type: "text", text }], stopReason: "end_turn" });
}

export function modelEvent(event: Extract<LoopEvent, { type: "model-event" }>["event"]): LoopEvent {
  return { type: "model-event", event };
}

export function appended(options: {
  role: Message["role"];
  content: Block[];
  stopReason?: StopReasonOfModel;
}): LoopEvent {
  const { role, content, stopReason } = options;
  return {
    type: "message-append",
    message: {
      uuid: "22222222-2222-4222-8222-222222222222",
      parentUuid: null,
      timestamp: "2026-01-01T00:00:00.000Z",
      role,
      content,
      ...(stopReason && { response: { id: "msg_1", model: "scripted", stopReason, usage: noUsage } }),
    },
  };
}

/** Resolves when the run was interrupted, with the end that follows from it. */
export async function untilInterrupted(signal: AbortSignal): Promise<Partial<RunResult>> {
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  const end: LoopEnd = { reason: "aborted", during: "streaming", why: "interrupted by the user" };
  return { end };
}
