/** All files below here, also where one listing does not hold them. */
import { baseNameOf, folderOf } from "./languages.ts";
import type { Asking, Task } from "./playbook.ts";
import { type GlobInput, glob, globAll, type PathList, run, runAll, shellQuoted } from "./tool-calls.ts";

export interface Listing {
  readonly paths: readonly string[];
  readonly total: number;
  /** `paths` are all there are. */
  readonly complete: boolean;
  /** How many files are below a folder, where that is known although `paths` may not hold them all. */
  readonly totals: ReadonlyMap<string, number>;
  /** The tool's complaint, when it failed. */
  readonly problem?: string;
}

/** So many listings are asked for before it is left at a part: about as many files, in thousands. */
const listingLimit = 150;
/** A listing is likely to hold what its folders hold on average. */
const filesPerListing = 600;

export function* listFiles(task: Task, text?: string): Asking<Listing> {
  return yield* listFilesIn("", { task, ...(text === undefined ? {} : { text }) });
}

/** The same for one folder; paths are told from here, not from that folder. */
export function* listFilesIn(folder: string, options: { task: Task; text?: string }): Asking<Listing> {
  const all = yield* glob({ pattern: "**/*", ...(folder === "" ? {} : { path: folder }) }, options.text);
  const total = all.total ?? all.paths.length;
  const start = { paths: all.paths, total, totals: new Map([[folder, total]]) };
  if (all.problem !== undefined) return { ...start, complete: false, problem: all.problem };
  if (all.total === all.paths.length) return { ...start, complete: true };
  return yield* listInParts(folder, { task: options.task, newest: all });
}

interface Part {
  readonly folder: string;
  readonly names: readonly string[];
}

/** Folder by folder: whatever does not fit into one listing is opened, and its parts are listed. */
function* listInParts(top: string, known: { task: Task; newest: PathList }): Asking<Listing> {
  const { task, newest } = known;
  const paths = new Set(newest.paths);
  const total = newest.total ?? paths.size;
  const totals = new Map([[top, total]]);
  const ignored = task.offers("Bash") ? yield* ignoredFolders() : new Set<string>();
  let toOpen = [top];
  let toList: Part[] = [];
  for (let listings = 1; toOpen.length + toList.length > 0 && listings < listingLimit; ) {
    const inside = yield* foldersIn(task, toOpen, [...paths]);
    const parts = [
      ...toList,
      ...toOpen.flatMap((folder, index) =>
        partsOf(
          folder,
          (inside[index] ?? []).filter((name) => !ignored.has(joined(folder, name))),
          totals.get(folder) ?? 0,
        ),
      ),
    ];
    const own = toOpen.map((folder) => ({ pattern: "*", ...(folder === "" ? {} : { path: folder }) }));
    const found = yield* globAll([...own, ...parts.map(patternOf)]);
    listings += found.length;
    for (const list of found) for (const path of list.paths) paths.add(path);
    toOpen = [];
    toList = [];
    for (const [index, part] of parts.entries()) {
      const list = found[own.length + index];
      const isWhole = list?.total === list?.paths.length;
      if (part.names.length === 1) {
        const folder = joined(part.folder, part.names[0] ?? "");
        if (list?.total !== undefined) totals.set(folder, list.total);
        if (!isWhole) toOpen.push(folder);
      } else if (isWhole) countInto(totals, part, list?.paths ?? []);
      else toList.push(...part.names.map((name) => ({ folder: part.folder, names: [name] })));
    }
  }
  return { paths: [...paths], total, complete: paths.size === total, totals };
}

function* ignoredFolders(): Asking<ReadonlySet<string>> {
  const output = yield* run({
    command: "git ls-files --others --ignored --exclude-standard --directory",
    description: "List the folders that git ignores",
  });
  if (output.exitCode !== 0) return new Set();
  const lines = output.text.split("\n").filter((line) => line.endsWith("/"));
  return new Set(lines.map((line) => line.slice(0, -1)));
}

/** The folders right below each of `folders`. Without a shell, those that the known paths tell. */
function* foldersIn(task: Task, folders: readonly string[], known: readonly string[]): Asking<string[][]> {
  if (!task.offers("Bash")) return folders.map((folder) => foldersAmong(known, folder));
  const listings = yield* runAll(
    folders.map((folder) => ({
      command: `ls -1Ap -- ${shellQuoted(folder === "" ? "." : folder)}`,
      description: "List the folders here",
    })),
  );
  return listings.map((listing) =>
    listing.text
      .split("\n")
      .filter((line) => line.endsWith("/") && line !== ".git/")
      .map((line) => line.slice(0, -1)),
  );
}

export function foldersAmong(paths: readonly string[], folder: string): string[] {
  const prefix = folder === "" ? "" : `${folder}/`;
  const names = new Set<string>();
  for (const path of paths) {
    const slash = path.startsWith(prefix) ? path.indexOf("/", prefix.length) : -1;
    if (slash > prefix.length) names.add(path.slice(prefix.length, slash));
  }
  return [...names].sort();
}

function partsOf(folder: string, names: readonly string[], total: number): Part[] {
  const perFolder = Math.max(1, total / Math.max(1, names.length));
  const size = Math.max(1, Math.floor(filesPerListing / perFolder));
  const parts: Part[] = [];
  for (let at = 0; at < names.length; at += size) parts.push({ folder, names: names.slice(at, at + size) });
  return parts;
}

function patternOf({ folder, names }: Part): GlobInput {
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0) return { pattern: "**/*", path: joined(folder, only) };
  const pattern = `{${names.map(escaped).join(",")}}/**/*`;
  return { pattern, ...(folder === "" ? {} : { path: folder }) };
}

function escaped(name: string): string {
  return name.replace(/[*?[\]{}()!@+|\\,]/g, "\\$&");
}

function countInto(totals: Map<string, number>, part: Part, paths: readonly string[]): void {
  for (const name of part.names) totals.set(joined(part.folder, name), 0);
  for (const path of paths) {
    let folder = folderOf(path);
    while (folder !== "" && folderOf(folder) !== part.folder) folder = folderOf(folder);
    if (folder !== "" && part.names.includes(baseNameOf(folder)))
      totals.set(folder, (totals.get(folder) ?? 0) + 1);
  }
}

function joined(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
