/** What an agent is told about where it is (SP-17). */
import { dirname, join, resolve } from "node:path";
import { neutralizeTags } from "../base/markup.ts";
import type { Clock, FileSystem, World } from "../base/world.ts";
import type { WorkingFolder } from "../tools/tool-context.ts";

export function describeEnvironment(options: {
  world: Pick<World, "clock" | "platform">;
  folder: Pick<WorkingFolder, "current" | "roots">;
  branch?: string;
}): string {
  const { world, folder, branch } = options;
  const others = folder.roots.filter((root) => root !== folder.current);
  const facts = [
    `Working folder: ${neutralizeTags(folder.current)}`,
    ...others.map((root) => `Additional folder: ${neutralizeTags(root)}`),
    `Platform: ${world.platform}`,
    `Date: ${today(world.clock)}`,
    ...(branch === undefined ? [] : [`Git branch: ${neutralizeTags(branch)}`]),
  ];
  return `Environment\n${facts.join("\n")}`;
}

export function today(clock: Clock): string {
  return new Date(clock.now()).toISOString().slice(0, 10);
}

/** Answers with the branch that is checked out at a folder. Many agents start at one moment: they share one look. */
export function createBranchReader(
  world: Pick<World, "files" | "clock">,
): (cwd: string) => Promise<string | undefined> {
  const looks = new Map<string, { atMs: number; branch: Promise<string | undefined> }>();
  return (cwd) => {
    const nowMs = world.clock.monotonicMs();
    const last = looks.get(cwd);
    if (last !== undefined && nowMs - last.atMs < freshMs) return last.branch;
    const branch = readBranch(world.files, cwd);
    if (looks.size > mostLooks) looks.clear();
    looks.set(cwd, { atMs: nowMs, branch });
    return branch;
  };
}

const freshMs = 2_000;
/** A session can have agents in many places. */
const mostLooks = 64;

/** From the files themselves: running git in a folder that nobody trusts yet would run what it configures. */
async function readBranch(files: FileSystem, cwd: string): Promise<string | undefined> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const head = await readHead(files, join(folder, ".git"));
    if (head !== undefined)
      return /^ref: refs\/heads\/(.+)$/.exec(head)?.[1] ?? `detached at ${head.slice(0, 12)}`;
    if (dirname(folder) === folder) return undefined;
  }
}

async function readHead(files: FileSystem, git: string): Promise<string | undefined> {
  try {
    // In a worktree `.git` is a file that names the folder.
    const { kind } = await files.stat(git);
    const named = kind === "file" ? /^gitdir: (.+)$/m.exec(await files.readText(git))?.[1] : undefined;
    const folder = named === undefined ? git : resolve(dirname(git), named.trim());
    return firstLine(await files.readText(join(folder, "HEAD")));
  } catch {
    return undefined;
  }
}

function firstLine(text: string): string | undefined {
  const line = text.split("\n", 1)[0]?.trim() ?? "";
  return line.length > 0 && line.length < 300 ? line : undefined;
}
