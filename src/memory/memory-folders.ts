/**
 * memory/ owns the folders in which facts outlive a session: where they are, how a fact is written, and how a later
 * session hears of it. It must not know who finds facts.
 */
import { join } from "node:path";

/** A fact is about the user, wherever they work, or about one project. */
export type MemoryPlace = "user" | "project";

export type MemoryFolders = Readonly<Record<MemoryPlace, string>>;

/** Both are private to the user. Nothing is put into the project itself: a repository could bring facts of its own. */
export function memoryFolders(options: { homeFolder: string; projectFolder: string }): MemoryFolders {
  return {
    user: join(options.homeFolder, ".cadre", "memory"),
    project: join(options.projectFolder, "memory"),
  };
}
