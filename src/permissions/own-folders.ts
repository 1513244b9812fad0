/** The folders of one agent: its scratch folder, its memory. */
import { dirname } from "node:path";
import { type PathLocator, wayInside } from "./locate-path.ts";

export interface OwnFolder {
  readonly named: string;
  readonly real: string;
}

/**
 * Where they are. One that is reached through a link counts only if the link is no part of what others can write:
 * a project that brings a link in the place of an agent's memory must not hand out what it leads to. Therefore
 * everything below the home folder, a working folder or the session's folder must be as it is named.
 */
export async function locateOwnFolders(
  folders: readonly string[],
  { locator, bases }: { locator: PathLocator; bases: readonly string[] },
): Promise<OwnFolder[]> {
  const located = await Promise.all(
    folders.map(async (folder): Promise<OwnFolder[]> => {
      const { named, real } = await locator.locate(folder, { folder: "/" });
      if (real === undefined) return [];
      const above = bases.filter((base) => wayInside(base, named) !== undefined);
      for (const base of above.length > 0 ? above : [dirname(named)]) {
        const way = wayInside(base, named);
        if (way !== undefined && wayInside(await realOf(base, locator), real) === way)
          return [{ named, real }];
      }
      return [];
    }),
  );
  return located.flat();
}

async function realOf(folder: string, locator: PathLocator): Promise<string> {
  return (await locator.locate(folder, { folder: "/" })).real ?? folder;
}
