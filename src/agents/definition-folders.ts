/** Which folders hold agent files, and which files those are (AD-5). */
import { dirname, join, sep } from "node:path";
import { systemCodeOf } from "../base/errors.ts";
import type { FileSystem, World } from "../base/world.ts";
import type { AgentSource } from "../contracts/agent-definition.ts";
import { reasonOf } from "./file-memory.ts";

export interface AgentFolder {
  readonly source: AgentSource;
  readonly path: string;
}

/** Weakest first. Nothing says that they exist. */
export async function agentFolders(options: {
  world: Pick<World, "files" | "homeFolder">;
  cwd: string;
  policyFolder?: string;
}): Promise<AgentFolder[]> {
  const { world, cwd, policyFolder } = options;
  const project = await projectFolders(world.files, cwd);
  return [
    ...agentFoldersIn(world.homeFolder, "user"),
    ...project.toReversed().flatMap((folder) => agentFoldersIn(folder, "project")),
    ...(policyFolder === undefined
      ? []
      : [{ source: "policy" as const, path: join(policyFolder, "agents") }]),
  ];
}

/** Of the same place, the `.cadre` one wins. */
function agentFoldersIn(folder: string, source: AgentSource): AgentFolder[] {
  return [".claude", ".cadre"].map((name) => ({ source, path: join(folder, name, "agents") }));
}

/** From `cwd` up to the root of its repository. Without one, nobody knows where the project ends. */
async function projectFolders(files: FileSystem, cwd: string): Promise<string[]> {
  const folders = [cwd];
  for (let folder = cwd; dirname(folder) !== folder; ) {
    folder = dirname(folder);
    folders.push(folder);
  }
  const isRoot = await Promise.all(folders.map((folder) => isThere(files, join(folder, ".git"))));
  const root = isRoot.indexOf(true);
  return root < 0 ? [cwd] : folders.slice(0, root + 1);
}

export interface FoundFile {
  readonly path: string;
  /** The same file reached twice counts once. */
  readonly realPath: string;
  /** Between the folder that was searched and the file. */
  readonly folders: readonly string[];
}

export interface FolderListing {
  readonly found: readonly FoundFile[];
  /** What could not be looked into. */
  readonly problems: readonly { readonly path: string; readonly reason: string }[];
}

/** Someone who links to the root of a disk does not mean all of it. */
const maxFolders = 2000;
const maxDepth = 16;

/** All `.md` files below a folder, links followed. A folder that is not there is empty. */
export async function listAgentFiles(options: {
  files: FileSystem;
  path: string;
  /** What lies outside of this (resolved) folder is refused. */
  within?: string;
  /** Folders (resolved) that were looked into already. */
  visited?: Set<string>;
}): Promise<FolderListing> {
  const { files, within, visited = new Set() } = options;
  const found: FoundFile[] = [];
  const problems: { path: string; reason: string }[] = [];

  const visit = async (path: string, realPath: string, folders: readonly string[]): Promise<void> => {
    if (visited.has(realPath)) return;
    if (visited.size >= maxFolders || folders.length > maxDepth) {
      problems.push({ path, reason: "there are too many folders; what is in it was not read" });
      return;
    }
    visited.add(realPath);
    const entries = await files.readFolder(realPath);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      const child = join(path, entry.name);
      const isLink = entry.kind === "link";
      // The names of links tell nothing about where they lead.
      if (!isLink && entry.kind !== "folder" && !isMarkdown(entry.name)) continue;
      await attempt(child, async () => {
        const real = isLink ? await files.realPath(child) : join(realPath, entry.name);
        const kind = isLink ? (await files.stat(real)).kind : entry.kind;
        if (kind !== "folder" && !isMarkdown(entry.name)) return;
        if (within !== undefined && !isInside(real, within))
          problems.push({ path: child, reason: "it leads out of the plugin" });
        else if (kind === "folder") await visit(child, real, [...folders, entry.name]);
        else found.push({ path: child, realPath: real, folders });
      });
    }
  };
  const attempt = async (path: string, look: () => Promise<void>): Promise<void> => {
    try {
      await look();
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === undefined) throw error;
      if (code !== "ENOENT") problems.push({ path, reason: reasonOf(error) });
      else if (await isThere(files, path)) problems.push({ path, reason: "the link leads nowhere" });
    }
  };

  await attempt(options.path, async () => {
    const realPath = await files.realPath(options.path);
    if (within !== undefined && !isInside(realPath, within))
      problems.push({ path: options.path, reason: "it leads out of the plugin" });
    else await visit(options.path, realPath, []);
  });
  return { found: withoutRepeats(found), problems };
}

function isThere(files: FileSystem, path: string): Promise<boolean> {
  return files.lstat(path).then(
    () => true,
    () => false,
  );
}

export function isMarkdown(name: string): boolean {
  return /\.md$/i.test(name);
}

/** Both resolved. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function withoutRepeats(found: readonly FoundFile[]): FoundFile[] {
  const seen = new Set<string>();
  return found.filter(({ realPath }) => !seen.has(realPath) && seen.add(realPath));
}
