/** Plays a plan on the real loop, under a virtual clock, and notes what happened. */
import { sleep } from "../../src/base/cancellation.ts";
import { CadreError } from "../../src/base/errors.ts";
import type { LoopEnd, LoopEvent } from "../../src/contracts/event.ts";
import type { Message } from "../../src/contracts/message.ts";
import { createHistory } from "../../src/loop/history.ts";
import type { LoopOptions } from "../../src/loop/loop-options.ts";
import type { Model, ModelRequest } from "../../src/model/model.ts";
import { createLoopHarness } from "../../src/testing/loop-harness.ts";
import { createScriptedModel } from "../../src/testing/scripted-model.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";
import { createVirtualClock, type VirtualClock } from "../../src/testing/virtual-clock.ts";
import type { TranscriptRecord } from "../../src/transcript/record.ts";
import type { TranscriptWriter } from "../../src/transcript/writer.ts";
import type { BreakIn, CallPlan, Plan } from "./plan.ts";
import { scriptOf } from "./planned-script.ts";
import { createPlannedTools } from "./planned-tools.ts";

export interface Outcome {
  readonly end: LoopEnd | { readonly threw: unknown };
  readonly events: readonly LoopEvent[];
  readonly messages: readonly Message[];
  readonly records: readonly TranscriptRecord[];
  readonly requests: readonly SeenRequest[];
  /** What was wrong at the very moment it happened. */
  readonly violations: readonly string[];
  readonly left: boolean;
  /** When somebody first asked for the end, and when it came; on the virtual clock. */
  readonly askedMs: { readonly stop?: number; readonly cancel?: number };
  readonly endMs: number;
  /** What was put into the queue, and how much of it nobody has taken. */
  readonly queued: readonly string[];
  readonly stillWaiting: number;
}

export interface SeenRequest {
  readonly messages: readonly Message[];
  /** How often the history had been replaced by then. */
  readonly restarts: number;
}

/** Long after everything that ends by itself has ended. */
const patienceMs = 60 * 60_000;

export async function playPlan(plan: Plan): Promise<Outcome> {
  const clock = createVirtualClock();
  const world = createTestWorld({ clock, seed: plan.seed });
  const violations: string[] = [];
  const disk = createDisk(plan, clock);
  const calls: CallPlan[] = plan.replies.flatMap((reply) => reply.calls);
  const ended = { yet: false };
  const askedMs: { stop?: number; cancel?: number } = {};
  const tools = createPlannedTools({
    calls,
    clock,
    violate: (what) => violations.push(what),
    isOnDisk: disk.hasCall,
    hasEnded: () => ended.yet,
    isStopped: () => askedMs.stop !== undefined,
  });
  const requests: SeenRequest[] = [];
  const model = watched(createScriptedModel(scriptOf(plan), { clock, contextWindow: 300 }), (request) => {
    requests.push({ messages: request.messages, restarts: disk.restarts() });
    for (const message of request.messages)
      if (!disk.hasMessage(message)) violations.push("a message was sent before it was on disk");
  });
  const history = createHistory({ world, transcript: disk.writer });
  const harness = createLoopHarness({
    world,
    model,
    tools: tools.tools,
    overrides: {
      history,
      transcript: disk.writer,
      gate: tools.gate,
      limits: {
        concurrency: plan.concurrency,
        startCallsWhileStreaming: plan.startWhileStreaming,
        ...(plan.maxTurns !== undefined && { maxTurns: plan.maxTurns }),
      },
      ...hooksOf(plan),
      ...compactionOf(plan),
    },
  });

  let seen = 0;
  const queued: string[] = [];
  const breakIn = ({ what }: BreakIn) => {
    if (what === "leave") throw new Error("the reader left");
    if (what === "stop" || what === "cancel") askedMs[what] ??= clock.now();
    if (what === "cancel") harness.scope.cancel("the session was closed");
    else if (what === "stop" || what === "steer") harness.interrupt.request(what);
    else {
      const uuid = `q${queued.length}`;
      queued.push(uuid);
      const content = [{ type: "text" as const, text: `also ${uuid}` }];
      void harness.queue
        .add({ uuid, mode: "prompt", priority: "next", content })
        .then(() => what === "queue-and-steer" && harness.interrupt.request("steer"));
    }
  };
  const impatience = clock.setTimer(patienceMs, () => harness.scope.cancel("the test lost its patience"));
  const end = await clock.runUntil(
    harness
      .run("go", () => {
        const due = plan.breakIns.filter((each) => each.atEvent === seen);
        seen++;
        for (const each of due) breakIn(each);
      })
      .catch((error: unknown) => ({ threw: error })),
  );
  ended.yet = true;
  const endMs = clock.now();
  impatience.cancel();
  const recordsAtEnd = disk.records.length;
  await clock.runUntil(sleep(clock, 2 * patienceMs));
  if (disk.records.length > recordsAtEnd) violations.push("something was recorded after the end");
  return {
    end,
    events: harness.events,
    messages: history.messages,
    records: disk.records,
    requests,
    violations,
    left: plan.breakIns.some((each) => each.what === "leave" && each.atEvent < seen),
    askedMs,
    endMs,
    queued,
    stillWaiting: harness.queue.waiting(undefined),
  };
}

function watched(model: Model, onRequest: (request: ModelRequest) => void): Model {
  return {
    ...model,
    stream(request) {
      onRequest(request);
      return model.stream(request);
    },
  };
}

interface Disk {
  readonly writer: TranscriptWriter;
  readonly records: readonly TranscriptRecord[];
  hasMessage(message: Message): boolean;
  /** The call, and that it was started. */
  hasCall(id: string): boolean;
  restarts(): number;
}

function createDisk(plan: Plan, clock: VirtualClock): Disk {
  const records: TranscriptRecord[] = [];
  const messages = new Set<Message>();
  const known = new Set<string>();
  const started = new Set<string>();
  let durable = 0;
  let syncs = 0;
  let restarts = 0;
  const take = (record: TranscriptRecord) => {
    if (record.type === "message") messages.add(record.message);
    else if (record.type === "compaction") for (const message of record.messages) messages.add(message);
    else if (record.type === "calls") {
      for (const block of record.content) if (block.type === "tool_use") known.add(block.id);
      for (const id of record.started) if (known.has(id)) started.add(id);
    }
  };
  return {
    records,
    restarts: () => restarts,
    hasMessage: (message) => messages.has(message),
    hasCall: (id) => started.has(id),
    writer: {
      path: undefined,
      append(record) {
        if (record.type === "compaction") restarts++;
        records.push(record);
      },
      async durable() {
        const upTo = records.length;
        const sync = syncs++;
        if (plan.disk.syncMs > 0) await sleep(clock, plan.disk.syncMs);
        if (plan.disk.failing.includes(sync))
          throw new CadreError({ code: "journal-unwritable", message: "the disk is full" });
        for (; durable < upTo; durable++) {
          const record = records[durable];
          if (record !== undefined) take(record);
        }
      },
      close: async () => {},
    },
  };
}

function hooksOf(plan: Plan): Partial<LoopOptions> {
  if (plan.hook === "none") return {};
  let asked = 0;
  return {
    hooks: {
      async beforeEnd() {
        if (plan.hook === "throws") throw new Error("the hook broke");
        if (plan.hook === "hangs") return await new Promise<never>(() => {});
        if (plan.hook === "stops") return { stop: "enough" };
        return asked++ === 0 ? { goOn: "and the tests?" } : undefined;
      },
    },
  };
}

function compactionOf({ compaction }: Plan): Partial<LoopOptions> {
  if (compaction === "none") return {};
  return {
    compaction: {
      at: 0.5,
      async compact({ messages, signal }) {
        if (compaction === "throws") throw new Error("the summary failed");
        if (compaction === "hangs-and-ignores-its-signal") return await new Promise<never>(() => {});
        if (compaction === "hangs")
          await new Promise((_, reject) => {
            if (signal.aborted) reject(signal.reason);
            signal.addEventListener("abort", () => reject(signal.reason));
          });
        return messages.slice(0, 1);
      },
    },
  };
}
