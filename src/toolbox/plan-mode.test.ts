import { afterEach, beforeEach, expect, test } from "vitest";
import { CancelledError } from "../base/errors.ts";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { findTool, type Tool } from "../tools/tool.ts";
import { type ApprovePlan, createPlanModeTools } from "./plan-mode.ts";

let scene: ToolScene;
beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

function toolsOf(approvePlan?: ApprovePlan): { enter: Tool; exit: Tool } {
  const tools = createPlanModeTools({ approvePlan });
  const enter = findTool(tools, "EnterPlanMode");
  const exit = findTool(tools, "ExitPlanMode");
  if (enter === undefined || exit === undefined) throw new Error("a tool is missing");
  return { enter, exit };
}

test("an approved plan leads back to the mode before", async () => {
  const { enter, exit } = toolsOf(async (plan) => ({ approved: plan === "1. do it" }));
  scene.agent.mode.current = "acceptEdits";
  await scene.run(enter, {});
  expect(scene.agent.mode.current).toBe("plan");
  expect(await scene.call(enter, {})).toContain("already");
  expect(await scene.call(exit, { plan: "1. do it" })).toContain("approved");
  expect(scene.agent.mode.current).toBe("acceptEdits");
});

test("a session that started planning goes on in the default mode", async () => {
  const { exit } = toolsOf(async () => ({ approved: true }));
  scene.agent.mode.current = "plan";
  await scene.run(exit, { plan: "x" });
  expect(scene.agent.mode.current).toBe("default");
});

test("a plan that is not approved comes back with what the person said, still planning", async () => {
  const { enter, exit } = toolsOf(async () => ({ approved: false, message: "use less code" }));
  await scene.run(enter, {});
  expect(await scene.call(exit, { plan: "x" })).toMatch(/not approved[\s\S]*use less code/);
  expect(scene.agent.mode.current).toBe("plan");
});

test("without a surface the plan is recorded and the mode stays", async () => {
  const { enter, exit } = toolsOf();
  await scene.run(enter, {});
  const outcome = await scene.run(exit, { plan: "the plan" });
  expect(outcome).toMatchObject({ isError: false, output: { plan: "the plan", outcome: "nobody-there" } });
  expect(outcome.content).toContain("Nobody could approve");
  expect(scene.agent.mode.current).toBe("plan");
});

test("agents that share the tools do not share their modes", async () => {
  const { enter, exit } = toolsOf(async () => ({ approved: true }));
  const child = { ...scene.agent, mode: { current: "acceptEdits" as const } };
  await scene.run(enter, {});
  await scene.run(enter, {}, { agent: child });
  await scene.run(exit, { plan: "x" }, { agent: child });
  expect([scene.agent.mode.current, child.mode.current]).toEqual(["plan", "acceptEdits"]);
});

test("leaving without planning is a failure, and so is an empty plan", async () => {
  const { exit } = toolsOf(async () => ({ approved: true }));
  expect(await scene.fail(exit, { plan: "x" })).toContain("not planning");
  expect(exit.bind({ plan: "  " }).ok).toBe(false);
});

test("a cancelled approval leaves the mode alone", async () => {
  const controller = new AbortController();
  const { enter, exit } = toolsOf(() => {
    queueMicrotask(() => controller.abort(new CancelledError("interrupted")));
    return new Promise(() => {});
  });
  await scene.run(enter, {});
  await expect(scene.run(exit, { plan: "x" }, { signal: controller.signal })).rejects.toThrow(CancelledError);
  expect(scene.agent.mode.current).toBe("plan");
});
