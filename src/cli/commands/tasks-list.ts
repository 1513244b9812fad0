import { totalTokensOf } from "../../contracts/usage.ts";
import { type AgentRecords, lookAtAgents } from "../../runtime/agent-records.ts";
import { findTasks } from "../../runtime/find-tasks.ts";
import type { FoundTask } from "../../runtime/recorded-tasks.ts";
import { readTaskDetails } from "../../runtime/task-details.ts";
import { exitCodes } from "../../surfaces/headless/exit-code.ts";
import { layoutTable } from "../text-table.ts";
import {
  durationOf,
  durationText,
  localTime,
  numberText,
  statusText,
  type TasksRequest,
  taskJson,
  typeText,
  withDetails,
} from "./tasks-request.ts";

const shownByDefault = 20;

/** `cadre tasks` */
export async function listTasks(request: TasksRequest): Promise<number> {
  const { world, io, values } = request;
  const limit = values.limit ?? shownByDefault;
  const found = await findTasks({ ...request.where, limit, runningOnly: values.running });
  const tasks = await countAll(request, found);
  const nowMs = world.clock.now();
  const text = values.json
    ? `${JSON.stringify(
        tasks.map((task) => taskJson(task, nowMs)),
        undefined,
        2,
      )}\n`
    : asTable(request, tasks, nowMs);
  await io.stdout.write(text);
  return exitCodes.success;
}

/** Only of those that do not say it themselves a whole transcript is read. */
async function countAll({ world }: TasksRequest, tasks: readonly FoundTask[]): Promise<FoundTask[]> {
  const looked = new Map<string, Promise<AgentRecords>>();
  const agentsOf = (folder: string) => {
    const known = looked.get(folder) ?? lookAtAgents(world.files, folder);
    looked.set(folder, known);
    return known;
  };
  const counted: FoundTask[] = [];
  for (const task of tasks) {
    const isCounted = task.meta === undefined || (task.toolUses !== undefined && task.usage !== undefined);
    const agents = isCounted ? undefined : await agentsOf(task.session.files.subagents);
    counted.push(agents ? withDetails(task, await readTaskDetails(world.files, task, agents)) : task);
  }
  return counted;
}

function asTable(request: TasksRequest, tasks: readonly FoundTask[], nowMs: number): string {
  if (tasks.length === 0) return nothingFound(request);
  return layoutTable({
    header: ["ID", "STATUS", "TYPE", "STARTED", "DURATION", "TOOLS", "TOKENS", "DESCRIPTION"],
    rows: tasks.map((task) => [
      task.id,
      statusText(task),
      typeText(task).slice(0, 40),
      localTime(task.startedAt),
      durationText(durationOf(task, nowMs)),
      numberText(task.toolUses),
      numberText(task.usage && totalTokensOf(task.usage)),
      task.description.slice(0, 200),
    ]),
    width: request.columns,
  });
}

function nothingFound({ values, where }: TasksRequest): string {
  const what = values.running ? "No tasks run" : "There are no tasks";
  const place =
    values.session !== undefined ? ` in the session ${values.session}` : values.all ? "" : ` in ${where.cwd}`;
  return `${what}${place}.\n`;
}
