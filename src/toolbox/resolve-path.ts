/**
 * toolbox/ owns the tools that an agent works with, a file per tool. A tool knows its contract (tools/) and
 * the world; it must not know the loop, the executor or other agents.
 */
import { isAbsolute, relative, resolve, sep } from "node:path";
import { expandHome } from "../permissions/locate-path.ts";
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

/** How a path is shown, on one line: relative when it lies in the agent's current folder, otherwise absolute. */
export function displayPath(path: string, context: PathContext): string {
  const fromCurrent = relative(context.agent.folder.current, path);
  if (fromCurrent === "") return ".";
  const isOutside = fromCurrent === ".." || fromCurrent.startsWith(`..${sep}`) || isAbsolute(fromCurrent);
  const shown = isOutside ? path : fromCurrent;
  return /[\u0000-\u001f\u007f]/.test(shown) ? JSON.stringify(shown) : shown;
}
