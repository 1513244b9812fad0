/** How the project is built and tested, from the files that say so. What no file says is not claimed. */
import { baseNameOf, folderOf } from "./languages.ts";
import type { Asking } from "./playbook.ts";
import type { FolderView, FoundCommand, ProjectCommand } from "./project-command.ts";
import { otherCommands, pythonCommands } from "./project-conventions.ts";
import { cargoCommands, goCommands, packageCommands } from "./project-manifests.ts";
import { manifestNames, type Survey } from "./survey.ts";
import { readAll } from "./tool-calls.ts";

/** The manifests that were read, by path, and the names of all files known. */
export interface Project {
  readonly manifests: ReadonlyMap<string, readonly string[]>;
  readonly paths: ReadonlySet<string>;
  readonly commands: readonly ProjectCommand[];
}

const nestedManifestLimit = 30;

export function* readProject(survey: Survey, text?: string): Asking<Project> {
  const wanted = manifestsIn(survey.paths);
  const texts = yield* readAll(
    wanted.map((path) => ({ file_path: path })),
    text,
  );
  const manifests = new Map<string, readonly string[]>();
  for (const [index, path] of wanted.entries()) {
    const file = texts[index];
    if (file !== undefined) manifests.set(path, file.lines);
  }
  const paths = new Set(survey.paths);
  return { manifests, paths, commands: commandsOf(manifests, paths) };
}

function manifestsIn(paths: readonly string[]): string[] {
  const names = new Set<string>(manifestNames);
  const depthOf = (path: string) => path.split("/").length;
  const isManifest = (path: string) =>
    names.has(baseNameOf(path)) || /\.(?:csproj|fsproj|slnx?|cabal|gemspec)$/.test(path);
  const found = paths
    .filter((path) => isManifest(path) && depthOf(path) <= 4)
    .filter((path) => !/(?:^|\/)(?:node_modules|vendor|third_party|testdata|fixtures)\//.test(path))
    .sort((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
  const atRoot = found.filter((path) => !path.includes("/"));
  return [...atRoot, ...found.filter((path) => path.includes("/")).slice(0, nestedManifestLimit)];
}

type Finder = (view: FolderView) => FoundCommand[];

const finders: readonly Finder[] = [
  packageCommands,
  pythonCommands,
  cargoCommands,
  goCommands,
  otherCommands,
];

/** The commands of the top folder; only when it has none, those of the folders below. */
function commandsOf(
  manifests: ReadonlyMap<string, readonly string[]>,
  paths: ReadonlySet<string>,
): ProjectCommand[] {
  const folders = [...new Set(["", ...[...manifests.keys()].map(folderOf)])];
  const found = folders.map((folder) => {
    const view = viewOf(folder, { manifests, paths });
    return finders.flatMap((find) => find(view).map((command) => ({ ...command, folder })));
  });
  const [atRoot = [], ...nested] = found;
  return atRoot.some((command) => command.purpose === "test") ? atRoot : [...atRoot, ...nested.flat()];
}

function viewOf(
  folder: string,
  known: { manifests: ReadonlyMap<string, readonly string[]>; paths: ReadonlySet<string> },
): FolderView {
  const prefix = folder === "" ? "" : `${folder}/`;
  return {
    folder,
    lines: (name) => known.manifests.get(prefix + name),
    has: (name) => known.paths.has(prefix + name),
    some: (fits) => [...known.paths].some((path) => path.startsWith(prefix) && fits(path)),
    named: (fits) =>
      [...known.paths]
        .filter((path) => folderOf(path) === folder)
        .map(baseNameOf)
        .sort()
        .find(fits),
  };
}
