/** Which lines import a file, by its name. */
import { posix } from "node:path";
import { baseNameOf, folderOf, type Language, languageOf, languages } from "./languages.ts";
import type { Match } from "./tool-calls.ts";

/** For ripgrep: the lines, in files of the same kind, that import the file; undefined where files are not imported by name. */
export function importerPattern(path: string): { pattern: string; glob: string } | undefined {
  const language = languageOf(path);
  const name = baseNameOf(path).replace(/\.\w+$/, "");
  const isPackage = /^(?:index|__init__|mod)$/.test(name) || language?.name === "Go";
  const stem = (isPackage ? baseNameOf(folderOf(path)) : name).replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = stem === "" ? undefined : importPatterns[language?.name ?? ""]?.(stem);
  return pattern === undefined || language === undefined
    ? undefined
    : { pattern, glob: globForImports(language) };
}

/** A relative address tells which file is meant, whatever others have the same name. */
export function mayImport(match: Match, path: string): boolean {
  const address = /["'](\.{1,2}\/[^"']+)["']/.exec(match.text)?.[1];
  if (address === undefined) return true;
  const meant = posix.join(folderOf(match.path), address);
  const withoutEnding = (name: string) => name.replace(/(?:\/index)?\.(?:[cm]?[jt]sx?|vue|svelte)$/, "");
  return withoutEnding(meant) === withoutEnding(path);
}

const scriptImport = (stem: string) =>
  `(?:\\bfrom|\\bimport|\\brequire\\s*\\()\\s*\\(?\\s*["'](?:[^"']*/)?${stem}(?:/index)?(?:\\.[cm]?[jt]sx?|\\.vue|\\.svelte)?["']`;
const cImport = (stem: string) => `^\\s*#\\s*include\\s*[<"](?:[^>"]*/)?${stem}\\.h\\w*[>"]`;
const jvmImport = (stem: string) => `^\\s*import\\s+(?:static\\s+)?[\\w.]*\\b${stem}\\b`;

const importPatterns: Readonly<Record<string, (stem: string) => string>> = {
  TypeScript: scriptImport,
  JavaScript: scriptImport,
  Vue: scriptImport,
  Svelte: scriptImport,
  Python: (stem) =>
    `^\\s*(?:from\\s+[\\w.]*\\b${stem}(?:\\.[\\w.]+)?\\s+import\\b|from\\s+[\\w.]+\\s+import\\s+[^#]*\\b${stem}\\b|import\\s+[^#]*\\b${stem}\\b)`,
  Go: (stem) => `^(?:import\\s+|\\s+)(?:[\\w.]+\\s+)?"(?:[^"]*/)?${stem}"`,
  Rust: (stem) => `^\\s*(?:pub(?:\\([^)]*\\))?\\s+)?(?:mod|use)\\s[^;]*\\b${stem}\\b`,
  C: cImport,
  "C++": cImport,
  "C or C++ header": cImport,
  Java: jvmImport,
  Kotlin: jvmImport,
  Scala: jvmImport,
  Ruby: (stem) => `^\\s*(?:require|require_relative|load)\\s*\\(?["'](?:[^"']*/)?${stem}(?:\\.rb)?["']`,
  PHP: (stem) => `^\\s*use\\s+[^;]*\\b${stem}\\b|\\b(?:require|include)(?:_once)?\\b[^;]*\\b${stem}\\.php\\b`,
  Shell: (stem) => `^\\s*(?:source|\\.)\\s+\\S*\\b${stem}\\b`,
};

const scripts = ["TypeScript", "JavaScript", "Vue", "Svelte"];
const cFamily = ["C", "C++", "C or C++ header"];
const jvm = ["Java", "Kotlin", "Scala"];

/** Languages that import each other's files. */
function globForImports(language: Language): string {
  const family = [scripts, cFamily, jvm].find((names) => names.includes(language.name)) ?? [language.name];
  const endings = languages
    .filter(({ name }) => family.includes(name))
    .flatMap(({ extensions }) => extensions);
  return endings.length === 1 ? `*.${endings[0]}` : `*.{${endings.join(",")}}`;
}
