import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTaskRegistry, type NewTask, type TaskOutcome } from "../tasks/registry.ts";
import { createTaskWaits } from "../tasks/wait.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { findTool } from "../tools/tool.ts";
import { createTaskStopTool } from "./task-stop-tool.ts";

let scene: ToolScene;
beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

function createTasks() {
  const clock = createManualClock();
  const tasks = createTaskRegistry({ clock });
  const tool = createTaskStopTool({ tasks, waits: createTaskWaits({ tasks, clock }) });
  /** `end`: what it does when it is stopped. Absent: nothing, it clings to life. */
  const start = (task: Partial<NewTask> & { id: string }, end?: TaskOutcome) =>
    tasks.register(
      { kind: "local_bash", description: "npm run dev", isBackgrounded: true, ...task },
      { stop: (reason) => end && void tasks.end(task.id, { error: reason, ...end }) },
    );
  return { clock, tasks, tool, start };
}

describe("TaskStop", () => {
  it("ends a task and what it has started, and says so when it has ended", async () => {
    const { tool, tasks, start } = createTasks();
    start({ id: "a1", kind: "local_agent", description: "Find it" }, { status: "killed" });
    start({ id: "a2", parentAgentId: "a1" }, { status: "killed" });
    start({ id: "b3", parentAgentId: "a2" }, { status: "killed" });
    start({ id: "b4" }, { status: "killed" });
    expect(await scene.call(tool, { task_id: "a1" })).toBe("Stopped: a1 (Find it).");
    expect(tasks.list().map(({ status }) => status)).toEqual(["killed", "killed", "killed", "running"]);
    expect(tasks.get("a1")?.error).toBe("TaskStop was called");
  });

  it("takes shell_id for task_id and KillShell for its name, which the model is not shown", async () => {
    const { tool, start } = createTasks();
    start({ id: "b1", status: "pending" }, { status: "killed" });
    expect(findTool([tool], "KillShell")).toBe(tool);
    expect(await scene.call(tool, { shell_id: " b1 " })).toBe("Stopped: b1 (npm run dev).");
    expect(JSON.stringify(tool.inputSchema)).not.toContain("shell_id");
    expect(tool.inputSchema).toMatchObject({ required: ["task_id"] });
    expect(tool.bind({})).toMatchObject({ problem: expect.stringContaining("task_id: say which task") });
  });

  it("knows one that is forgotten at its end", async () => {
    const { tool, tasks, start } = createTasks();
    start({ id: "a1", isBackgrounded: false }, { status: "killed" });
    tasks.onChange(({ type, task }) => type === "task-end" && void tasks.remove(task.id));
    expect(await scene.call(tool, { task_id: "a1" })).toBe("Stopped: a1 (npm run dev).");
  });

  it("waits five seconds for one that clings to life", async () => {
    const { tool, start, clock } = createTasks();
    start({ id: "b1" });
    const stopping = scene.call(tool, { task_id: "b1" });
    await clock.advance(4_999);
    expect(clock.pendingMs()).toEqual([1]);
    await clock.advance(1);
    expect(await stopping).toBe(
      "b1 (npm run dev) was told to end and has not yet. A notification will come when it has.",
    );
  });

  it("says when it came too late", async () => {
    const { tool, start } = createTasks();
    start({ id: "b1" }, { status: "completed" });
    expect(await scene.call(tool, { task_id: "b1" })).toBe(
      "b1 (npm run dev) ended by itself before it could be stopped: it is completed.",
    );
  });

  it("refuses what is unknown and what has ended, saying which", async () => {
    const { tool, start, tasks } = createTasks();
    start({ id: "b1" });
    start({ id: "b2" });
    tasks.end("b1", { status: "failed" });
    expect(await scene.fail(tool, { task_id: "b9" })).toBe(
      "There is no task b9. Tasks: b2 (running: npm run dev), b1 (failed: npm run dev).",
    );
    expect(await scene.fail(tool, { task_id: "b1" })).toMatch(/^The task b1 is not running: it is failed\. /);
    expect(tasks.get("b2")?.status).toBe("running");
  });

  it("changes something, and can stop several at once", () => {
    const { tool } = createTasks();
    expect(tool.bind({ task_id: "b1" })).toMatchObject({ isReadOnly: false, isConcurrencySafe: true });
  });
});
