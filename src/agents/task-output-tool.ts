/** `TaskOutput`: what a task in the background has done so far, or what it came to (TA-20). */
import * as z from "zod";
import { throwIfCancelled } from "../base/cancellation.ts";
import { CadreError } from "../base/errors.ts";
import type { ResultContentBlock, TextBlock } from "../contracts/message.ts";
import type { Task } from "../contracts/task.ts";
import { totalTokensOf } from "../contracts/usage.ts";
import type { BackgroundTasks } from "../tasks/background.ts";
import { hasEnded, type TaskRegistry } from "../tasks/registry.ts";
import type { TaskWaits } from "../tasks/wait.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { isAgentId } from "../transcript/agent-id.ts";
import { receiptBlock } from "./agent-result.ts";
import { listTasks, shortLine } from "./task-choices.ts";

export interface TaskOutputPorts {
  readonly tasks: Pick<TaskRegistry, "get" | "list">;
  readonly waits: Pick<TaskWaits, "wait">;
  readonly background: Pick<BackgroundTasks, "tell">;
  /** What a task has written or done so far; of much the end. Throws `task-unknown`. */
  readonly taskOutput: (taskId: string, options?: { maxBytes?: number }) => Promise<WrittenOutput>;
}

export interface WrittenOutput {
  readonly text: string;
  readonly totalBytes: number;
  /** Its beginning is left out. */
  readonly truncated: boolean;
}

const defaultTimeoutMs = 30_000;
const maxTimeoutMs = 600_000;
/** Of what a task wrote the last part is worth most; the rest stands in its file. */
const maxOutputBytes = 24_000;
/** A report is what was asked for: it is cut later than other results. */
const maxResultChars = 100_000;

const description = `Shows a task in the background: its status and what it has written so far, or its result when it has ended.

You are told of the end of a task by itself: do not poll, and wait here only when there is nothing else to do. To look at what a task does, read its output file.`;

const Input = z.object({
  task_id: z.string().trim().min(1).describe("The id of the task; of an agent, its agent id."),
  block: z.boolean().default(true).describe("Wait for its end."),
  timeout: z
    .number()
    .min(0)
    .max(maxTimeoutMs)
    .default(defaultTimeoutMs)
    .describe("How long to wait at most, in milliseconds."),
});
type Input = z.infer<typeof Input>;

export interface TaskOutputOutput {
  readonly taskId: string;
  /** Absent: it ended so long ago that only its output is left. */
  readonly task?: Task;
  readonly output?: WrittenOutput;
  /** It was waited for, and goes on. */
  readonly timedOut: boolean;
}

export function createTaskOutputTool(ports: TaskOutputPorts): Tool {
  return defineTool({
    name: "TaskOutput",
    description,
    input: Input,
    isReadOnly: () => true,
    interruptBehavior: "cancel",
    maxResultChars,
    call: (input, context) => lookAt(input, context, ports),
    toResult(output) {
      const receipt = receiptOf(output);
      return { content: describeTask(output), isError: false, ...(receipt && { fromRuntime: [receipt] }) };
    },
  });
}

async function lookAt(input: Input, context: ToolContext, ports: TaskOutputPorts): Promise<TaskOutputOutput> {
  const { task_id: taskId, block, timeout } = input;
  const { scope, agent, toolUseId } = context;
  const before = ports.tasks.get(taskId);
  if (before === undefined) return { taskId, output: await outputLeft(taskId, ports), timedOut: false };
  const ended =
    block && !hasEnded(before)
      ? await ports.waits.wait({ taskId, waiter: agent.agentId, timeoutMs: timeout, scope })
      : undefined;
  const task = ended ?? ports.tasks.get(taskId) ?? before;
  const hasReport = hasEnded(task) && Boolean(task.agent?.result);
  const output = hasReport ? undefined : await outputOf(taskId, ports);
  throwIfCancelled(scope);
  // Last, since it takes the notification away. That of another agent's task is not for whoever asks here.
  if (hasEnded(task) && task.parentAgentId === agent.agentId) ports.background.tell(taskId, toolUseId);
  return { taskId, task, ...(output && { output }), timedOut: block && !hasEnded(task) };
}

/** Of a task that nothing but its file is left of. */
async function outputLeft(taskId: string, ports: TaskOutputPorts): Promise<WrittenOutput> {
  const output = await outputOf(taskId, ports);
  if (output !== undefined) return output;
  const shown = taskId.slice(0, 100);
  throw new ToolFailure(`There is no task ${shown}. ${listTasks(ports.tasks.list())}`, {
    code: "task-unknown",
  });
}

/** Undefined: it has none. */
async function outputOf(taskId: string, ports: TaskOutputPorts): Promise<WrittenOutput | undefined> {
  // It comes from a model and becomes part of a path.
  if (!isAgentId(taskId)) return undefined;
  try {
    return await ports.taskOutput(taskId, { maxBytes: maxOutputBytes });
  } catch (error) {
    if (error instanceof CadreError && error.code === "task-unknown") return undefined;
    throw error;
  }
}

/** The runtime's words and the task's stand in blocks of their own, so that one cannot pass for the other. */
function describeTask({ taskId, task, output, timedOut }: TaskOutputOutput): ResultContentBlock[] {
  const facts = task === undefined ? [`task_id: ${taskId}`, "It has ended."] : factsOf(task);
  if (timedOut) facts.push("It has not ended within this time. A notification will come when it has.");
  const said = [
    ...labelled("Its error:", task?.error),
    ...(output === undefined
      ? labelled("Its report:", task?.agent?.result)
      : labelled(outputLabel(output), output.text)),
  ];
  if (said.length === 0) facts.push("It has written nothing.");
  return [block(facts.join("\n")), ...said];
}

/** What its notification would have said as well. */
function receiptOf({ taskId, task }: TaskOutputOutput): TextBlock | undefined {
  const receipt = task && hasEnded(task) ? task.agent?.receipt : undefined;
  return receipt && receiptBlock(receipt, taskId);
}

function labelled(label: string, text: string | undefined): ResultContentBlock[] {
  return text === undefined || text === "" ? [] : [block(label), block(text)];
}

function outputLabel({ truncated, totalBytes }: WrittenOutput): string {
  return truncated ? `The last part of its output, which has ${totalBytes} bytes:` : "Its output:";
}

function factsOf(task: Task): string[] {
  const { id, status, description, exitCode, outputFile, agent } = task;
  const isStalled = !hasEnded(task) && agent?.progress.state === "stalled";
  return [
    `task_id: ${id}`,
    `status: ${status}${isStalled ? " (nothing has happened in it for a while)" : ""}`,
    `description: ${shortLine(description)}`,
    ...(exitCode === undefined ? [] : [`exit_code: ${exitCode ?? "none, a signal ended it"}`]),
    ...(outputFile === undefined ? [] : [`output_file: ${outputFile}`]),
    ...usageOf(task),
  ];
}

function usageOf({ agent, startedAt, endedAt }: Task): string[] {
  const duration = endedAt === undefined ? [] : [`duration_ms: ${Math.round(endedAt - startedAt)}`];
  if (agent === undefined) return duration;
  const { usage, toolUses } = agent.progress;
  return [[`total_tokens: ${totalTokensOf(usage)}`, `tool_uses: ${toolUses}`, ...duration].join(", ")];
}

function block(text: string): ResultContentBlock {
  return { type: "text", text };
}
