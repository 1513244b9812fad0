import type { World } from "../base/world.ts";
import { createMemoryFile } from "./memory-file.ts";
import type { MemoryFolders } from "./memory-folders.ts";
import { recallText } from "./recall.ts";

/** What a session is told of earlier ones. Undefined: they have left nothing. */
export async function readMemories(world: World, folders: MemoryFolders): Promise<string | undefined> {
  const [user, project] = await Promise.all([
    createMemoryFile(world, folders.user).read(),
    createMemoryFile(world, folders.project).read(),
  ]);
  return recallText({ user, project });
}
