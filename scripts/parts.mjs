// How the program is divided into files: see docs/decisions/008. Node pays for every file that it loads, and esbuild
// makes a file of its own for every set of modules that is reached from the same parts; a part is an entry point, or
// what is loaded by `import()`. So each part begins with what is in memory anyway when it is loaded: those modules
// are then reached from the same parts, and come in one file.
import { join, relative, resolve } from "node:path";

/** Before every part. */
const commandLine = "src/cli/command-line.ts";

/** Commands that read what sessions left, for which the whole of a run would be too much. They come together. */
const lookups = ["doctor", "sessions", "tasks", "tasks-list", "tasks-output", "tasks-show", "tasks-stop"].map(
  (name) => `src/cli/commands/${name}.ts`,
);

/** Before every other part: they belong to a run, or need most of what it needs. */
const run = "src/cli/commands/run.ts";

/** The modules of the command line, those that a run shares with the lookups, its own, its exports, and `Headers`. */
const filesOfRun = 5;

/** A plugin for esbuild. */
export function loadedTogether(root) {
  const sources = join(root, "src/");
  return {
    name: "loaded-together",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\..*\.ts$/ }, ({ kind, path, importer, resolveDir }) => {
        if (kind !== "entry-point" && kind !== "dynamic-import") return undefined;
        if (kind === "dynamic-import" && !importer.startsWith(sources)) return undefined;
        // Relative: it is written into the output.
        const part = relative(root, resolve(resolveDir, path)).replaceAll("\\", "/");
        return part === commandLine ? undefined : { path: part, namespace: "part" };
      });
      onLoad({ filter: /^/, namespace: "part" }, ({ path }) => {
        const before = [commandLine, ...(lookups.includes(path) ? lookups : [run])];
        const imports = before.map((module) => `import "./${module}";\n`).join("");
        return { contents: `${imports}export * from "./${path}";\n`, resolveDir: root };
      });
    },
  };
}

/** All of this rests on how esbuild divides. When that changes, the build fails instead of becoming slow. */
export function checkParts({ inputs, outputs }) {
  const start = Object.keys(outputs).find((path) => outputs[path].entryPoint === `part:${run}`);
  const files = start === undefined ? [] : [...loadedWith(start, outputs)];
  if (files.length !== filesOfRun) {
    const lines = files.map(
      (path) => `  ${path}: ${Object.keys(outputs[path].inputs).slice(0, 3).join(", ")} ...`,
    );
    throw new Error(
      `A run begins with ${files.length} files instead of ${filesOfRun} (docs/decisions/008):\n${lines.join("\n")}`,
    );
  }
  for (const module of Object.keys(inputs)) {
    const holders = Object.keys(outputs).filter((path) => outputs[path].inputs[module]?.bytesInOutput > 0);
    if (holders.length > 1) throw new Error(`${module} exists more than once: in ${holders.join(" and ")}`);
  }
}

function loadedWith(path, outputs, files = new Set()) {
  if (files.has(path) || outputs[path] === undefined) return files;
  files.add(path);
  for (const { kind, path: imported } of outputs[path].imports) {
    if (kind === "import-statement") loadedWith(imported, outputs, files);
  }
  return files;
}
