/** One true line about a folder: what its authors say, else what is in it. */
import { docOfFile, firstParagraph, firstSentence } from "./doc-comment.ts";
import { baseNameOf, extensionOf, folderOf, isTestFile, languageOf } from "./languages.ts";
import { parsePackage, parseToml, tomlString } from "./project-manifests.ts";
import type { FolderSurvey } from "./survey.ts";

/** Files of a folder that may say what it is for, best first. */
export function tellingFiles(folder: FolderSurvey): string[] {
  const atTop = tellingFilesAt(folder.name, folder.paths);
  const below = new Set(folder.paths.map((path) => path.split("/").slice(0, 2).join("/")));
  const [only, ...others] = below;
  // A folder that holds nothing but one other is what that one is.
  const inOnly = only !== undefined && others.length === 0 ? tellingFilesAt(only, folder.paths) : [];
  return [...new Set([...atTop, ...inOnly])].slice(0, 3);
}

const tellingNames = [
  "package.json",
  "Cargo.toml",
  "doc.go",
  "__init__.py",
  "mod.rs",
  "lib.rs",
  "index.ts",
  "index.js",
  "mod.ts",
];

function tellingFilesAt(folder: string, paths: readonly string[]): string[] {
  const inside = paths.filter((path) => folderOf(path) === folder);
  const readme = inside.find((path) => /^readme(?:\.\w+)?$/i.test(baseNameOf(path)));
  const named = tellingNames.map((name) => inside.find((path) => baseNameOf(path) === name));
  const sources = inside.filter((path) => languageOf(path)?.isCode === true);
  const found = [readme, ...named, sources.length === 1 ? sources[0] : undefined];
  return found.filter((path) => path !== undefined);
}

/** What a telling file says, with where it says so. */
export function purposeIn(path: string, lines: readonly string[]): string | undefined {
  const name = baseNameOf(path);
  const said = /^readme/i.test(name)
    ? firstParagraph(lines)
    : name === "package.json"
      ? parsePackage(lines)?.description
      : name === "Cargo.toml"
        ? tomlString(parseToml(lines).get("package")?.get("description"))
        : docOfFile(path, lines);
  return said === undefined ? undefined : `${firstSentence(said)} (${path})`;
}

export function contentsOf(folder: FolderSurvey): string {
  const byKind = new Map<string, string[]>();
  const tests = folder.paths.filter(isTestFile);
  for (const path of folder.paths) {
    if (!isTestFile(path)) byKind.set(kindOf(path), [...(byKind.get(kindOf(path)) ?? []), path]);
  }
  const inner = innerFolders(folder);
  const kinds = [...byKind].sort(
    ([a, aPaths], [b, bPaths]) => rank(b) - rank(a) || bPaths.length - aPaths.length,
  );
  const parts = kinds
    .slice(0, 3)
    .map(
      ([kind, paths]) => `${countOf(paths.length, `${kind} file`)}${inner.length > 0 ? "" : namesOf(paths)}`,
    );
  const others = kinds.slice(3).reduce((sum, [, paths]) => sum + paths.length, 0);
  if (others > 0) parts.push(countOf(others, "other file"));
  if (tests.length > 0) parts.push(countOf(tests.length, "test file"));
  if (inner.length > 0) parts.unshift(`${countOf(inner.length, "folder")}${namesOf(inner)}`);
  return folder.paths.length === folder.total
    ? parts.join("; ")
    : `${folder.total.toLocaleString("en-US")} files; among the ${folder.paths.length.toLocaleString("en-US")} newest: ${parts.join("; ")}`;
}

function kindOf(path: string): string {
  const extension = extensionOf(path);
  return languageOf(path)?.name ?? (extension === undefined ? "other" : `.${extension}`);
}

/** Known languages before what is only known by its ending. */
function rank(kind: string): number {
  return kind.startsWith(".") ? 0 : 1;
}

/** The folders right below, when there are several: their names say more than those of files. */
function innerFolders(folder: FolderSurvey): string[] {
  const below = folder.paths.map((path) => path.slice(folder.name.length + 1));
  const names = new Set(
    below.filter((path) => path.includes("/")).map((path) => path.slice(0, path.indexOf("/"))),
  );
  return names.size > 1 ? [...names] : [];
}

export function countOf(count: number, noun: string): string {
  const plural = /(?:s|x|ch|sh)$/.test(noun)
    ? `${noun}es`
    : noun.endsWith("ry")
      ? `${noun.slice(0, -1)}ies`
      : `${noun}s`;
  return `${count.toLocaleString("en-US")} ${count === 1 ? noun : plural}`;
}

const shownNames = 6;

function namesOf(paths: readonly string[]): string {
  const names = [...new Set(paths.map((path) => baseNameOf(path)))].sort();
  if (names.length === 0) return "";
  const shown = names.slice(0, shownNames).join(", ");
  return ` (${shown}${names.length > shownNames ? ", …" : ""})`;
}
