import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { noUsage } from "../contracts/usage.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createSeededRandom } from "../testing/test-world.ts";
import {
  createTaskRegistry,
  type NewTask,
  newTaskId,
  type TaskChange,
  type TaskHandle,
  type TaskRegistry,
  type TaskRun,
} from "./registry.ts";

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

describe("what a task started", () => {
  /** One whose stop ends it as killed, as those do that can be stopped at once. */
  function start(
    registry: TaskRegistry,
    id: string,
    more: Partial<NewTask> & Pick<TaskHandle, "endsWithStarter"> = {},
  ): { run: TaskRun; reasons: string[] } {
    const { endsWithStarter, ...task } = more;
    const reasons: string[] = [];
    const run = registry.register(agentTask(id, task), {
      ...(endsWithStarter && { endsWithStarter }),
      stop(reason) {
        reasons.push(reason);
        run.end({ status: "killed" });
      },
    });
    return { run, reasons };
  }

  it("ends with it when it was stopped, and so on below", () => {
    const { registry, told } = createScene();
    const parent = start(registry, "a1", { description: "build" });
    const children = [
      start(registry, "a2", { parentAgentId: "a1", isBackgrounded: true, description: "test" }),
      start(registry, "b1", { parentAgentId: "a1", kind: "local_bash" }),
      start(registry, "a3", { parentAgentId: "a2" }),
    ];
    const other = start(registry, "a4");
    parent.run.end({ status: "killed" });
    expect(children.map(({ reasons }) => reasons)).toEqual([
      ['what started it ("build") was stopped'],
      ['what started it ("build") was stopped'],
      ['what started it ("test") was stopped'],
    ]);
    expect(other.run.task.status).toBe("running");
    expect(told().filter((type) => type === "task-end")).toHaveLength(4);
  });

  it.each(["completed", "failed"] as const)(
    "goes on when it has %s, except for what is a part of it",
    (status) => {
      const { registry } = createScene();
      const parent = start(registry, "a1", { description: "build" });
      const goesOn = start(registry, "a2", { parentAgentId: "a1", isBackgrounded: true });
      const part = start(registry, "b1", { parentAgentId: "a1", endsWithStarter: true });
      parent.run.end({ status });
      expect(goesOn.reasons).toEqual([]);
      expect(part.reasons).toEqual(['what started it ("build") has ended']);
    },
  );

  it("is stopped once: not again when it has ended before, nor by a second end", () => {
    const { registry } = createScene();
    const parent = start(registry, "a1");
    const child = start(registry, "a2", { parentAgentId: "a1" });
    child.run.end({ status: "completed" });
    parent.run.end({ status: "killed" });
    parent.run.end({ status: "killed" });
    expect(child.reasons).toEqual([]);
  });

  it("by an earlier run of an agent belongs to the next one", () => {
    const { registry } = createScene();
    start(registry, "a1").run.end({ status: "completed" });
    const child = start(registry, "a2", { parentAgentId: "a1", isBackgrounded: true });
    registry.remove("a1");
    const again = start(registry, "a1");
    again.run.end({ status: "killed" });
    expect(child.run.task.status).toBe("killed");
  });

  it("ends although one of them cannot be stopped, and so does its starter", () => {
    const { registry, errors } = createScene();
    const parent = start(registry, "a1");
    registry.register(agentTask("a2", { parentAgentId: "a1", isBackgrounded: true }), {
      stop: () => {
        throw new Error("no such process");
      },
    });
    const child = start(registry, "a3", { parentAgentId: "a1", isBackgrounded: true });
    expect(parent.run.end({ status: "killed" })).toBe(true);
    expect(child.run.task.status).toBe("killed");
    expect(registry.stopAll("enough")).toBe(1);
    expect(errors).toEqual([new Error("no such process"), new Error("no such process")]);
  });

  it("is not held after its end", async () => {
    const { registry, changes } = createScene();
    start(registry, "a1");
    const ended = Array.from({ length: 100 }, (_, index) => {
      const parentAgentId = index % 2 === 0 ? "a1" : `p${index}`;
      const { run } = start(registry, `c${index}`, { parentAgentId });
      run.end({ status: "completed" });
      registry.remove(run.task.id);
      return new WeakRef(run);
    });
    changes.length = 0;
    // A reference is kept until the present job is over.
    await new Promise((resolve) => setImmediate(resolve));
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as () => void)();
    expect(ended.filter((run) => run.deref() !== undefined)).toEqual([]);
    expect(registry.list()).toHaveLength(1);
  });
});

describe("stopping everything, and moving to the background", () => {
  it("stops what is in the background and goes on, and says how much that was", () => {
    const { registry } = createScene();
    const stopped: string[] = [];
    const register = (id: string, more: Partial<NewTask>) =>
      registry.register(agentTask(id, more), { stop: (reason) => stopped.push(`${id}: ${reason}`) });
    register("a1", { isBackgrounded: true });
    register("a2", {});
    register("a3", { isBackgrounded: true }).end({ status: "completed" });
    register("a4", {}).update({ isBackgrounded: true });
    expect(registry.stopAll("the user said so")).toBe(2);
    expect(stopped).toEqual(["a1: the user said so", "a4: the user said so"]);
  });

  it("asks the run to move, which says itself when it has; not one that cannot, did, or has ended", () => {
    const { registry } = createScene();
    const asked: string[] = [];
    const run = registry.register(agentTask("a1"), { ...idle, toBackground: () => void asked.push("a1") });
    registry.register(agentTask("a2"), idle);
    expect([
      registry.toBackground("a1"),
      registry.toBackground("a2"),
      registry.toBackground("nobody"),
    ]).toEqual([true, false, false]);
    expect(registry.get("a1")?.isBackgrounded).toBe(false);
    run.update({ isBackgrounded: true });
    expect(registry.toBackground("a1")).toBe(false);
    run.end({ status: "completed" });
    expect(registry.toBackground("a1")).toBe(false);
    expect(asked).toEqual(["a1"]);
  });
});

describe("that an end was told of", () => {
  it("is kept by the run, also when the agent has begun another", () => {
    const { registry, told } = createScene();
    const first = registry.register(agentTask("a1"), idle);
    first.end({ status: "completed" });
    const second = registry.register(agentTask("a1"), idle);
    expect([first.markNotified(), first.markNotified(), second.markNotified()]).toEqual([true, false, false]);
    // Who looks at the id sees the second run, of which nothing has been told.
    expect(registry.get("a1")).toMatchObject({ status: "running", notified: false });
    expect(told()).not.toContain("task-notify");
    second.end({ status: "failed" });
    expect(registry.markNotified("a1")).toBe(true);
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
