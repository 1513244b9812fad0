import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../contracts/event.ts";
import { noUsage } from "../../contracts/usage.ts";
import { createTaskRegistry, type NewTask } from "../../tasks/registry.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { besideOf, createScriptedAgent, type ScriptedAgent } from "../../testing/scripted-agent.ts";
import { appended } from "../../testing/scripted-session.ts";
import { createTaskWatch } from "./watch-tasks.ts";
import { createWireActivity } from "./wire-activity.ts";
import type { WireMessage } from "./wire-messages.ts";

function start(withAgentText = true) {
  const clock = createManualClock();
  const tasks = createTaskRegistry({ clock });
  let uuids = 0;
  let now = 1000;
  const run = createWireActivity({
    context: {
      sessionId: "session",
      uuid: () => `uuid-${++uuids}`,
      now: () => now,
      includePartialMessages: true,
    },
    withAgentText,
    taskOf: tasks.get,
  });
  const told: WireMessage[] = [];
  const watch = createTaskWatch();
  tasks.onChange((change) => {
    const moment = watch.see(change);
    if (moment !== undefined) told.push(...run.messagesOfTask(moment));
  });
  return {
    told,
    tasks,
    beside: (...events: LoopEvent[]) => {
      for (const event of events) told.push(...run.messagesBeside(besideOf(event)));
    },
    besideOfParent: (parent: string, event: LoopEvent) => {
      told.push(...run.messagesBeside(besideOf(event, parent)));
    },
    play: (...events: LoopEvent[]) => {
      for (const event of events) told.push(...run.messagesOf(event));
    },
    endRun: () => void told.push(...run.endRun()),
    close: () => void told.push(...run.close()),
    pass: (ms: number) => {
      now += ms;
    },
    /** `assistant < call-a`: what it is and which call it belongs to. */
    brief: () =>
      told.map((message) => {
        const kind = message.type === "system" ? message.subtype : message.type;
        const parent = message.parent_tool_use_id ?? undefined;
        return `${kind}${parent === undefined ? "" : ` < ${parent}`}`;
      }),
  };
}

const read = { name: "Read", input: { file_path: "a" } };
const begin: LoopEvent = { type: "turn-start", turn: 1 };
const calling = (...agents: ScriptedAgent[]): LoopEvent =>
  appended({ role: "assistant", content: agents.map(({ call }) => call), stopReason: "tool_use" });
const reported = (agent: ScriptedAgent): LoopEvent =>
  appended({
    role: "user",
    content: [{ type: "tool_result", tool_use_id: agent.call.id, content: "its report" }],
  });

describe("an agent in stream-json", () => {
  it("is told of from its call to its result, every object with the call it belongs to", () => {
    const wire = start();
    const agent = createScriptedAgent("a");
    wire.play(begin, calling(agent), agent.start);
    wire.pass(250);
    wire.play(...agent.turn(read, read), agent.end(), agent.callEnd(), reported(agent));
    expect(wire.brief()).toEqual([
      "assistant",
      "task_started",
      "assistant < call-a",
      "user < call-a",
      "task_progress",
      "task_updated",
      "task_notification",
      "user",
    ]);
    const [, started, said, heard, progress, updated, ended] = wire.told;
    const task = {
      task_id: "a",
      tool_use_id: "call-a",
      description: "task of a",
      subagent_type: "Explore",
      session_id: "session",
    };
    expect(started).toMatchObject({
      ...task,
      task_type: "local_agent",
      is_backgrounded: false,
      spawn_depth: 1,
      prompt: "Do a.",
    });
    const origin = { agent_id: "a", subagent_type: "Explore", task_description: "task of a" };
    expect([said, heard]).toMatchObject([origin, origin]);
    expect(progress).toMatchObject({
      ...task,
      usage: { total_tokens: 100, tool_uses: 2, duration_ms: 250 },
      last_tool_name: "Read",
    });
    expect(updated).toMatchObject({ task_id: "a", patch: { status: "completed", end_time: 1250 } });
    expect(ended).toMatchObject({
      task_id: "a",
      tool_use_id: "call-a",
      status: "completed",
      output_file: "",
      usage: { total_tokens: 8310, tool_uses: 12, duration_ms: 4200 },
    });
  });

  it("has its own agents under their own calls", () => {
    const wire = start();
    const outer = createScriptedAgent("outer");
    const inner = createScriptedAgent("inner", { parent: outer, depth: 2 });
    wire.play(calling(outer), outer.start, outer.event(calling(inner)), inner.start, ...inner.turn(read));
    wire.play(inner.end(), inner.callEnd(), outer.event(reported(inner)), outer.end());
    expect(wire.brief()).toEqual([
      "assistant",
      "task_started",
      "assistant < call-outer",
      "task_started",
      "assistant < call-inner",
      "user < call-inner",
      "task_progress",
      "task_updated",
      "task_notification",
      "user < call-outer",
      "task_updated",
      "task_notification",
    ]);
    expect(wire.told[3]).toMatchObject({ task_id: "inner", parent_task_id: "outer", spawn_depth: 2 });
  });

  it("comes after the message that called it, though it started while that streamed", () => {
    const wire = start();
    const outer = createScriptedAgent("outer");
    const inner = createScriptedAgent("inner", { parent: outer });
    wire.play(begin, outer.start, outer.event(begin), inner.start, inner.event(begin), inner.end());
    expect(wire.told).toEqual([]);
    wire.play(outer.event(calling(inner)));
    expect(wire.told).toEqual([]);
    wire.play(calling(outer));
    expect(wire.brief()).toEqual([
      "assistant",
      "task_started",
      "assistant < call-outer",
      "task_started",
      "task_updated",
      "task_notification",
    ]);
    wire.play(outer.end());
    expect(wire.brief().slice(6)).toEqual(["task_updated", "task_notification"]);
  });

  it("is never heard of when its call was taken back", () => {
    const wire = start();
    const agent = createScriptedAgent("a");
    const other = createScriptedAgent("b");
    wire.play(begin, agent.start, ...agent.turn(read), { type: "response-discard", reason: "cut" });
    wire.play(other.start, calling(other));
    wire.close();
    expect(wire.brief()).toEqual(["assistant", "task_started", "task_updated", "task_notification"]);
    expect(wire.told[1]).toMatchObject({ task_id: "b" });
  });

  it("is told as stopped when the run ends first, even before its call was said", () => {
    const wire = start();
    const agent = createScriptedAgent("a");
    wire.play(begin, agent.start);
    wire.pass(30);
    wire.close();
    expect(wire.brief()).toEqual(["task_started", "task_updated", "task_notification"]);
    expect(wire.told.slice(1)).toMatchObject([
      { patch: { status: "killed" } },
      { status: "stopped", usage: { total_tokens: 0, tool_uses: 0, duration_ms: 30 } },
    ]);
  });

  it("says only what it does when its words are not wanted", () => {
    const wire = start(false);
    const agent = createScriptedAgent("a");
    const prompt = appended({ role: "user", content: [{ type: "text", text: "Do a." }] });
    wire.play(agent.start, agent.event(prompt), ...agent.turn(read), ...agent.turn());
    expect(wire.brief()).toEqual([
      "task_started",
      "assistant < call-a",
      "user < call-a",
      "task_progress",
      "task_progress",
    ]);
    expect(wire.told[1]).toMatchObject({ message: { content: [{ type: "tool_use", name: "Read" }] } });
    const all = start();
    all.play(agent.start, agent.event(prompt), ...agent.turn());
    expect(all.brief()).toEqual(["task_started", "user < call-a", "assistant < call-a", "task_progress"]);
  });

  it("names itself where a call of its own was denied or its model was asked again", () => {
    const wire = start();
    const agent = createScriptedAgent("a");
    const call = { type: "tool_use" as const, id: "inner", ...read };
    wire.play(agent.start, agent.event({ type: "call-denied", call, reason: "a rule" }));
    wire.play(agent.event({ type: "model-retry", attempt: 1, delayMs: 5, reason: "busy" }));
    expect(wire.brief().slice(1)).toEqual(["permission_denied < call-a", "api_retry < call-a"]);
    expect(wire.told[1]).toMatchObject({ agent_id: "a", tool_use_id: "inner" });
  });

  it("does not speak for the session", () => {
    const wire = start();
    const agent = createScriptedAgent("a");
    wire.play(agent.start, agent.event({ type: "compaction-start", trigger: "automatic" }));
    wire.play(agent.event({ type: "compaction-end", promptTokensBefore: 5 }));
    expect(wire.brief()).toEqual(["task_started"]);
  });

  it("is told as gone to the background when its call ends without it", () => {
    const wire = start();
    const agent = createScriptedAgent("a");
    wire.play(agent.start, agent.callEnd("It runs.", { output: { status: "async_launched" } }));
    wire.endRun();
    expect(wire.told.slice(1)).toMatchObject([
      { subtype: "task_updated", task_id: "a", patch: { is_backgrounded: true } },
    ]);
  });
});

describe("an agent in the background in stream-json", () => {
  const launched = { output: { status: "async_launched" } };

  it("is told of in the same way, also when no run goes on", () => {
    const wire = start();
    const agent = createScriptedAgent("a");
    wire.play(begin, calling(agent));
    wire.beside(agent.start);
    wire.play(agent.callEnd("It runs.", launched), reported(agent));
    wire.endRun();
    wire.beside(...agent.turn(read), agent.end());
    wire.close();
    expect(wire.brief()).toEqual([
      "assistant",
      "task_started",
      "user",
      "assistant < call-a",
      "user < call-a",
      "task_progress",
      "task_updated",
      "task_notification",
    ]);
    expect(wire.told[1]).toMatchObject({ task_id: "a", task_type: "local_agent", is_backgrounded: true });
  });

  it("says where its output is, and what it did", () => {
    const wire = start();
    const agent = createScriptedAgent("a");
    const receipt = {
      calls: 1,
      failed: 0,
      denied: 0,
      files: [{ path: "/p/a.ts", before: null, after: "00" }],
      commands: [],
    };
    wire.tasks.register({ ...agentTask, outputFile: "/out/a.txt" }, handle);
    wire.beside(agent.start, agent.end({ receipt }));
    expect(wire.told.at(-1)).toMatchObject({ status: "completed", output_file: "/out/a.txt", receipt });
    wire.play(agent.start, agent.end({ status: "killed", receipt }));
    expect(wire.told.at(-1)).toMatchObject({ status: "stopped", receipt });
  });

  it("waits for the message with its call, and for no later one", () => {
    const wire = start();
    const agent = createScriptedAgent("a");
    wire.play(begin);
    wire.beside(agent.start, ...agent.turn());
    expect(wire.told).toEqual([]);
    wire.play(calling(agent));
    expect(wire.brief()).toEqual(["assistant", "task_started", "assistant < call-a", "task_progress"]);
    wire.play(begin);
    wire.beside(agent.event(begin), ...agent.turn(), agent.end());
    expect(wire.brief().slice(4)).toEqual([
      "assistant < call-a",
      "task_progress",
      "task_updated",
      "task_notification",
    ]);
  });

  it("waits for the message of the agent that called it, and for those above", () => {
    const wire = start();
    const outer = createScriptedAgent("outer");
    const inner = createScriptedAgent("inner");
    wire.play(begin, outer.start, outer.event(begin));
    wire.besideOfParent("outer", inner.start);
    wire.play(outer.event(calling(inner)));
    expect(wire.told).toEqual([]);
    wire.play(calling(outer));
    wire.besideOfParent("outer", inner.end());
    expect(wire.brief()).toEqual([
      "assistant",
      "task_started",
      "assistant < call-outer",
      "task_started",
      "task_updated",
      "task_notification",
    ]);
  });

  it("is heard of though its call was taken back: it goes on", () => {
    const wire = start();
    const moved = createScriptedAgent("moved");
    const begun = createScriptedAgent("begun");
    wire.play(begin, moved.start);
    wire.beside(begun.start, moved.event(begin));
    wire.play({ type: "response-discard", reason: "cut" });
    const started = wire.told.filter(({ subtype }) => subtype === "task_started");
    expect(started.map(({ task_id }) => task_id)).toEqual(["moved", "begun"]);
    wire.beside(moved.end(), begun.end());
    expect(wire.brief().filter((kind) => kind === "task_notification")).toHaveLength(2);
  });

  it("is told as moved, and as stopped when the session is closed", () => {
    const wire = start();
    const agent = createScriptedAgent("a");
    wire.play(calling(agent), agent.start, agent.callEnd("It runs.", launched));
    wire.endRun();
    expect(wire.told.at(-1)).toMatchObject({ subtype: "task_updated", patch: { is_backgrounded: true } });
    wire.close();
    wire.close();
    expect(wire.told.slice(3)).toMatchObject([{ patch: { status: "killed" } }, { status: "stopped" }]);
  });
});

const handle = { stop() {} };
const shellTask: NewTask = {
  id: "b1",
  kind: "local_bash",
  description: "run the tests",
  toolUseId: "t1",
  outputFile: "/out/b1.txt",
  isBackgrounded: true,
};
const agentTask: NewTask = {
  id: "a",
  kind: "local_agent",
  description: "task of a",
  isBackgrounded: true,
  agent: {
    agentType: "Explore",
    prompt: "Do a.",
    depth: 1,
    progress: { toolUses: 0, usage: noUsage, lastActivities: [] },
  },
};

describe("tasks in stream-json", () => {
  it("that are commands are told from the registry", () => {
    const wire = start();
    const run = wire.tasks.register(shellTask, handle);
    wire.tasks.register(agentTask, handle);
    run.end({ status: "failed", exitCode: 1 });
    expect(wire.brief()).toEqual(["task_started", "task_updated", "task_notification"]);
    expect(wire.told[0]).toMatchObject({
      task_id: "b1",
      task_type: "local_bash",
      description: "run the tests",
      tool_use_id: "t1",
      is_backgrounded: true,
    });
    expect(wire.told[2]).toMatchObject({
      task_id: "b1",
      status: "failed",
      output_file: "/out/b1.txt",
      summary: "run the tests: failed (exit code 1)",
    });
  });

  it("that are commands wait for the message with their call, and for no later one", () => {
    const wire = start();
    wire.play(begin);
    const run = wire.tasks.register(shellTask, handle);
    expect(wire.brief()).toEqual([]);
    wire.play(calling(), begin);
    run.end({ status: "killed" });
    expect(wire.brief()).toEqual(["assistant", "task_started", "task_updated", "task_notification"]);
    expect(wire.told.at(-1)).toMatchObject({ status: "stopped" });
  });

  it("that have stalled say so", () => {
    const wire = start();
    const run = wire.tasks.register({ ...agentTask, isBackgrounded: false }, handle);
    run.update({
      agent: { progress: { toolUses: 2, usage: noUsage, lastActivities: [], state: "stalled" } },
    });
    expect(wire.told).toMatchObject([
      { subtype: "task_progress", task_id: "a", state: "stalled", usage: { tool_uses: 2 } },
    ]);
  });
});

describe("the main agent in stream-json", () => {
  it("has a denial told after the message with the call", () => {
    const wire = start();
    const call = { type: "tool_use" as const, id: "t", ...read };
    wire.play(begin, { type: "call-denied", call, reason: "a rule" });
    wire.play(appended({ role: "assistant", content: [call], stopReason: "tool_use" }));
    expect(wire.brief()).toEqual(["assistant", "permission_denied"]);
    expect(wire.told[0]).toMatchObject({ parent_tool_use_id: null });
    expect(wire.told[0]).not.toHaveProperty("agent_id");
  });
});
