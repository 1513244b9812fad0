/** What a package.json starts or exports, and where its source is when the build makes the file. */
import { folderOf } from "./languages.ts";
import { type PackageManifest, parsePackage } from "./project-manifests.ts";

interface PackageFile {
  readonly path: string;
  readonly lines: readonly string[];
  /** The files there are; all of them when `complete`. */
  readonly paths: ReadonlySet<string>;
  readonly complete: boolean;
}

interface Entry {
  readonly what: string;
  readonly why: string;
}

const shownExports = 6;

export function packageEntries(file: PackageFile): Entry[] {
  const manifest = parsePackage(file.lines);
  const isNested = folderOf(file.path) !== "";
  // Without a name it only sets how the files beside it are read.
  if (manifest === undefined || (isNested && manifest.name === undefined)) return [];
  const start = manifest.scripts.start;
  const entries = [
    ...manifest.bin.map(([name, target]) => {
      const found = locate(target, { file, manifest });
      return { what: `command \`${name}\` -> ${found.path}`, why: `"bin" in ${file.path}${found.note}` };
    }),
    ...libraryEntries(file, manifest),
    ...(start === undefined ? [] : [{ what: `\`npm start\` -> ${start}`, why: `"scripts" in ${file.path}` }]),
  ];
  return entries.filter((entry, index) => entries.findIndex(({ what }) => what === entry.what) === index);
}

function libraryEntries(file: PackageFile, manifest: PackageManifest): Entry[] {
  const main = manifest.main === undefined ? [] : [{ subpath: ".", targets: [manifest.main], key: "main" }];
  const exported = manifest.exports
    .map(({ subpath, targets }) => ({ subpath, targets: targets.filter(isProgram), key: "exports" }))
    .filter(({ subpath, targets }) => targets.length > 0 && !(main.length > 0 && subpath === "."));
  // Of a package among others its main door is enough.
  const wanted = folderOf(file.path) === "" ? exported : exported.filter(({ subpath }) => subpath === ".");
  const shown = [...main, ...wanted.slice(0, shownExports)].map(({ subpath, targets, key }) => {
    const found = best(targets.map((target) => locate(target, { file, manifest })));
    const name = subpath === "." ? "" : ` for "${manifest.name ?? ""}${subpath.slice(1)}"`;
    return { what: found.path, why: `"${key}" in ${file.path}${name}${found.note}` };
  });
  const more = wanted.length - shownExports;
  return more > 0 ? [...shown, { what: `${more} more exports`, why: `"exports" in ${file.path}` }] : shown;
}

function isProgram(target: string): boolean {
  return !/\.d\.[cm]?ts$|package\.json$|\*/.test(target);
}

interface Located {
  readonly path: string;
  readonly note: string;
}

function best(found: readonly Located[]): Located {
  return found.find(({ note }) => note === "") ?? found[0] ?? { path: "", note: "" };
}

/** The file itself; when it is not there, the source that it is made from. */
function locate(target: string, known: { file: PackageFile; manifest: PackageManifest }): Located {
  const { file, manifest } = known;
  const folder = folderOf(file.path);
  const whole = (name: string) => (folder === "" ? name : `${folder}/${name}`);
  const path = whole(target.replace(/^\.\//, ""));
  const isThere = [path, `${path}.js`, `${path}/index.js`].some((candidate) => file.paths.has(candidate));
  if (isThere || !file.complete) return { path, note: "" };
  const source = sourcesOf(target)
    .map(whole)
    .find((candidate) => file.paths.has(candidate));
  const built = Object.keys(manifest.scripts).some((name) =>
    /^(?:build|prepare|prepack|prepublish)/.test(name),
  );
  if (source !== undefined) return { path: source, note: `; built into ${path}` };
  return { path, note: built ? "; not there, made by the build" : "; not among the files here" };
}

const builtFolder = /^(?:\.\/)?(?:dist|lib|build|out|esm|cjs|output)\/(?:(?:esm|cjs|es|src)\/)?/;

function sourcesOf(target: string): string[] {
  if (!builtFolder.test(target)) return [];
  const stem = target.replace(builtFolder, "").replace(/\.(?:[cm]?js|jsx|[cm]?ts)$/, "");
  const stems = [`src/${stem}`, `src/${stem}/main`, `src/${stem}/index`, stem];
  return stems.flatMap((name) =>
    ["ts", "tsx", "mts", "js", "mjs", "jsx"].map((ending) => `${name}.${ending}`),
  );
}
