import { CadreError } from "../base/errors.ts";
import { acquireLock, type Lock } from "../base/lock.ts";
import type { World } from "../base/world.ts";
import type { SessionFiles } from "../transcript/location.ts";

/** Two processes that write one session would mix up its history. Throws `session-in-use` with the other's id. */
export async function lockSession(options: { world: World; files: SessionFiles }): Promise<Lock> {
  const { world, files } = options;
  try {
    return await acquireLock({ world, path: files.lock, purpose: "a session of Cadre", unfenced: true });
  } catch (error) {
    if (!(error instanceof CadreError) || error.code !== "lock-held") throw error;
    throw new CadreError({
      code: "session-in-use",
      message: `The session is in use by process ${String(error.data.pid)}. Wait for its end, or go on with a copy (--fork-session). If there is no such process, remove ${files.lock}.`,
      data: { ...error.data },
      cause: error,
    });
  }
}
