import * as z from "zod";
import { defineTool, type Tool } from "../tools/tool.ts";
import type { TodoItem } from "../tools/tool-context.ts";

const description = `Keeps the list of what is to be done in this task. The person sees it, and you get it back when older messages are summarised.

Use it when there are three or more steps, or several requests at once; not for a single simple step. Every call replaces the whole list. Have one item in_progress while you work, mark it completed as soon as it really is (tests fail, errors left: it is not), and take out what is no longer needed.`;

const Input = z.object({
  todos: z
    .array(
      z.object({
        content: z.string().min(1).describe("What is to be done: Run the tests"),
        status: z.enum(["pending", "in_progress", "completed"]),
        activeForm: z.string().min(1).describe("The same while it is being done: Running the tests"),
      }),
    )
    .describe("The whole list, in order"),
});

export interface TodoWriteOutput {
  readonly before: readonly TodoItem[];
  readonly after: readonly TodoItem[];
}

export function createTodoWriteTool(): Tool {
  return defineTool({
    name: "TodoWrite",
    description,
    input: Input,
    // It touches nothing but the session; still, the last list must win.
    isReadOnly: () => true,
    isConcurrencySafe: () => false,
    async call({ todos }, { agent }): Promise<TodoWriteOutput> {
      const before = agent.todos.items;
      agent.todos.items = todos;
      return { before, after: todos };
    },
    toResult: ({ after }) => describeList(after),
  });
}

function describeList(items: readonly TodoItem[]): string {
  const count = (status: TodoItem["status"]) => items.filter((item) => item.status === status).length;
  if (items.length === 0) return "The list is empty now.";
  const state = `${count("completed")} of ${items.length} completed, ${count("in_progress")} in progress, ${count("pending")} pending`;
  const active = items.filter((item) => item.status === "in_progress");
  const hint =
    active.length > 1 ? " More than one item is in progress: keep it to one unless you do them at once." : "";
  return `The list was replaced: ${state}.${hint}`;
}
