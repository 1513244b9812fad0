/** All files below a folder, without what git ignores. For machines that have no search program. */
import { dirname, join, relative, sep } from "node:path";
import type { Ignore } from "ignore";
import { throwIfCancelled } from "../base/cancellation.ts";
import type { FileSystem } from "../base/world.ts";
import type { ToolContext } from "../tools/tool-context.ts";

/** Yields paths relative to `root`, with `/`. Links are not followed; folders that cannot be read are skipped. */
export async function* walkFiles(root: string, context: ToolContext): AsyncGenerator<string> {
  const { files } = context.world;
  const { default: createIgnore } = await import("ignore");
  const loadRules = async (folder: string): Promise<IgnoreRules[]> => {
    const text = await files.readText(join(folder, ".gitignore")).catch(() => undefined);
    return text === undefined ? [] : [{ folder, rules: createIgnore().add(text) }];
  };
  const repository = await findRepository(root, files);
  const above: IgnoreRules[] = [];
  if (repository !== undefined)
    for (const folder of foldersBetween(repository, root)) above.push(...(await loadRules(folder)));
  // A folder that was asked for by name is searched, even if git ignores it.
  const rulesAbove = isIgnored(`${root}/`, above) ? [] : above;
  yield* walk(root, rulesAbove);

  async function* walk(folder: string, inherited: readonly IgnoreRules[]): AsyncGenerator<string> {
    throwIfCancelled(context.signal);
    const rules = repository === undefined ? [] : [...inherited, ...(await loadRules(folder))];
    const entries = await files.readFolder(folder).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.name === ".git") continue;
      if (entry.kind === "folder" && !isIgnored(`${path}/`, rules)) yield* walk(path, rules);
      if (entry.kind === "file" && !isIgnored(path, rules)) yield toSlashes(relative(root, path));
    }
  }
}

interface IgnoreRules {
  readonly folder: string;
  readonly rules: Ignore;
}

/** The rules of a deeper folder win over those above it. */
function isIgnored(path: string, levels: readonly IgnoreRules[]): boolean {
  for (const { folder, rules } of levels.toReversed()) {
    const inFolder = toSlashes(relative(folder, path)) + (path.endsWith("/") ? "/" : "");
    if (inFolder === "/") continue;
    const { ignored, unignored } = rules.test(inFolder);
    if (ignored || unignored) return ignored;
  }
  return false;
}

async function findRepository(start: string, files: FileSystem): Promise<string | undefined> {
  for (let folder = start; ; folder = dirname(folder)) {
    const hasGit = await files.lstat(join(folder, ".git")).then(
      () => true,
      () => false,
    );
    if (hasGit) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** From `top` down to the parent of `bottom`. */
function foldersBetween(top: string, bottom: string): string[] {
  const folders: string[] = [];
  for (let folder = bottom; folder !== top; ) {
    folder = dirname(folder);
    folders.unshift(folder);
  }
  return folders;
}

function toSlashes(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}
