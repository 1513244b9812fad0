/**
 * toolbox/ owns the tools that an agent works with, a file per tool. A tool knows its contract (tools/) and
 * the world; it must not know the loop, the executor or other agents.
 */
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";

type PathContext = Pick<ToolContext, "agent" | "world">;

/** The absolute path that a model meant: relative ones start at the agent's current folder. */
export function resolvePath(input: string, context: PathContext): string {
  if (input.trim() === "") throw new ToolFailure("The path is empty. Give the path of a file or folder.");
  if (input.includes("\0"))
    throw new ToolFailure("The path contains a NUL character, which no file name can have.");
  return resolve(context.agent.folder.current, expandHome(input, context.world.homeFolder));
}

/** `~` and `~/...` only: other users' homes are not looked up. */
export function expandHome(input: string, homeFolder: string): string {
  if (input === "~") return homeFolder;
  return input.startsWith("~/") || input.startsWith(`~${sep}`) ? join(homeFolder, input.slice(2)) : input;
}

/** How a path is shown: relative when it lies in the agent's current folder, otherwise absolute. */
export function displayPath(path: string, context: PathContext): string {
  const fromCurrent = relative(context.agent.folder.current, path);
  if (fromCurrent === "") return ".";
  const isOutside = fromCurrent === ".." || fromCurrent.startsWith(`..${sep}`) || isAbsolute(fromCurrent);
  return isOutside ? path : fromCurrent;
}
