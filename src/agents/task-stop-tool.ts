/** `TaskStop`: ends a task, with everything that it has started (TA-21). */
import * as z from "zod";
import type { Task } from "../contracts/task.ts";
import { hasEnded, type TaskRegistry } from "../tasks/registry.ts";
import type { TaskWaits } from "../tasks/wait.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { listTasks, shortLine } from "./task-choices.ts";

export interface TaskStopPorts {
  readonly tasks: Pick<TaskRegistry, "get" | "list" | "stop">;
  readonly waits: Pick<TaskWaits, "wait">;
}

/** Whoever stops something wants to know that it has ended, but does not wait for one that clings to life. */
const patienceMs = 5_000;

const description =
  "Ends a running task in the background: an agent with all that it has started, or a command. Its notification says how far it had come.";

const taskId = z.string().trim().min(1).describe("The id of the task; of an agent, its agent id.");

const Input = z
  .object({ task_id: taskId.optional(), shell_id: taskId.optional() })
  .refine(({ task_id, shell_id }) => task_id !== undefined || shell_id !== undefined, {
    path: ["task_id"],
    message: "say which task",
  });

export interface TaskStopOutput {
  readonly taskId: string;
  readonly description: string;
  /** `running`: it has been told to end and has not yet. */
  readonly status: Task["status"];
}

export function createTaskStopTool(ports: TaskStopPorts): Tool {
  return defineTool({
    name: "TaskStop",
    aliases: ["KillShell"],
    description,
    input: Input,
    shownInput: z.object({ task_id: taskId }),
    isConcurrencySafe: () => true,
    call: ({ task_id, shell_id }, context) => stop(task_id ?? shell_id ?? "", context, ports),
    toResult: describeStop,
  });
}

async function stop(
  id: string,
  { agent, scope }: ToolContext,
  ports: TaskStopPorts,
): Promise<TaskStopOutput> {
  const { tasks, waits } = ports;
  const task = tasks.get(id);
  if (task === undefined) throw fail(`There is no task ${id.slice(0, 100)}`, "task-unknown", ports);
  if (hasEnded(task)) throw fail(`The task ${id} is not running: it is ${task.status}`, "task-ended", ports);
  // Waited for from before: it may end, and be forgotten, within the next line.
  const ending = waits.wait({ taskId: id, waiter: agent.agentId, timeoutMs: patienceMs, scope });
  tasks.stop(id, "TaskStop was called");
  const ended = await ending;
  const { description, status } = ended ?? tasks.get(id) ?? task;
  return { taskId: id, description, status };
}

function fail(problem: string, code: string, { tasks }: TaskStopPorts): ToolFailure {
  return new ToolFailure(`${problem}. ${listTasks(tasks.list())}`, { code });
}

function describeStop({ taskId, description, status }: TaskStopOutput): string {
  const what = `${taskId} (${shortLine(description)})`;
  if (status === "killed") return `Stopped: ${what}.`;
  if (!hasEnded({ status }))
    return `${what} was told to end and has not yet. A notification will come when it has.`;
  return `${what} ended by itself before it could be stopped: it is ${status}.`;
}
