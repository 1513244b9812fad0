import { join } from "node:path";
import type { World } from "../base/world.ts";
import { projectsFolder } from "../transcript/location.ts";

const dayMs = 24 * 60 * 60 * 1000;

/**
 * Whether it is time to clean up old sessions: at most once a day; with 0 days, which keep a session no longer than
 * its process, every time. One look at a file, since every run asks.
 */
export async function isCleanUpDue(options: {
  world: Pick<World, "files" | "clock" | "homeFolder">;
  days: number | undefined;
}): Promise<boolean> {
  const { files, clock, homeFolder } = options.world;
  if (options.days === 0) return true;
  const info = await files.stat(cleanUpStamp(homeFolder)).catch(() => undefined);
  const ageMs = clock.now() - (info?.mtimeMs ?? Number.NEGATIVE_INFINITY);
  // A stamp from the future is that of a clock which was wrong.
  return ageMs < 0 || ageMs >= dayMs;
}

/** Its age tells when it was done last. */
export function cleanUpStamp(homeFolder: string): string {
  return join(projectsFolder(homeFolder), ".cleaned-up");
}
