/** Where the programs of a project begin. */
import { baseNameOf, folderOf, languageOf } from "./languages.ts";
import type { Asking } from "./playbook.ts";
import type { Project } from "./project.ts";
import { parsePackage, parseToml, tomlString } from "./project-manifests.ts";
import type { Survey } from "./survey.ts";
import { type GrepInput, grepAll } from "./tool-calls.ts";

export interface EntryPoint {
  readonly what: string;
  readonly why: string;
}

interface MainPattern extends GrepInput {
  readonly why: string;
  readonly languages: readonly string[];
}

const mainPatterns: readonly MainPattern[] = [
  {
    pattern: "^if __name__ == ['\"]__main__['\"]",
    glob: "*.py",
    why: 'runs under `if __name__ == "__main__"`',
    languages: ["Python"],
  },
  { pattern: "^func main\\(\\)", glob: "*.go", why: "`func main`", languages: ["Go"] },
  {
    pattern: "public static void main\\s*\\(",
    glob: "*.java",
    why: "`public static void main`",
    languages: ["Java"],
  },
  {
    pattern: "^(?:int|void|auto)\\s+main\\s*\\(",
    glob: "*.{c,cc,cpp,cxx}",
    why: "`main`",
    languages: ["C", "C++"],
  },
  {
    pattern: "static (?:async )?(?:void|int|Task|Task<int>) Main\\s*\\(",
    glob: "*.cs",
    why: "`Main`",
    languages: ["C#"],
  },
  { pattern: "^(?:suspend )?fun main\\s*\\(", glob: "*.kt", why: "`fun main`", languages: ["Kotlin"] },
];

export function* findEntryPoints(survey: Survey, project: Project): Asking<EntryPoint[]> {
  const present = new Set(survey.languages.map(({ language }) => language.name));
  const patterns = mainPatterns.filter((pattern) => pattern.languages.some((name) => present.has(name)));
  const found = yield* grepAll(patterns.map(({ pattern, glob }) => ({ pattern, glob })));
  const entries = [
    ...[...project.manifests].flatMap(([path, lines]) => manifestEntries(path, lines, project.paths)),
    ...conventionalEntries([...project.paths]),
    ...patterns.flatMap((pattern, index) =>
      [...new Set((found[index]?.matches ?? []).map((match) => match.path))]
        .sort()
        .map((path) => ({ what: path, why: pattern.why })),
    ),
  ];
  return entries.filter((entry, index) => entries.findIndex(({ what }) => what === entry.what) === index);
}

function manifestEntries(path: string, lines: readonly string[], known: ReadonlySet<string>): EntryPoint[] {
  switch (baseNameOf(path)) {
    case "package.json":
      return packageEntries(path, lines);
    case "pyproject.toml":
      return [...(parseToml(lines).get("project.scripts") ?? [])].map(([name, target]) => ({
        what: `command \`${name}\` -> ${tomlString(target) ?? target}`,
        why: `[project.scripts] in ${path}`,
      }));
    case "Cargo.toml":
      return cargoEntries(path, lines, known);
    case "Dockerfile":
      return lines
        .filter((line) => /^\s*(?:CMD|ENTRYPOINT)\b/i.test(line))
        .slice(-2)
        .map((line) => ({ what: `container: ${line.trim()}`, why: path }));
    default:
      return [];
  }
}

function packageEntries(path: string, lines: readonly string[]): EntryPoint[] {
  const manifest = parsePackage(lines);
  if (manifest === undefined) return [];
  const folder = folderOf(path);
  const inFolder = (target: string) =>
    [folder, target.replace(/^\.\//, "")].filter((part) => part !== "").join("/");
  const start = manifest.scripts.start;
  return [
    ...manifest.bin.map(([name, target]) => ({
      what: `command \`${name}\` -> ${inFolder(target)}`,
      why: `"bin" in ${path}`,
    })),
    ...(manifest.main === undefined ? [] : [{ what: inFolder(manifest.main), why: `"main" in ${path}` }]),
    ...manifest.exports
      .filter((target) => target !== manifest.main && !/\.d\.[cm]?ts$|package\.json$/.test(target))
      .map((target) => ({ what: inFolder(target), why: `"exports" in ${path}` })),
    ...(start === undefined ? [] : [{ what: `\`npm start\` -> ${start}`, why: `"scripts" in ${path}` }]),
  ];
}

function cargoEntries(path: string, lines: readonly string[], known: ReadonlySet<string>): EntryPoint[] {
  const folder = folderOf(path);
  const inFolder = (name: string) => (folder === "" ? name : `${folder}/${name}`);
  const bin = parseToml(lines).get("bin");
  const target = tomlString(bin?.get("path"));
  return [
    ...["src/main.rs", "src/lib.rs"]
      .map(inFolder)
      .filter((file) => known.has(file))
      .map((file) => ({
        what: file,
        why: file.endsWith("main.rs") ? `the binary of ${path}` : `the library of ${path}`,
      })),
    ...[...known]
      .filter((file) => folderOf(file) === inFolder("src/bin") && file.endsWith(".rs"))
      .sort()
      .map((file) => ({ what: file, why: `a binary of ${path}` })),
    ...(target === undefined ? [] : [{ what: inFolder(target), why: `[[bin]] in ${path}` }]),
  ];
}

/** Names that a language itself gives a meaning to. */
function conventionalEntries(paths: readonly string[]): EntryPoint[] {
  return paths
    .filter((path) => baseNameOf(path) === "__main__.py" && languageOf(path) !== undefined)
    .sort()
    .map((path) => ({
      what: path,
      why: `runs with \`python -m ${folderOf(path)
        .replace(/^src\//, "")
        .replaceAll("/", ".")}\``,
    }));
}
