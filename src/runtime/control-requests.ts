/** Answers what another process asks of a running session. */

import { CadreError, messageOf } from "../base/errors.ts";
import type { Clock } from "../base/world.ts";
import type { Task } from "../contracts/task.ts";
import { isGoingOn } from "../contracts/task.ts";
import { type ControlRefusal, ControlRequest, controlVersion, liveFormOf } from "./control-protocol.ts";
import type { Session } from "./session.ts";

/** As much of a session as can be reached from outside. */
export interface ControlledSession extends Pick<Session, "id" | "taskOutput" | "deliver"> {
  readonly tasks: Pick<Session["tasks"], "get" | "list" | "stop" | "stopAll" | "onChange">;
}

export interface ControlRequestOptions {
  readonly session: ControlledSession;
  readonly clock: Clock;
}

/** Never rejects: what is wrong with a request is its answer. */
export async function answerLine(line: string, options: ControlRequestOptions): Promise<string> {
  try {
    const answer = await answerRequest(readRequest(line), options);
    return `${JSON.stringify({ version: controlVersion, ok: true, ...answer })}\n`;
  } catch (error) {
    return refusalLine(error);
  }
}

export function refusalLine(error: unknown): string {
  const code = error instanceof CadreError ? error.code : "failed";
  const refusal: ControlRefusal = { ok: false, code, message: messageOf(error).slice(0, 2_000) };
  return `${JSON.stringify({ version: controlVersion, ...refusal })}\n`;
}

function readRequest(line: string): ControlRequest {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new CadreError({ code: "request-invalid", message: "A request is one JSON object on a line." });
  }
  const parsed = ControlRequest.safeParse(value);
  if (parsed.success) return parsed.data;
  const given = typeof value === "object" && value !== null && "version" in value ? value.version : undefined;
  if (typeof given === "number" && given !== controlVersion)
    throw new CadreError({
      code: "version-unsupported",
      message: `This session speaks version ${controlVersion} of the protocol, not ${given}. Use the same version of Cadre on both sides.`,
    });
  const [issue] = parsed.error.issues;
  throw new CadreError({
    code: "request-invalid",
    message: `The request is not understood: ${issue?.path.join(".") || "it"}: ${issue?.message ?? "invalid"}`,
  });
}

async function answerRequest(request: ControlRequest, options: ControlRequestOptions): Promise<object> {
  const { session } = options;
  switch (request.request) {
    case "tasks":
      return { tasks: session.tasks.list().map(liveFormOf) };
    case "task":
      return { task: liveFormOf(knownTask(session, request.taskId)) };
    case "stop":
      return { task: liveFormOf(await stopTask(request.taskId, options)) };
    case "stop-all":
      return { stopped: session.tasks.stopAll(stopReason) };
    case "output": {
      const { taskId, maxBytes = defaultOutputBytes } = request;
      return await session.taskOutput(taskId, { maxBytes });
    }
    case "message": {
      const { from, id, text } = request;
      await session.deliver({ from, id, text });
      return {};
    }
  }
}

const stopReason = "stopped by the user from outside of the session";
const defaultOutputBytes = 256 * 1024;
/** What is stopped has so long to end before its present state is the answer. */
const stopPatienceMs = 2_000;

function knownTask(session: ControlledSession, taskId: string): Task {
  const task = session.tasks.get(taskId);
  if (task !== undefined) return task;
  throw new CadreError({ code: "task-unknown", message: `The session ${session.id} has no task ${taskId}.` });
}

async function stopTask(taskId: string, { session, clock }: ControlRequestOptions): Promise<Task> {
  const task = knownTask(session, taskId);
  if (!isGoingOn(task))
    throw new CadreError({
      code: "task-not-running",
      message: `The task ${taskId} is not running: it is ${task.status}.`,
    });
  let last = task;
  let stopWaiting = () => {};
  const ended = new Promise<void>((resolve) => {
    const timer = clock.setTimer(stopPatienceMs, resolve, { unref: true });
    // A task in the foreground leaves the registry at its end: what it came to is told only here.
    const stopListening = session.tasks.onChange(({ task: changed }) => {
      if (changed.id !== taskId) return;
      last = changed;
      if (!isGoingOn(changed)) resolve();
    });
    stopWaiting = () => {
      timer.cancel();
      stopListening();
    };
  });
  try {
    session.tasks.stop(taskId, stopReason);
    await ended;
  } finally {
    stopWaiting();
  }
  return last;
}
