import { CadreError } from "../../base/errors.ts";
import { toOneLine } from "../../base/one-line.ts";
import { isGoingOn } from "../../contracts/task.ts";
import { askSession } from "../../runtime/control-client.ts";
import { controlSocketPath } from "../../runtime/control-path.ts";
import { findSession } from "../../runtime/find-sessions.ts";
import { findTask } from "../../runtime/find-tasks.ts";
import type { FoundTask } from "../../runtime/recorded-tasks.ts";
import { runningSession } from "../../runtime/session-state.ts";
import { exitCodes } from "../../surfaces/headless/exit-code.ts";
import { countOf } from "./agents-request.ts";
import type { TasksRequest } from "./tasks-request.ts";

/** `cadre tasks stop ID...`: the ids are looked up first, so that a mistake in one stops nothing. */
export async function stopTasks(request: TasksRequest, ids: readonly string[]): Promise<number> {
  const { io, values } = request;
  const tasks = new Map<string, FoundTask>();
  for (const id of ids) {
    const task = await findTask({ ...request.where, id });
    if (!isGoingOn(task)) throw notRunning(task);
    tasks.set(task.id, task);
  }
  const stopped: { id: string; status: string; description: string }[] = [];
  for (const task of tasks.values()) stopped.push(await stopTask(request, task));
  if (values.json) {
    const list = stopped.map(({ id, status }) => ({ id, status }));
    await io.stdout.write(`${JSON.stringify(list, undefined, 2)}\n`);
  } else for (const each of stopped) await io.stdout.write(lineOf(each));
  return exitCodes.success;
}

/** `cadre tasks stop --session ID`: everything that it has in the background. */
export async function stopAll(request: TasksRequest): Promise<number> {
  const { world, io, values, where } = request;
  const session = await findSession({ world, cwd: where.cwd, which: { id: values.session ?? "" } });
  if ((await runningSession(world, session)) === undefined)
    throw new CadreError({ code: "session-not-running", message: `The session ${session.id} does not run.` });
  const path = controlSocketPath(world, session.id);
  const { stopped } = await askSession({ world, path, question: { request: "stop-all" } }).catch(
    (error: unknown) => {
      // A session opens its socket with the first task in the background.
      if (error instanceof CadreError && error.code === "session-unreachable") return { stopped: 0 };
      throw error;
    },
  );
  const text = stopped === 0 ? "Nothing runs in the background." : `Stopped ${countOf(stopped, "task")}.`;
  await io.stdout.write(values.json ? `${JSON.stringify({ stopped })}\n` : `${text}\n`);
  return exitCodes.success;
}

async function stopTask(
  { world }: TasksRequest,
  task: FoundTask,
): Promise<{ id: string; status: string; description: string }> {
  const { id, session } = task;
  const path = controlSocketPath(world, session.id);
  try {
    const { task: told } = await askSession({ world, path, question: { request: "stop", taskId: id } });
    return { id, status: told.status, description: task.description };
  } catch (error) {
    if (!(error instanceof CadreError) || error.code !== "session-unreachable") throw error;
    const running = await runningSession(world, session);
    throw new CadreError({
      code: "session-unreachable",
      message:
        running === undefined
          ? `The task ${id} is not running: its session has just ended.`
          : `The task ${id} runs in the session ${session.id}, which cannot be reached: ${error.message} To stop it, stop process ${running.pid}.`,
      cause: error,
    });
  }
}

function lineOf({ id, status, description }: { id: string; status: string; description: string }): string {
  const what = `${id} ("${toOneLine(description, 200)}")`;
  if (status === "killed") return `Stopped ${what}.\n`;
  return status === "running" || status === "pending"
    ? `${what} was told to stop, and has not ended yet.\n`
    : `${what} ${status} before it could be stopped.\n`;
}

function notRunning({ id, status, description }: FoundTask): CadreError {
  return new CadreError({
    code: "task-not-running",
    message: `The task ${id} ("${toOneLine(description, 60)}") is not running: it is ${status}.`,
    data: { id, status },
  });
}
