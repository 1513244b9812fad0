/** Where the programs of a project begin. */
import { baseNameOf, folderOf, isTestFile, languageOf } from "./languages.ts";
import { packageEntries } from "./package-entries.ts";
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
    pattern: "(?:public static|static public) void main\\s*\\(",
    glob: "*.java",
    why: "`public static void main`",
    languages: ["Java"],
  },
  {
    pattern: "^(?:(?:int|void|auto)\\s+)?main\\s*\\(",
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
  { pattern: "^(?:void |Future<void> )?main\\s*\\(", glob: "*.dart", why: "`main`", languages: ["Dart"] },
  { pattern: "^main\\s*::", glob: "*.hs", why: "`main`", languages: ["Haskell"] },
  { pattern: "^pub fn main\\s*\\(", glob: "*.zig", why: "`pub fn main`", languages: ["Zig"] },
  {
    pattern: "\\bdef main\\s*\\(\\s*args\\b|\\bextends App\\b|^@main\\b",
    glob: "*.scala",
    why: "`main`",
    languages: ["Scala"],
  },
];

/** Files with the same sign, beyond this many, are told as a number. */
const filesPerSign = 8;

export function* findEntryPoints(survey: Survey, project: Project): Asking<EntryPoint[]> {
  const present = new Set(survey.languages.map(({ language }) => language.name));
  const patterns = mainPatterns.filter((pattern) => pattern.languages.some((name) => present.has(name)));
  const found = yield* grepAll(patterns.map(({ pattern, glob }) => ({ pattern, glob })));
  const stated = [
    ...collapsed(
      [...project.manifests].map(([path, lines]) => ({
        folder: folderOf(path),
        entries: manifestEntries(path, lines, { survey, project }),
      })),
    ),
    ...conventionalEntries([...project.paths]),
  ];
  const known = new Set(stated.map(({ what }) => what));
  const signed = patterns.flatMap((pattern, index) => {
    const { matches = [], cut = false } = found[index] ?? {};
    const files = [...new Set(matches.map((match) => match.path))].filter((path) => !known.has(path));
    return entriesBySign(files, { why: pattern.why, cut });
  });
  const entries = [...stated, ...signed];
  return entries.filter((entry, index) => entries.findIndex(({ what }) => what === entry.what) === index);
}

/** Of this many folders on, what is the same in each is told once. */
const alikeFolders = 4;

/** Packages of one repository are usually built alike. */
function collapsed(found: readonly { folder: string; entries: readonly EntryPoint[] }[]): EntryPoint[] {
  const alike = new Map<string, number>();
  const shapeOf = (folder: string, { what, why }: EntryPoint): EntryPoint => {
    const relative = (text: string) => (folder === "" ? text : text.replaceAll(`${folder}/`, ""));
    return { what: relative(what), why: relative(why) };
  };
  const all = found.flatMap(({ folder, entries }) =>
    entries.map((entry) => {
      const shape = shapeOf(folder, entry);
      const key = `${folder === "" ? "top" : "below"} ${shape.what} ${shape.why}`;
      alike.set(key, (alike.get(key) ?? 0) + 1);
      return { entry, shape, key };
    }),
  );
  const told = new Set<string>();
  return all.flatMap(({ entry, shape, key }) => {
    const count = alike.get(key) ?? 0;
    if (count < alikeFolders) return [entry];
    if (told.has(key)) return [];
    told.add(key);
    return [{ what: `${shape.what} in ${count} packages`, why: shape.why }];
  });
}

/** The files nearest to the top; a test program is none to begin with. */
function entriesBySign(paths: readonly string[], sign: { why: string; cut: boolean }): EntryPoint[] {
  const depthOf = (path: string) => path.split("/").length;
  const files = paths
    .filter((path) => !isTestFile(path))
    .sort((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
  const shown = files.slice(0, filesPerSign).map((path) => ({ what: path, why: sign.why }));
  const more = files.length - shown.length;
  if (more > 0) shown.push({ what: `${sign.cut ? "at least " : ""}${more} more files`, why: sign.why });
  return shown;
}

function manifestEntries(
  path: string,
  lines: readonly string[],
  known: { survey: Survey; project: Project },
): EntryPoint[] {
  const { paths } = known.project;
  switch (baseNameOf(path)) {
    case "package.json":
      return packageEntries({ path, lines, paths, complete: known.survey.complete });
    case "composer.json":
      return (parsePackage(lines)?.bin ?? []).map(([, target]) => {
        const file = inFolder(path, target);
        const missing = known.survey.complete && !paths.has(file) ? "; not among the files here" : "";
        return { what: file, why: `"bin" in ${path}${missing}` };
      });
    case "pyproject.toml":
      return pythonScripts(path, lines);
    case "Cargo.toml":
      return cargoEntries(path, lines, paths);
    case "CMakeLists.txt":
      return cmakeEntries(path, lines);
    case "Dockerfile":
      return lines
        .filter((line) => /^\s*(?:CMD|ENTRYPOINT)\b/i.test(line))
        .slice(-2)
        .map((line) => ({ what: `container: ${line.trim()}`, why: path }));
    default:
      if (path.endsWith(".csproj")) return dotnetEntries(path, lines, paths);
      return path.endsWith(".gemspec") ? gemEntries(path, paths) : [];
  }
}

function pythonScripts(path: string, lines: readonly string[]): EntryPoint[] {
  const toml = parseToml(lines);
  return ["project.scripts", "tool.poetry.scripts"].flatMap((section) =>
    [...(toml.get(section) ?? [])].map(([name, target]) => ({
      what: `command \`${name}\` -> ${tomlString(target) ?? target}`,
      why: `[${section}] in ${path}`,
    })),
  );
}

function cargoEntries(path: string, lines: readonly string[], known: ReadonlySet<string>): EntryPoint[] {
  const folder = folderOf(path);
  const binaries = [...lines.join("\n").matchAll(/^\[\[bin\]\]([^[]*)/gm)].flatMap((section) => {
    const target = tomlString(
      parseToml((section[1] ?? "").split("\n"))
        .get("")
        ?.get("path"),
    );
    return target === undefined ? [] : [{ what: inFolder(path, target), why: `[[bin]] in ${path}` }];
  });
  return [
    ...["src/main.rs", "src/lib.rs"]
      .map((file) => inFolder(path, file))
      .filter((file) => known.has(file))
      .map((file) => ({
        what: file,
        why: file.endsWith("main.rs") ? `the binary of ${path}` : `the library of ${path}`,
      })),
    ...[...known]
      .filter(
        (file) =>
          file.endsWith(".rs") && folderOf(file) === (folder === "" ? "src/bin" : `${folder}/src/bin`),
      )
      .sort()
      .map((file) => ({ what: file, why: `a binary of ${path}` })),
    ...binaries,
  ];
}

function cmakeEntries(path: string, lines: readonly string[]): EntryPoint[] {
  if (/(?:^|\/)tests?\//.test(path)) return [];
  const text = lines.map((line) => line.replace(/#.*/, "")).join("\n");
  const names = [...text.matchAll(/\badd_executable\s*\(\s*([\w.+-]+)/gi)].map((match) => match[1] ?? "");
  const why = `add_executable in ${path}`;
  const shown = names.slice(0, filesPerSign).map((name) => ({ what: `program \`${name}\``, why }));
  const more = names.length - shown.length;
  return more > 0 ? [...shown, { what: `${more} more programs`, why }] : shown;
}

function dotnetEntries(path: string, lines: readonly string[], known: ReadonlySet<string>): EntryPoint[] {
  const isProgram = lines.some((line) =>
    /<OutputType>\s*(?:Win)?Exe\s*<|Sdk="Microsoft\.NET\.Sdk\.Web"/i.test(line),
  );
  if (!isProgram) return [];
  const start = inFolder(path, "Program.cs");
  return [{ what: known.has(start) ? start : `program ${path}`, why: `${path} makes a program` }];
}

/** What a gem installs as commands lies, by habit, in exe/ or bin/. */
function gemEntries(path: string, known: ReadonlySet<string>): EntryPoint[] {
  const folder = [...known].some((file) => folderOf(file) === inFolder(path, "exe")) ? "exe" : "bin";
  return [...known]
    .filter((file) => folderOf(file) === inFolder(path, folder))
    .sort()
    .map((file) => ({ what: file, why: `a command of ${path}, by its folder` }));
}

/** Names that a language or a web server itself gives a meaning to. */
function conventionalEntries(paths: readonly string[]): EntryPoint[] {
  const modules = paths
    .filter((path) => baseNameOf(path) === "__main__.py" && languageOf(path) !== undefined)
    .filter((path) => !isTestFile(path) && path.includes("/"))
    .sort()
    .map((path) => ({
      what: path,
      why: `runs with \`python -m ${folderOf(path)
        .replace(/^src\//, "")
        .replaceAll("/", ".")}\``,
    }));
  const pages = ["index.html", "public/index.html", "public/index.php", "index.php"]
    .filter((path) => paths.includes(path))
    .map((path) => ({ what: path, why: "the page that a web server shows first" }));
  return [...modules, ...pages];
}

export function inFolder(manifest: string, target: string): string {
  const folder = folderOf(manifest);
  const path = target.replace(/^\.\//, "");
  return folder === "" ? path : `${folder}/${path}`;
}
