/** The agents of a plugin: its `agents/` folder and what its manifest names (AD-7, EX-8). */
import { basename, join, resolve } from "node:path";
import { systemCodeOf } from "../base/errors.ts";
import type { FileSystem } from "../base/world.ts";
import { type FoundFile, isInside, isMarkdown, listAgentFiles } from "./definition-folders.ts";
import { type FileContent, type FileMemory, reasonOf } from "./file-memory.ts";

export interface PluginFiles {
  /** Absent: it is broken, and `problems` says how. */
  readonly name?: string;
  readonly found: readonly FoundFile[];
  readonly problems: readonly PluginProblem[];
}

export interface PluginProblem {
  readonly path: string;
  readonly reason: string;
}

/** What of a manifest matters here. */
export type Manifest =
  | { readonly name: string; readonly paths: readonly string[]; readonly problem?: string }
  | { readonly reason: string };

export async function findPluginFiles(options: {
  files: FileSystem;
  folder: string;
  manifests: FileMemory<Manifest>;
}): Promise<PluginFiles> {
  const { files, folder, manifests } = options;
  const broken = (path: string, reason: string) => ({ found: [], problems: [{ path, reason }] });
  let within: string;
  try {
    within = await files.realPath(folder);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return broken(
      folder,
      systemCodeOf(error) === "ENOENT" ? "there is no such plugin folder" : reasonOf(error),
    );
  }
  const found = await findManifest(within, files, manifests);
  if (found === undefined)
    return broken(folder, "it is no plugin: it has no plugin.json and no .claude-plugin/plugin.json");
  const { path: manifestPath, manifest } = found;
  if ("reason" in manifest) return broken(manifestPath, manifest.reason);

  const problems: PluginProblem[] = [];
  const agents = new Map<string, FoundFile>();
  const visited = new Set<string>();
  if (manifest.problem !== undefined) problems.push({ path: manifestPath, reason: manifest.problem });
  const add = (file: FoundFile) => {
    if (!agents.has(file.realPath)) agents.set(file.realPath, file);
  };
  const addFolder = async (path: string): Promise<void> => {
    const listing = await listAgentFiles({ files, path, within, visited });
    listing.found.forEach(add);
    problems.push(...listing.problems);
  };

  await addFolder(join(folder, "agents"));
  for (const written of manifest.paths) {
    const path = resolve(folder, written);
    const target = await locate(files, path, within);
    if ("reason" in target)
      problems.push({ path: manifestPath, reason: `agents: "${written}" ${target.reason}` });
    else if (target.kind === "folder") await addFolder(path);
    else add({ path, realPath: target.realPath, folders: [] });
  }
  return { name: manifest.name, found: [...agents.values()], problems };
}

async function findManifest(
  folder: string,
  files: FileSystem,
  manifests: FileMemory<Manifest>,
): Promise<{ path: string; manifest: Manifest } | undefined> {
  for (const path of [join(folder, ".claude-plugin", "plugin.json"), join(folder, "plugin.json")]) {
    const manifest = await manifests.get({ path, variant: "", make: readManifest });
    if (manifest === undefined) continue;
    const realPath = await files.realPath(path).catch(() => path);
    return {
      path,
      manifest: isInside(realPath, folder) ? manifest : { reason: "it leads out of the plugin" },
    };
  }
  return undefined;
}

function readManifest(content: FileContent): Manifest {
  if ("reason" in content) return content;
  let value: unknown;
  try {
    const text = Buffer.from(content.bytes).toString("utf8");
    value = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return { reason: "it is not valid JSON" };
  }
  const given = typeof value === "object" && value !== null ? value : {};
  const name = "name" in given && typeof given.name === "string" ? given.name.trim() : "";
  if (name === "") return { reason: 'it has no "name"' };
  if (name.includes(":") || name.startsWith("-") || /[\p{Cc}/\\]/u.test(name))
    return { reason: `its name "${name}" holds a character that parts names, or begins with a dash` };
  const agents: unknown = "agents" in given ? given.agents : [];
  const listed: unknown[] = Array.isArray(agents) ? agents : [agents];
  const paths = listed.filter((path) => typeof path === "string");
  const problem = paths.length < listed.length ? '"agents" should be a path or a list of paths' : undefined;
  return { name, paths, ...(problem !== undefined && { problem }) };
}

/** Where a path of the manifest leads. Neither dots nor links bring it out of the plugin. */
async function locate(
  files: FileSystem,
  path: string,
  within: string,
): Promise<{ kind: "file" | "folder"; realPath: string } | { reason: string }> {
  try {
    const realPath = await files.realPath(path);
    if (!isInside(realPath, within)) return { reason: "leads out of the plugin" };
    const { kind } = await files.stat(realPath);
    if (kind === "folder") return { kind, realPath };
    if (kind === "file" && isMarkdown(basename(path))) return { kind, realPath };
    return { reason: "is neither a folder nor an .md file" };
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === undefined) throw error;
    return { reason: code === "ENOENT" || code === "ENOTDIR" ? "does not exist" : reasonOf(error) };
  }
}
