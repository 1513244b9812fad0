/** Where an agent works (SP-16). It never gets more of the disk than its parent has. */
import { resolve } from "node:path";
import type { World } from "../base/world.ts";
import { wayInside } from "../permissions/locate-path.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { WorkingFolder } from "../tools/tool-context.ts";

/**
 * The folder that a call names, if it lies in what the parent works in. The root stays the parent's: rules such as
 * `Read(./secrets/**)` start there, and must mean the same to both.
 */
export async function folderNamed(
  path: string,
  parent: WorkingFolder,
  { files }: Pick<World, "files">,
): Promise<string> {
  const named = resolve(parent.current, path);
  const real = await realFolder(named, files);
  if (real === undefined)
    throw new ToolFailure(`The agent cannot work in ${named}: there is no such folder.`, {
      code: "agent-parameter",
    });
  if (await isInside(real, parent, files)) return real;
  throw new ToolFailure(
    `The agent cannot work in ${named}: that lies outside of the working folders (${parent.roots.join(", ")}).`,
    { code: "agent-parameter" },
  );
}

/** Where an agent worked before, if it is still there and still inside. */
export async function folderBefore(
  path: string,
  parent: WorkingFolder,
  { files }: Pick<World, "files">,
): Promise<string | undefined> {
  const real = await realFolder(path, files);
  return real !== undefined && (await isInside(real, parent, files)) ? path : undefined;
}

/** One of its own, or its parent's. */
export function workingFolder(
  parent: WorkingFolder,
  { ownPlace, cwd }: { ownPlace: string | undefined; cwd: string | undefined },
): WorkingFolder {
  const { root, roots } = parent;
  if (ownPlace !== undefined)
    return { root: ownPlace, roots: [ownPlace, ...roots.slice(1)], current: ownPlace };
  return { root, roots, current: cwd ?? root };
}

async function realFolder(path: string, files: World["files"]): Promise<string | undefined> {
  try {
    const real = await files.realPath(path);
    return (await files.stat(real)).kind === "folder" ? real : undefined;
  } catch {
    return undefined;
  }
}

async function isInside(real: string, parent: WorkingFolder, files: World["files"]): Promise<boolean> {
  const roots = await Promise.all(parent.roots.map(async (root) => (await realFolder(root, files)) ?? root));
  return roots.some((root) => wayInside(root, real) !== undefined);
}
