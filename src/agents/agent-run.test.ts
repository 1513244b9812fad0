import { describe, expect, it } from "vitest";
import { createScope } from "../base/cancellation.ts";
import { CancelledError } from "../base/errors.ts";
import type { AgentActivity, LoopEnd, LoopEvent } from "../contracts/event.ts";
import type { Message, ToolUseBlock } from "../contracts/message.ts";
import { noUsage } from "../contracts/usage.ts";
import { createBudget } from "../loop/budget.ts";
import { createTaskRegistry } from "../tasks/registry.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { TranscriptRecord } from "../transcript/record.ts";
import type { AgentHost } from "./agent-host.ts";
import { AgentRun } from "./agent-run.ts";
import type { StartedAgent } from "./start-agent.ts";

function setUp(more: { onEnd?: () => void; diskIsFull?: boolean } = {}) {
  const clock = createManualClock();
  const scope = createScope();
  const tasks = createTaskRegistry({ clock });
  const progress = { toolUses: 0, usage: noUsage, lastActivities: [] };
  const task = tasks.register(
    {
      id: "a1",
      kind: "local_agent",
      description: "d",
      isBackgrounded: false,
      agent: { agentType: "helper", prompt: "p", depth: 1, progress },
    },
    { stop: () => {} },
  );
  const reports: AgentActivity[] = [];
  const problems: string[] = [];
  const records: TranscriptRecord[] = [];
  const transcript = {
    append: (record: TranscriptRecord) => void records.push(record),
    durable: async () => {
      if (more.diskIsFull) throw new Error("no space left");
    },
    close: async () => {},
  };
  // Only what a run looks at.
  const left: string[] = [];
  const host = {
    world: { clock },
    settings: {},
    live: { leave: (agentId: string) => left.push(agentId) },
    queue: { waiting: () => 0 },
    tasks,
    onProblem: (problem: string) => problems.push(problem),
  } as unknown as AgentHost;
  const started = {
    request: {
      definition: { agentType: "helper", ...(more.onEnd && { onEnd: more.onEnd }) },
      description: "d",
      prompt: "p",
      scope,
      report: (activity: AgentActivity) => void reports.push(activity),
    },
    agentId: "a1",
    context: { model: { id: "m" }, depth: 1, budget: createBudget({}) },
    loop: { transcript },
    slot: { free: () => left.push("slot") },
    task,
    warnings: [],
  } as unknown as StartedAgent;
  const run = new AgentRun(host);
  /** As `spawn` does it. */
  const settle = async (conclude: () => unknown) => {
    let outcome: unknown;
    try {
      outcome = conclude();
    } catch (error) {
      try {
        outcome = run.concludeFailure(error);
      } catch (thrown) {
        outcome = thrown;
      }
    }
    await run.end();
    return outcome;
  };
  return { run, started, scope, task, reports, problems, records, left, settle };
}

const said = (text: string): LoopEvent => ({
  type: "message-append",
  message: { role: "assistant", content: [{ type: "text", text }] } as Message,
});
const call = (name: string): ToolUseBlock => ({ type: "tool_use", id: name, name, input: {} });
const turnEnd: LoopEvent = { type: "turn-end", turn: 1, usage: noUsage, modelMs: 1 };
const completed: LoopEnd = { reason: "completed", stopReason: "end_turn" };
const stopped: LoopEnd = { reason: "aborted", during: "tools", why: "enough" };
const failed: LoopEnd = { reason: "model_error", error: new Error("no answer") };

describe("a run", () => {
  it("hands up what happens but the pieces of answers, with its start first and its end last", async () => {
    const { run, started, reports, settle } = setUp();
    expect(run.begun).toBe(false);
    run.begin(started);
    run.emit({ type: "model-event", event: { type: "block-stop", index: 0 } });
    run.emit(said("done"));
    await settle(() => run.conclude(completed));
    expect(reports.map(({ type }) => type)).toEqual(["agent-start", "agent-event", "agent-end"]);
  });

  it("is gone from among the living, and its slot is free, when it has ended", async () => {
    const { run, started, left, settle } = setUp();
    run.begin(started);
    await settle(() => run.conclude(completed));
    expect(left).toEqual(["slot", "a1"]);
  });

  it("that ends without a word does not count as completed", async () => {
    const { run, started, task, settle } = setUp();
    run.begin(started);
    run.emit({
      type: "call-end",
      call: call("A"),
      result: { type: "tool_result", tool_use_id: "A", content: "" },
      durationMs: 1,
    });
    expect(await settle(() => run.conclude(completed))).toMatchObject({
      note: "The agent ended without saying anything.",
    });
    expect(task.task).toMatchObject({ status: "failed", error: expect.stringMatching(/without saying/) });
  });

  it("tells its task at the end of a turn what it did, the last three calls by name", () => {
    const { run, started, task } = setUp();
    run.begin(started);
    for (const name of ["A", "B", "C", "D"]) run.emit({ type: "call-start", call: call(name) });
    expect(task.task.agent?.progress.lastActivities).toEqual([]);
    run.emit(turnEnd);
    expect(task.task.agent?.progress.lastActivities).toEqual(["B", "C", "D"]);
  });

  it("keeps its end before anybody hears of it, and says so when that fails", async () => {
    const kept = setUp();
    kept.run.begin(kept.started);
    await kept.run.keepEnd(completed);
    expect(kept.records).toMatchObject([{ type: "run-end", reason: "completed" }]);
    const full = setUp({ diskIsFull: true });
    full.run.begin(full.started);
    full.run.emit(said("done"));
    const error: unknown = await full.run.keepEnd(completed).catch((thrown: unknown) => thrown);
    const outcome = await full.settle(() => {
      throw error;
    });
    expect(outcome).toMatchObject({
      content: [{ text: "done" }],
      note: expect.stringMatching(/no space left/),
    });
    expect(full.task.task).toMatchObject({
      status: "failed",
      error: expect.stringMatching(/no space left/),
    });
  });

  it.each<[string, LoopEnd, string, object]>([
    ["completed", completed, "completed", { content: [{ text: "said" }] }],
    [
      "max_turns",
      { reason: "max_turns", limit: 2 },
      "failed",
      { note: expect.stringMatching(/limit of 2 turns/) },
    ],
    ["aborted", stopped, "killed", { note: "It was stopped: enough." }],
    ["model_error", failed, "failed", { note: expect.stringMatching(/no answer/) }],
    [
      "context_exhausted",
      { reason: "context_exhausted", message: "full" },
      "failed",
      { note: expect.stringMatching(/full/) },
    ],
  ])("that ends with %s after it said something has an answer", async (_, end, status, answer) => {
    const { run, started, task, reports, settle } = setUp();
    run.begin(started);
    run.emit(said("said"));
    expect(await settle(() => run.conclude(end))).toMatchObject({ status: "completed", ...answer });
    expect(task.task).toMatchObject({ status, agent: { result: "said" } });
    expect(reports.at(-1)).toMatchObject({ type: "agent-end", status });
  });

  it.each<[string, LoopEnd, string, RegExp]>([
    ["aborted", stopped, "killed", /stopped: enough/],
    ["model_error", failed, "failed", /no answer/],
  ])(
    "that ends with %s before it said anything is an error, and its task ends as what it was",
    async (_, end, status, message) => {
      const { run, started, task, settle } = setUp();
      run.begin(started);
      const outcome = await settle(() => run.conclude(end));
      expect(outcome).toBeInstanceOf(ToolFailure);
      expect(outcome).toMatchObject({ message: expect.stringMatching(message) });
      expect(task.task).toMatchObject({ status, error: expect.stringMatching(message) });
    },
  );

  it("whose request was cancelled throws that, whatever it had said", async () => {
    const { run, started, scope, task, settle } = setUp();
    run.begin(started);
    run.emit(said("said"));
    scope.cancel("the user interrupted");
    expect(await settle(() => run.conclude(stopped))).toEqual(new CancelledError("the user interrupted"));
    expect(task.task).toMatchObject({ status: "killed", agent: { result: "said" } });
  });

  it("ends although the program's own `onEnd` throws, which is told", async () => {
    const { run, started, task, problems, settle } = setUp({
      onEnd: () => {
        throw new Error("a fault of the program");
      },
    });
    run.begin(started);
    run.emit(said("done"));
    await settle(() => run.conclude(completed));
    expect(task.task.status).toBe("completed");
    expect(problems).toEqual(['onEnd of the agent "helper" failed: a fault of the program']);
  });
});
