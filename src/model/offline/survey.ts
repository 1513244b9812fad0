/** The files of the folder and their languages. */
import { globOf, type Language, languageOf } from "./languages.ts";
import { foldersAmong, listFiles } from "./list-files.ts";
import type { Asking, Task } from "./playbook.ts";
import { globAll } from "./tool-calls.ts";

export interface Survey {
  /** All files, or a part of them when there are far too many to list. */
  readonly paths: readonly string[];
  readonly total: number;
  readonly complete: boolean;
  readonly rootFiles: readonly string[];
  readonly folders: readonly FolderSurvey[];
  /** Most files first. */
  readonly languages: readonly LanguageCount[];
  /** Why the files could not be listed. */
  readonly problem?: string;
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
  "deno.jsonc",
  "Dockerfile",
  "build.zig",
  "Package.swift",
  "pubspec.yaml",
  "stack.yaml",
] as const;

export function* surveyFolder(task: Task, text?: string): Asking<Survey> {
  const listing = yield* listFiles(task, text);
  const counts = listing.complete ? countLanguages(listing.paths) : yield* countByGlob(listing.paths);
  const names = foldersAmong(listing.paths, "");
  const byFolder = new Map<string, string[]>(names.map((name) => [name, []]));
  for (const path of listing.paths) byFolder.get(path.slice(0, Math.max(0, path.indexOf("/"))))?.push(path);
  return {
    paths: listing.paths,
    total: listing.total,
    complete: listing.complete,
    rootFiles: listing.paths.filter((path) => !path.includes("/")).sort(),
    folders: names.map((name) => {
      const paths = byFolder.get(name) ?? [];
      return {
        name,
        paths,
        total: Math.max(paths.length, (listing.complete ? 0 : listing.totals.get(name)) ?? 0),
      };
    }),
    languages: ranked(counts),
    ...(listing.problem === undefined ? {} : { problem: listing.problem }),
  };
}

function countLanguages(paths: readonly string[]): LanguageCount[] {
  const counts = new Map<Language, number>();
  for (const path of paths) {
    const language = languageOf(path);
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return [...counts].map(([language, count]) => ({ language, count }));
}

/** Exact for every language that is seen among the paths: a listing says its total also when it is cut. */
function* countByGlob(paths: readonly string[]): Asking<LanguageCount[]> {
  const seen = countLanguages(paths);
  const lists = yield* globAll(seen.map(({ language }) => ({ pattern: globOf(language) })));
  return seen.map(({ language, count }, index) => ({
    language,
    count: Math.max(count, lists[index]?.total ?? 0),
  }));
}

function ranked(counts: readonly LanguageCount[]): LanguageCount[] {
  return counts
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || (a.language.name < b.language.name ? -1 : 1));
}
