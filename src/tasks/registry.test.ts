import { describe, expect, it } from "vitest";
import { noUsage } from "../contracts/usage.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createSeededRandom } from "../testing/test-world.ts";
import { createTaskRegistry, type NewTask, newTaskId, type TaskChange, type TaskHandle } from "./registry.ts";

const idle: TaskHandle = { stop: () => {} };

function agentTask(id: string, more: Partial<NewTask> = {}): NewTask {
  return {
    id,
    kind: "local_agent",
    description: "look around",
    isBackgrounded: false,
    agent: {
      agentType: "Explore",
      prompt: "look",
      depth: 1,
      progress: { toolUses: 0, usage: noUsage, lastActivities: [] },
    },
    ...more,
  };
}

function createScene() {
  const clock = createManualClock();
  const errors: unknown[] = [];
  const registry = createTaskRegistry({ clock, onListenerError: (error) => errors.push(error) });
  const changes: TaskChange[] = [];
  registry.onChange((change) => changes.push(change));
  return { clock, registry, changes, errors, told: () => changes.map(({ type }) => type) };
}

describe("the registry of tasks", () => {
  it("holds what runs, in the order of its start", async () => {
    const { clock, registry } = createScene();
    registry.register(agentTask("a1"), idle);
    await clock.advance(5);
    registry.register({ ...agentTask("b1"), kind: "local_bash", status: "pending" }, idle);
    expect(registry.list()).toMatchObject([
      { id: "a1", status: "running", startedAt: 0, notified: false },
      { id: "b1", status: "pending", startedAt: 5 },
    ]);
    expect(registry.get("a1")).toBe(registry.list()[0]);
    expect(registry.get("nobody")).toBeUndefined();
  });

  it("takes progress without losing what was there, and never changes a task that was handed out", () => {
    const { registry } = createScene();
    const run = registry.register(agentTask("a1"), idle);
    const before = run.task;
    const progress = { toolUses: 3, usage: noUsage, lastActivities: ["Read"] };
    expect(registry.update("a1", { agent: { progress }, isBackgrounded: true })).toBe(true);
    expect(registry.get("a1")).toMatchObject({
      isBackgrounded: true,
      agent: { progress, agentType: "Explore" },
    });
    expect(before).toMatchObject({ isBackgrounded: false, agent: { progress: { toolUses: 0 } } });
    expect(registry.update("nobody", {})).toBe(false);
  });

  it.each(["completed", "failed", "killed"] as const)(
    "ends a task once as %s, and nothing changes it after that",
    async (status) => {
      const { clock, registry, changes } = createScene();
      const run = registry.register(agentTask("a1"), idle);
      await clock.advance(7);
      expect(run.end({ status, result: "found", error: "why" })).toBe(true);
      const ended = run.task;
      expect(ended).toMatchObject({ status, endedAt: 7, error: "why", agent: { result: "found" } });
      const count = changes.length;
      expect(run.end({ status: "completed", result: "other" })).toBe(false);
      expect(registry.end("a1", { status: "killed" })).toBe(false);
      expect(registry.update("a1", { status: "running", description: "x" })).toBe(false);
      expect(registry.stop("a1", "too late")).toBe(false);
      expect(registry.get("a1")).toBe(ended);
      expect(changes).toHaveLength(count);
    },
  );

  it("stops a task by its handle, and leaves its end to the run", () => {
    const { registry } = createScene();
    const reasons: string[] = [];
    registry.register(agentTask("a1"), { stop: (reason) => reasons.push(reason) });
    expect(registry.stop("a1", "the user said so")).toBe(true);
    expect(reasons).toEqual(["the user said so"]);
    expect(registry.get("a1")?.status).toBe("running");
    expect(registry.stop("nobody", "")).toBe(false);
  });

  it("can end a task while its handle stops it", () => {
    const { registry } = createScene();
    const run = registry.register(agentTask("a1"), { stop: () => run.end({ status: "killed" }) });
    expect(registry.stop("a1", "now")).toBe(true);
    expect(registry.get("a1")?.status).toBe("killed");
  });

  it("says to exactly one caller that the end was not told of yet, and to none before the end", () => {
    const { registry } = createScene();
    registry.register(agentTask("a1"), idle);
    expect(registry.markNotified("a1")).toBe(false);
    registry.end("a1", { status: "completed" });
    expect([1, 2, 3].map(() => registry.markNotified("a1"))).toEqual([true, false, false]);
    expect(registry.get("a1")?.notified).toBe(true);
    expect(registry.markNotified("nobody")).toBe(false);
  });

  it("lets a task go only after its end", () => {
    const { registry, told } = createScene();
    registry.register(agentTask("a1"), idle);
    expect(registry.remove("a1")).toBe(false);
    registry.end("a1", { status: "completed" });
    expect([registry.remove("a1"), registry.remove("a1")]).toEqual([true, false]);
    expect(registry.list()).toEqual([]);
    expect(told()).toEqual(["task-start", "task-end", "task-remove"]);
  });

  it("takes a new run of an agent that ended; what comes late from the old one does not reach it", () => {
    const { registry } = createScene();
    const first = registry.register(agentTask("a1"), idle);
    expect(() => registry.register(agentTask("a1"), idle)).toThrow(/still goes on/);
    first.end({ status: "killed" });
    registry.markNotified("a1");
    registry.register(agentTask("a1", { description: "go on" }), idle);
    expect(first.end({ status: "completed" })).toBe(false);
    expect(first.update({ description: "late" })).toBe(false);
    expect(registry.list()).toMatchObject([{ description: "go on", status: "running", notified: false }]);
  });
});

describe("listeners of the registry", () => {
  it("hear of every change in order, also of one that a listener makes", () => {
    const { registry, told } = createScene();
    const late: string[] = [];
    registry.onChange(({ type }) => {
      if (type === "task-start") registry.end("a1", { status: "completed" });
      if (type === "task-end") registry.markNotified("a1");
    });
    registry.onChange(({ type }) => late.push(type));
    registry.register(agentTask("a1"), idle);
    expect(told()).toEqual(["task-start", "task-end", "task-notify"]);
    expect(late).toEqual(told());
  });

  it("do not break it by an error, and leave when they want", () => {
    const { registry, errors } = createScene();
    const heard: string[] = [];
    const leave = registry.onChange(() => {
      throw new Error("listener");
    });
    registry.onChange(({ type }) => heard.push(type));
    registry.register(agentTask("a1"), idle);
    leave();
    registry.end("a1", { status: "completed" });
    expect(errors).toEqual([new Error("listener")]);
    expect(heard).toEqual(["task-start", "task-end"]);
  });

  it("do not break it when whoever hears of their errors throws, too", () => {
    const registry = createTaskRegistry({
      clock: createManualClock(),
      onListenerError: () => {
        throw new Error("again");
      },
    });
    const heard: string[] = [];
    registry.onChange(() => {
      throw new Error("listener");
    });
    registry.onChange(({ type }) => heard.push(type));
    registry.register(agentTask("a1"), idle);
    registry.end("a1", { status: "completed" });
    expect(heard).toEqual(["task-start", "task-end"]);
  });
});

describe("the id of a task", () => {
  it("begins with a letter for its kind and is good for the name of a file", () => {
    const random = createSeededRandom(1);
    const kinds = [
      "local_agent",
      "local_bash",
      "remote_agent",
      "teammate",
      "monitor",
      "workflow",
      "toString",
    ];
    const ids = kinds.map((kind) => newTaskId(kind, random));
    expect(ids.map((id) => id.charAt(0)).join("")).toBe("abrtmwx");
    for (const id of ids) expect(id).toMatch(/^[a-z][0-9a-v]{16}$/);
    expect(new Set(Array.from({ length: 1000 }, () => newTaskId("local_agent", random))).size).toBe(1000);
  });
});
