/** Where a path leads on disk. Names are taken byte for byte: nothing is trimmed, nothing is folded. */
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { systemCodeOf } from "../base/errors.ts";
import type { FileSystem } from "../base/world.ts";

export interface LocatedPath {
  /** As given, made absolute and free of `..` by its letters alone. */
  readonly named: string;
  /** Links of the longest existing part resolved; undefined when that can not be known. */
  readonly real: string | undefined;
}

export interface PathLocator {
  /** `physical`: as a program would walk it, where `link/..` is the folder above the link's target. */
  locate(path: string, options: { folder: string; physical?: boolean }): Promise<LocatedPath>;
  /** The folder itself, links resolved; as it was named when that fails. */
  realFolder(folder: string): Promise<string>;
}

/**
 * Where the working folders and the starts of rules led when they were first asked for. Kept for all decisions: a
 * folder that comes to lead elsewhere later must not take its permissions there.
 */
export type FirstSeenFolders = Map<string, Promise<string>>;

/** Longer than any system takes. */
const maxPathChars = 4_096;

/** Remembers what it found; made for one decision, because the next one may find something else. */
export function createPathLocator(options: {
  files: Pick<FileSystem, "realPath" | "lstat">;
  homeFolder: string;
  folders?: FirstSeenFolders;
}): PathLocator {
  const { files, homeFolder, folders = new Map() } = options;
  const seen = new Map<string, Promise<string | undefined>>();

  const remember = (path: string): Promise<string | undefined> => {
    const found = seen.get(path) ?? realOf(path);
    seen.set(path, found);
    return found;
  };

  const realOf = async (path: string): Promise<string | undefined> => {
    try {
      return await files.realPath(path);
    } catch (error) {
      const parent = dirname(path);
      // What is there and can not be resolved is a link to nowhere, or a loop: writing would follow it.
      if (systemCodeOf(error) !== "ENOENT" || parent === path || (await isThere(path))) return undefined;
      const realParent = await remember(parent);
      return realParent === undefined ? undefined : join(realParent, basename(path));
    }
  };

  const isThere = async (path: string): Promise<boolean> => {
    try {
      await files.lstat(path);
      return true;
    } catch (error) {
      return systemCodeOf(error) !== "ENOENT";
    }
  };

  const walk = async (path: string): Promise<string | undefined> => {
    let current: string | undefined = "/";
    for (const part of path.split("/").filter((each) => each !== "" && each !== ".")) {
      if (current === undefined) return undefined;
      current = part === ".." ? dirname(current) : await remember(join(current, part));
    }
    return current;
  };

  return {
    async locate(path, { folder, physical = false }) {
      const given = expandHome(path, homeFolder);
      const named = resolve(folder, given);
      if (path.includes("\0") || named.length > maxPathChars) return { named, real: undefined };
      const start = isAbsolute(given) ? given : `${folder}/${given}`;
      const climbs = physical && sep === "/" && start.split("/").includes("..");
      return { named, real: climbs ? await walk(start) : await remember(named) };
    },
    realFolder(folder) {
      const named = resolve(folder);
      const found = folders.get(named) ?? remember(named).then((real) => real ?? named);
      folders.set(named, found);
      return found;
    },
  };
}

/** `~` and `~/...` only: other users' homes are not looked up. */
export function expandHome(path: string, homeFolder: string): string {
  if (path === "~") return homeFolder;
  return path.startsWith("~/") ? join(homeFolder, path.slice(2)) : path;
}

/** By whole parts: `/p/a-evil` is not inside `/p/a`. Answers with the way from the folder, `""` for itself. */
export function wayInside(folder: string, path: string, ignoreCase = false): string | undefined {
  const fold = (text: string) => (ignoreCase ? text.normalize("NFC").toLowerCase() : text);
  const way = relative(fold(folder), fold(path));
  if (way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way)) return undefined;
  return ignoreCase ? path.slice(path.length - way.length) : way;
}
