/** Runs the real loop on a scripted model, with tools, ports and limits of the test's choice. */

import { createScope, type Scope } from "../base/cancellation.ts";
import type { World } from "../base/world.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import { createBudget } from "../loop/budget.ts";
import { createHistory, type History } from "../loop/history.ts";
import { createInterrupt, type Interrupt } from "../loop/interrupt.ts";
import { iterateLoop } from "../loop/iterate-loop.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import type { Model } from "../model/model.ts";
import { createQueue, type Queue } from "../tasks/queue.ts";
import { createFileReads } from "../tools/file-reads.ts";
import type { Tool } from "../tools/tool.ts";
import type { AgentScope } from "../tools/tool-context.ts";
import type { TranscriptRecord } from "../transcript/record.ts";
import type { TranscriptWriter } from "../transcript/writer.ts";

export interface LoopHarness {
  readonly history: History;
  readonly scope: Scope;
  readonly interrupt: Interrupt;
  readonly queue: Queue;
  /** What was appended to the transcript, in order. */
  readonly records: readonly TranscriptRecord[];
  readonly events: readonly LoopEvent[];
  /** Runs to the end and answers with the reason. `onEvent` sees each event as it comes. */
  run(prompt: string, onEvent?: (event: LoopEvent) => void): Promise<LoopEnd>;
}

export function createLoopHarness(options: {
  world: World;
  model: Model;
  tools?: readonly Tool[];
  folder?: string;
  overrides?: Partial<LoopOptions>;
}): LoopHarness {
  const { world, model, tools = [] } = options;
  const records: TranscriptRecord[] = [];
  const transcript: TranscriptWriter = {
    path: undefined,
    append: (record) => {
      records.push(record);
    },
    durable: async () => {},
    close: async () => {},
  };
  const history = createHistory({ world, transcript });
  const scope = createScope();
  const interrupt = createInterrupt();
  const queue = createQueue({ record: async () => {} });
  const agent = createTestAgent(options.folder ?? world.tempFolder);
  const events: LoopEvent[] = [];

  return {
    history,
    scope,
    interrupt,
    queue,
    records,
    events,
    async run(prompt, onEvent) {
      const loop = iterateLoop({
        world,
        agent,
        model,
        prefix: {
          system: "You are under test.",
          tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
        },
        tools,
        history,
        transcript,
        input: { content: [{ type: "text", text: prompt }] },
        scope,
        interrupt,
        limits: { concurrency: { tool: 10, agent: 64 }, startCallsWhileStreaming: true },
        budget: createBudget({}),
        priceOf: () => 0,
        gate: async () => ({ allowed: true }),
        queue,
        ...options.overrides,
      });
      try {
        for (;;) {
          const step = await loop.next();
          if (step.done) return step.value;
          events.push(step.value);
          onEvent?.(step.value);
        }
      } finally {
        await loop.return({ reason: "aborted", during: "between-turns", why: "the test left" });
      }
    },
  };
}

export function createTestAgent(folder: string): AgentScope {
  return {
    sessionId: "session-under-test",
    source: { kind: "main" },
    folder: { root: folder, roots: [folder], current: folder },
    fileReads: createFileReads(),
    results: { folder, keep: async () => folder },
    todos: { items: [] },
    mode: { current: "default" },
    toolEnv: {},
  };
}
