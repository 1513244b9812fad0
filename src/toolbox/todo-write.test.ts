import { expect, test } from "vitest";
import { createToolScene } from "../testing/tool-scene.ts";
import { createTodoWriteTool } from "./todo-write.ts";

const tool = createTodoWriteTool();
const item = (content: string, status: string) => ({ content, status, activeForm: `${content}ing` });

test("every call replaces the list of its own agent", async () => {
  const scene = await createToolScene();
  const other = { ...scene.agent, todos: { items: [] } };
  await scene.run(tool, { todos: [item("a", "completed"), item("b", "in_progress")] });
  const outcome = await scene.run(tool, { todos: [item("b", "completed"), item("c", "pending")] });
  expect(scene.agent.todos.items).toEqual([item("b", "completed"), item("c", "pending")]);
  expect(other.todos.items).toEqual([]);
  expect(outcome.content).toContain("1 of 2 completed, 0 in progress, 1 pending");
  expect(outcome.output).toMatchObject({ before: [item("a", "completed"), item("b", "in_progress")] });
  expect(await scene.call(tool, { todos: [] })).toContain("empty");
  await scene.dispose();
});

test("it asks for no permission and never runs beside another", () => {
  expect(tool.bind({ todos: [] })).toMatchObject({ isReadOnly: true, isConcurrencySafe: false });
});

test("an item with an unknown state is refused by name", () => {
  expect(tool.bind({ todos: [item("a", "done")] })).toMatchObject({
    ok: false,
    problem: expect.stringContaining("todos.0.status"),
  });
});
