/** The files of the folder and their languages, exact also where a listing is cut. */
import { globOf, type Language, languageOf, languages } from "./languages.ts";
import type { Asking, Task } from "./playbook.ts";
import { glob, globAll, type PathList, run } from "./tool-calls.ts";

export interface Survey {
  /** All files, or the newest ones when there are too many to list. */
  readonly paths: readonly string[];
  readonly total: number;
  readonly complete: boolean;
  readonly rootFiles: readonly string[];
  readonly folders: readonly FolderSurvey[];
  /** Most files first. */
  readonly languages: readonly LanguageCount[];
}

export interface FolderSurvey {
  readonly name: string;
  readonly paths: readonly string[];
  readonly total: number;
}

export interface LanguageCount {
  readonly language: Language;
  readonly count: number;
}

/** The files that say how a project is built. */
export const manifestNames = [
  "package.json",
  "Makefile",
  "makefile",
  "GNUmakefile",
  "justfile",
  "Justfile",
  "Taskfile.yml",
  "pyproject.toml",
  "setup.py",
  "setup.cfg",
  "tox.ini",
  "noxfile.py",
  "pytest.ini",
  "requirements.txt",
  "requirements-dev.txt",
  "dev-requirements.txt",
  "conftest.py",
  "manage.py",
  "Cargo.toml",
  "go.mod",
  "pom.xml",
  "build.gradle",
  "build.gradle.kts",
  "CMakeLists.txt",
  "meson.build",
  "composer.json",
  "phpunit.xml",
  "phpunit.xml.dist",
  "mix.exs",
  "Gemfile",
  "Rakefile",
  ".rspec",
  "deno.json",
  "Dockerfile",
  "build.zig",
  "Package.swift",
  "pubspec.yaml",
  "stack.yaml",
] as const;

export function* surveyFolder(task: Task, text?: string): Asking<Survey> {
  const all = yield* glob({ pattern: "**/*" }, text);
  const complete = all.total === all.paths.length;
  return complete ? surveyOf(all.paths) : yield* surveyLargeFolder(task, all);
}

function surveyOf(paths: readonly string[]): Survey {
  const byFolder = new Map<string, string[]>();
  for (const path of paths) {
    const slash = path.indexOf("/");
    if (slash > 0) entryOf(byFolder, path.slice(0, slash)).push(path);
  }
  const counts = new Map<Language, number>();
  for (const path of paths) {
    const language = languageOf(path);
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return {
    paths,
    total: paths.length,
    complete: true,
    rootFiles: paths.filter((path) => !path.includes("/")).sort(),
    folders: [...byFolder]
      .map(([name, inside]) => ({ name, paths: inside, total: inside.length }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    languages: ranked([...counts].map(([language, count]) => ({ language, count }))),
  };
}

/** One question per language, per folder and for the manifests: each answer says its exact total. */
function* surveyLargeFolder(task: Task, newest: PathList): Asking<Survey> {
  const [rootFiles, manifests, ...perLanguage] = yield* globAll([
    { pattern: "*" },
    { pattern: `**/{${manifestNames.join(",")}}` },
    ...languages.map((language) => ({ pattern: globOf(language) })),
  ]);
  const names = task.offers("Bash") ? yield* listFolders() : foldersIn(newest.paths);
  const inside = yield* globAll(names.map((name) => ({ pattern: "**/*", path: name })));
  const folders = names
    .map((name, index) => ({ name, paths: inside[index]?.paths ?? [], total: totalOf(inside[index]) }))
    .filter((folder) => folder.total > 0);
  const known = new Set([...newest.paths, ...(manifests?.paths ?? []), ...(rootFiles?.paths ?? [])]);
  for (const folder of folders) for (const path of folder.paths) known.add(path);
  return {
    paths: [...known],
    total: newest.total ?? known.size,
    complete: false,
    rootFiles: [...(rootFiles?.paths ?? [])].sort(),
    folders,
    languages: ranked(languages.map((language, index) => ({ language, count: totalOf(perLanguage[index]) }))),
  };
}

function* listFolders(): Asking<string[]> {
  const listing = yield* run({ command: "ls -1Ap", description: "List the folders here" });
  return listing.text
    .split("\n")
    .filter((line) => line.endsWith("/") && line !== ".git/")
    .map((line) => line.slice(0, -1));
}

function foldersIn(paths: readonly string[]): string[] {
  const names = paths.filter((path) => path.includes("/")).map((path) => path.slice(0, path.indexOf("/")));
  return [...new Set(names)].filter((name) => name !== "").sort();
}

function totalOf(list: PathList | undefined): number {
  return list?.total ?? list?.paths.length ?? 0;
}

function ranked(counts: readonly LanguageCount[]): LanguageCount[] {
  return counts
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.language.name < b.language.name ? -1 : 1));
}

function entryOf(map: Map<string, string[]>, key: string): string[] {
  const known = map.get(key);
  if (known !== undefined) return known;
  const fresh: string[] = [];
  map.set(key, fresh);
  return fresh;
}
