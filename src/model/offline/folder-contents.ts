/** What is in a folder, in one line: kinds of files, and the names that tell most. */
import { groupDigits } from "../../base/group-digits.ts";
import { baseNameOf, extensionOf, isTestFile, languageOf } from "./languages.ts";
import { foldersAmong } from "./list-files.ts";

export interface FolderFiles {
  readonly name: string;
  readonly paths: readonly string[];
  /** How many there are, when `paths` are a part of them. */
  readonly total: number;
}

const shownNames = 6;
const shownFolders = 10;
const shownKinds = 3;

export function contentsOf(folder: FolderFiles): string {
  const inner = foldersAmong(folder.paths, folder.name);
  const parts = kindsOf(folder.paths);
  const shown = parts
    .slice(0, shownKinds)
    .map(({ kind, paths }) => countOf(paths.length, kind) + (inner.length > 0 ? "" : namesOf(paths)));
  const others = parts.slice(shownKinds).reduce((sum, { paths }) => sum + paths.length, 0);
  if (others > 0) shown.push(countOf(others, "other file"));
  const files =
    folder.paths.length < folder.total
      ? `${countOf(folder.total, "file")}, most of them ${parts[0]?.kind ?? "file"}s`
      : shown.join(", ");
  return inner.length === 0 ? files : `${files}; in it: ${listed(inner.map((name) => `${name}/`))}`;
}

function kindsOf(paths: readonly string[]): { kind: string; paths: readonly string[] }[] {
  const byKind = new Map<string, string[]>();
  for (const path of paths) {
    const kind = isTestFile(path) ? "test file" : kindOf(path);
    const known = byKind.get(kind);
    if (known === undefined) byKind.set(kind, [path]);
    else known.push(path);
  }
  return [...byKind]
    .map(([kind, inside]) => ({ kind, paths: inside }))
    .sort(
      (a, b) => rank(b.kind) - rank(a.kind) || b.paths.length - a.paths.length || (a.kind < b.kind ? -1 : 1),
    );
}

function kindOf(path: string): string {
  const language = languageOf(path)?.name;
  const extension = extensionOf(path);
  if (language === undefined) return extension === undefined ? withoutEnding : `.${extension} file`;
  return language.endsWith("file") ? language : `${language} file`;
}

const withoutEnding = "extensionless file";

/** Known languages first, then tests, then what is only known by its ending, then what has none. */
function rank(kind: string): number {
  if (kind === "test file") return 2;
  if (kind === withoutEnding) return 0;
  return kind.startsWith(".") ? 1 : 3;
}

function namesOf(paths: readonly string[]): string {
  const names = [...new Set(paths.map((path) => baseNameOf(path)))].sort();
  return ` (${names.slice(0, shownNames).join(", ")}${names.length > shownNames ? ", …" : ""})`;
}

function listed(names: readonly string[]): string {
  const more = names.length - shownFolders;
  return names.slice(0, shownFolders).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

export function countOf(count: number, noun: string): string {
  const plural = /(?:s|x|ch|sh)$/.test(noun)
    ? `${noun}es`
    : noun.endsWith("ry")
      ? `${noun.slice(0, -1)}ies`
      : `${noun}s`;
  return `${groupDigits(count)} ${count === 1 ? noun : plural}`;
}
