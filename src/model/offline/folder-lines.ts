/** A line for each top folder, and for the folders in it where only these say what they are for. */
import { contentsOf } from "./folder-contents.ts";
import { folderCommentFiles, folderCommentPattern, purposeIn, tellingFiles } from "./folder-purpose.ts";
import { foldersAmong } from "./list-files.ts";
import type { Asking } from "./playbook.ts";
import type { Survey } from "./survey.ts";
import { type FileText, grep, readAll } from "./tool-calls.ts";

export interface FolderLine {
  readonly name: string;
  /** 0 for a top folder. */
  readonly depth: 0 | 1;
  readonly text: string;
  /** More that is known of it, a line each. */
  readonly facts?: readonly string[];
}

interface Folder {
  readonly name: string;
  readonly paths: readonly string[];
  readonly total: number;
  readonly telling: readonly string[];
}

export const folderLimit = 40;
/** A longer list of folders in a folder is better told by their names. */
const innerLimit = 24;
const headLines = 40;
const headLimit = 200;

/** `packages`: folders that are told elsewhere, so that here their number is enough. */
export function* describeFolders(survey: Survey, packages: ReadonlySet<string>): Asking<FolderLine[]> {
  const { matches } = yield* grep({ pattern: folderCommentPattern });
  const speaking = folderCommentFiles(matches);
  const known = (name: string, paths: readonly string[], total: number): Folder => {
    return { name, paths, total, telling: tellingFiles(name, paths, speaking) };
  };
  const top = survey.folders.slice(0, folderLimit).map(({ name, paths, total }) => ({
    ...known(name, paths, total),
    inner: foldersAmong(paths, name).map((inner) => {
      const whole = `${name}/${inner}`;
      const inside = paths.filter((path) => path.startsWith(`${whole}/`));
      return known(whole, inside, inside.length);
    }),
  }));
  const wanted = [...top, ...top.flatMap(({ inner }) => (inner.length <= innerLimit ? inner : []))];
  const heads = yield* readHeads(wanted.flatMap(({ telling }) => telling));
  return top.flatMap((folder) => linesOf(folder, { heads, complete: survey.complete, packages }));
}

function* readHeads(paths: readonly string[]): Asking<ReadonlyMap<string, FileText>> {
  const wanted = [...new Set(paths)].slice(0, headLimit);
  const texts = yield* readAll(wanted.map((path) => ({ file_path: path, limit: headLines })));
  const heads = new Map<string, FileText>();
  for (const [index, path] of wanted.entries()) {
    const text = texts[index];
    if (text !== undefined) heads.set(path, text);
  }
  return heads;
}

function linesOf(
  folder: Folder & { inner: readonly Folder[] },
  known: { heads: ReadonlyMap<string, FileText>; complete: boolean; packages: ReadonlySet<string> },
): FolderLine[] {
  const { name, inner } = folder;
  const own = purposeOf(folder, known.heads);
  if (own !== undefined) return [{ name, depth: 0, text: own }];
  const purposes = inner.map((one) => purposeOf(one, known.heads));
  const tellsEnough = known.complete && inner.length > 1 && inner.length <= innerLimit;
  const text = contentsOf(folder);
  const inPackages = inner.filter((one) => known.packages.has(one.name)).length;
  if (inPackages > inner.length / 2)
    return [{ name, depth: 0, text: text.replace(innerNames, `; ${inPackages} packages, told below`) }];
  if (!tellsEnough || purposes.every((purpose) => purpose === undefined)) return [{ name, depth: 0, text }];
  return [
    { name, depth: 0, text: text.replace(innerNames, "") },
    ...inner.map((one, index): FolderLine => {
      const shortName = one.name.slice(name.length + 1);
      return { name: shortName, depth: 1, text: purposes[index] ?? contentsOf(one) };
    }),
  ];
}

/** Of a line of contents: the names of the folders in it. */
export const innerNames = /; in it: .*$/;

function purposeOf(folder: Folder, heads: ReadonlyMap<string, FileText>): string | undefined {
  for (const path of folder.telling) {
    const purpose = purposeIn(path, heads.get(path)?.lines ?? []);
    if (purpose !== undefined) return purpose;
  }
  return undefined;
}
