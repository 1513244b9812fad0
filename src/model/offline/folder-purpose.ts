/** What a folder is for, as its authors say it. */
import { docOfFile, firstParagraph, firstSentence } from "./doc-comment.ts";
import { baseNameOf, folderOf, isTestFile, languageOf } from "./languages.ts";
import { parsePackage, parseToml, tomlString } from "./project-manifests.ts";
import type { Match } from "./tool-calls.ts";

const tellingNames = [
  "package.json",
  "Cargo.toml",
  "doc.go",
  "__init__.py",
  "mod.rs",
  "lib.rs",
  "index.ts",
  "index.tsx",
  "index.js",
  "mod.ts",
  "package-info.java",
];

/** Files of a folder that may say what it is for, best first. `speaking`: files known to speak of their folder. */
export function tellingFiles(
  folder: string,
  paths: readonly string[],
  speaking: ReadonlyMap<string, string> = new Map(),
): string[] {
  const below = new Set(paths.map((path) => path.slice(folder.length + 1).split("/")[0]));
  const [only, ...others] = below;
  // A folder that holds nothing but one other is what that one is.
  const inOnly = only !== undefined && others.length === 0 ? tellingFilesAt(`${folder}/${only}`, paths) : [];
  const first = speaking.get(folder);
  const found = [...(first === undefined ? [] : [first]), ...tellingFilesAt(folder, paths), ...inOnly];
  return [...new Set(found)].slice(0, 4);
}

function tellingFilesAt(folder: string, paths: readonly string[]): string[] {
  const inside = paths.filter((path) => folderOf(path) === folder);
  const readme = inside.find(isReadme);
  const named = tellingNames.map((name) => inside.find((path) => baseNameOf(path) === name));
  const sources = inside.filter((path) => languageOf(path)?.isCode === true && !isTestFile(path));
  const namesake = sources.find((path) => stemOf(path) === baseNameOf(folder));
  const main = sources.find((path) => stemOf(path) === "main");
  const found = [readme, ...named, namesake, sources.length === 1 ? sources[0] : main];
  return found.filter((path) => path !== undefined);
}

function stemOf(path: string): string {
  return baseNameOf(path).replace(/\.\w+$/, "");
}

export function isReadme(path: string): boolean {
  return /^readme(?:\.(?:md|rst|txt|markdown|adoc|org))?$/i.test(baseNameOf(path));
}

/** What a telling file says, with where it says so. */
export function purposeIn(path: string, lines: readonly string[]): string | undefined {
  const said = saidIn(path, lines);
  const isEmptyPhrase =
    said === undefined ||
    /^(?:dummy|placeholder|intentionally|empty)\b|make this (?:directory|folder) a package/i.test(said);
  if (isEmptyPhrase) return undefined;
  const name = /^[`'"]?((?:[\w.-]+\/)+)[`'"]?:? +/.exec(said);
  const isOfFolder = name?.[1] !== undefined && `/${folderOf(path)}/`.endsWith(`/${name[1]}`);
  const sentence = firstSentence(isOfFolder ? said.slice(name[0].length) : said);
  return `${sentence.replace(/:$/, "")} (${path})`;
}

function saidIn(path: string, lines: readonly string[]): string | undefined {
  if (isReadme(path)) return firstParagraph(lines);
  switch (baseNameOf(path)) {
    case "package.json":
      return parsePackage(lines)?.description;
    case "Cargo.toml":
      return tomlString(parseToml(lines).get("package")?.get("description"));
    default:
      return docOfFile(path, lines);
  }
}

/** For Grep: comments that begin with the name of a folder, such as `// parser/ turns text into trees.` */
export const folderCommentPattern =
  "^\\s*(?://+!?|/\\*+!?|\\*|#+|--|;+|\"\"\"|''')?\\s*[`'\"]?(?:[\\w.-]+/)+[`'\"]?:? +(?:owns|holds|contains|has|keeps|is|are|provides|implements|defines)\\b";

/** The file that speaks of its own folder in such a comment, by folder. */
export function folderCommentFiles(matches: readonly Match[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { path, line, text } of matches) {
    const named = /((?:[\w.-]+\/)+)/.exec(text)?.[1]?.slice(0, -1) ?? "";
    const folder = folderOf(path);
    const isItsOwn = folder === named || folder.endsWith(`/${named}`);
    if (isItsOwn && line <= opening && !files.has(folder)) files.set(folder, path);
  }
  return files;
}

const opening = 12;
