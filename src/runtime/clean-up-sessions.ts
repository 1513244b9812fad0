/** Removes sessions that nobody has touched for long, never one that is in use (TA-27). */
import { join } from "node:path";
import type { World } from "../base/world.ts";
import { isSessionId, sessionFilesIn } from "../transcript/location.ts";
import { cleanUpStamp } from "./clean-up-due.ts";
import { findProjectFolders, findSessions } from "./find-sessions.ts";
import { lockSession } from "./lock-session.ts";

const dayMs = 24 * 60 * 60 * 1000;
const defaultDays = 30;

/**
 * To be called when `isCleanUpDue` says so and the run has ended. Says nothing, whatever happens: it is tried again
 * another day.
 */
export async function cleanUpSessions(options: {
  world: World;
  /** The setting `cleanupPeriodDays`. */
  days: number | undefined;
}): Promise<void> {
  const { world } = options;
  const beforeMs = world.clock.now() - (options.days ?? defaultDays) * dayMs;
  try {
    // Before the work, so that two processes do not share it.
    await world.files.writeFile(cleanUpStamp(world.homeFolder), "", { mode: 0o600 });
    for (const folder of await findProjectFolders(world)) await cleanUpProject({ world, folder, beforeMs });
  } catch {
    // Nobody waits for this.
  }
}

interface Project {
  readonly world: World;
  readonly folder: string;
  readonly beforeMs: number;
}

async function cleanUpProject(project: Project): Promise<void> {
  const { world, folder, beforeMs } = project;
  const sessions = await findSessions(world.files, folder);
  for (const { id, modifiedMs } of sessions)
    if (modifiedMs < beforeMs) await removeSession(project, id).catch(() => {});
  const ids = new Set(sessions.map(({ id }) => id));
  for (const { name, kind } of await world.files.readFolder(folder)) {
    // What a clean-up that was cut off has left.
    if (kind !== "folder" || !isSessionId(name) || ids.has(name)) continue;
    const info = await world.files.stat(join(folder, name));
    if (info.mtimeMs < beforeMs) await removeSession(project, name).catch(() => {});
  }
}

async function removeSession({ world, folder, beforeMs }: Project, id: string): Promise<void> {
  const files = sessionFilesIn(folder, id);
  // Throws if it is in use.
  const lock = await lockSession({ world, files });
  try {
    // It may have been gone on with a moment ago.
    const info = await world.files.stat(files.transcript).catch(() => undefined);
    if (info !== undefined && info.mtimeMs >= beforeMs) return;
    await world.files.remove(files.folder, { recursive: true, force: true });
    await world.files.remove(files.transcript, { force: true });
  } finally {
    await lock.release();
  }
}
