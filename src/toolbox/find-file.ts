/** From a path to a regular file, or to a failure that says what is there instead. */
import { basename, dirname, join } from "node:path";
import { messageOf, systemCodeOf } from "../base/errors.ts";
import type { FileInfo } from "../base/world.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { displayPath } from "./resolve-path.ts";
import { similarNames } from "./similar-names.ts";

export interface FoundFile {
  /** Links resolved: the name under which the file is remembered and written. */
  readonly path: string;
  readonly info: FileInfo;
}

/** Undefined if there is nothing at `path`. Throws a `ToolFailure` for all that is not a regular file. */
export async function findFile(path: string, context: ToolContext): Promise<FoundFile | undefined> {
  const { files } = context.world;
  try {
    const info = await files.stat(path);
    refuseUnlessFile(info, displayPath(path, context));
    return { path: await files.realPath(path), info };
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") throw describeAccessError(error, displayPath(path, context));
  }
  await refuseBrokenLink(path, context);
  return undefined;
}

export function refuseUnlessFile(info: FileInfo, shown: string): void {
  if (info.kind === "folder")
    throw new ToolFailure(`${shown} is a folder, not a file. List what is in it with Glob or \`ls\`.`);
  if (info.kind !== "file")
    throw new ToolFailure(
      `${shown} is not a regular file (a device, pipe or socket): reading or writing it could block for ever.`,
    );
}

/** A link to nothing is told as such, not as a missing file. */
export async function refuseBrokenLink(path: string, context: ToolContext): Promise<void> {
  const { files } = context.world;
  const isLink = await files.lstat(path).then(
    (info) => info.kind === "link",
    () => false,
  );
  if (!isLink) return;
  const target = await files.readLink(path);
  throw new ToolFailure(
    `${displayPath(path, context)} is a link to ${target}, which does not exist. Use the path of the target itself.`,
  );
}

/** Leaves what is no system error as it is: a bug, a cancellation, a failure that was described before. */
export function describeAccessError(error: unknown, shown: string): unknown {
  const code = systemCodeOf(error);
  if (error instanceof ToolFailure || code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error;
  return new ToolFailure(`${shown}: ${explanations[code] ?? messageOf(error)}`, {
    code: "file-inaccessible",
    cause: error,
  });
}

const explanations: Readonly<Record<string, string>> = {
  EACCES: "no permission. Ask the user to change the file's permissions, or work on another file.",
  EPERM: "not permitted by the system.",
  EROFS: "the file system is read-only.",
  ENOSPC: "the disk is full. Nothing was changed. Free some space first.",
  EDQUOT: "the disk quota is used up. Nothing was changed. Free some space first.",
  EEXIST: "something else came to be there meanwhile, or a part of the path is a file. Nothing was changed.",
  ENOTDIR: "a part of the path before the last is a file, not a folder.",
  ELOOP: "the path goes round in a circle of links.",
  ENAMETOOLONG: "the name is longer than the file system allows.",
  ENOENT: "does not exist.",
};

/** With names in the same folder that may have been meant. */
export async function describeMissingFile(path: string, context: ToolContext): Promise<ToolFailure> {
  const { files } = context.world;
  const folder = dirname(path);
  const shown = displayPath(path, context);
  const options = { code: "file-missing" };
  try {
    const names = (await files.readFolder(folder)).map((entry) => entry.name);
    const similar = similarNames(basename(path), names);
    if (similar.length === 0)
      return new ToolFailure(`${shown} does not exist. Glob finds files by name.`, options);
    const suggestions = similar.map((name) => displayPath(join(folder, name), context)).join(", ");
    return new ToolFailure(`${shown} does not exist. Did you mean ${suggestions}?`, options);
  } catch {
    return new ToolFailure(
      `${shown} does not exist, nor does its folder ${displayPath(folder, context)}.`,
      options,
    );
  }
}
