/** Whether a session runs, and what it says of its tasks. Nothing is changed by looking. */
import { lockHolder } from "../base/lock.ts";
import type { World } from "../base/world.ts";
import { askSession } from "./control-client.ts";
import { controlSocketPath } from "./control-path.ts";
import type { LiveTask } from "./control-protocol.ts";
import type { FoundSession } from "./find-sessions.ts";

export interface RunningSession {
  readonly pid: number;
  /** When its process took it up, in milliseconds since the epoch. */
  readonly sinceMs: number;
}

/** Undefined when no living process has it. */
export async function runningSession(
  world: World,
  session: FoundSession,
): Promise<RunningSession | undefined> {
  const path = session.files.lock;
  const info = await world.files.stat(path).catch(() => undefined);
  if (info === undefined) return undefined;
  const holder = await lockHolder({ world, path });
  return holder && { pid: holder.pid, sinceMs: Math.floor(info.mtimeMs) };
}

/** By id. Undefined when it does not answer: perhaps it has nothing in the background. */
export async function liveTasksOf(
  world: World,
  session: FoundSession,
): Promise<ReadonlyMap<string, LiveTask> | undefined> {
  try {
    const path = controlSocketPath(world, session.id);
    const { tasks } = await askSession({ world, path, question: { request: "tasks" }, deadlineMs: 2_000 });
    return new Map(tasks.map((task) => [task.id, task]));
  } catch {
    return undefined;
  }
}
