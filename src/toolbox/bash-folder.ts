/** Where a command runs, and where the agent stands after it. */
import { join, relative } from "node:path";
import { ToolFailure } from "../tools/tool.ts";
import type { ToolContext, WorkingFolder } from "../tools/tool-context.ts";

export async function enterFolder({ world, agent }: ToolContext, notes: string[]): Promise<string> {
  const { folder } = agent;
  if (await isFolder(world, folder.current)) return folder.current;
  if (!(await isFolder(world, folder.root)))
    throw new ToolFailure(
      `The working folder ${folder.root} does not exist any more, so no command can run in it.`,
    );
  notes.push(`The folder ${folder.current} does not exist any more; the command ran in ${folder.root}.`);
  folder.current = folder.root;
  return folder.root;
}

async function isFolder(world: ToolContext["world"], path: string): Promise<boolean> {
  const info = await world.files.stat(path).catch(() => undefined);
  return info?.kind === "folder";
}

/** The shell tells real paths; a folder below the root keeps the name that the root goes by. */
export async function followShell(options: {
  context: ToolContext;
  cwdAfter: string | undefined;
  cwd: string;
  notes: string[];
}): Promise<void> {
  const { context, cwdAfter, cwd, notes } = options;
  const { world, agent } = context;
  const realCwd = await world.files.realPath(cwd).catch(() => cwd);
  if (cwdAfter === undefined || cwdAfter === realCwd) return;
  agent.folder.current = await nameBelowRoot(world, agent.folder, cwdAfter);
  notes.push(`The working folder is now ${agent.folder.current}`);
}

async function nameBelowRoot(
  world: ToolContext["world"],
  folder: WorkingFolder,
  realPath: string,
): Promise<string> {
  const realRoot = await world.files.realPath(folder.root).catch(() => folder.root);
  const rest = relative(realRoot, realPath);
  return rest === ".." || rest.startsWith("../") ? realPath : join(folder.root, rest);
}
