// `npm run build`: bundles the sources into dist/. With `--types` it also writes the declarations, which
// only a package needs.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundleOptions, moduleOptions } from "./bundle.mjs";
import { checkParts, loadedTogether } from "./parts.mjs";
import { fingerprintSources, stampName } from "./sources.mjs";
import { thirdPartyNotices } from "./third-party.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// Made here and then moved into place: whoever starts cadre meanwhile finds the old build or the new one.
const stage = join(dist, `.next-${process.pid}`);

// Before the sources are read: a change during the build must lead to another build.
const sources = fingerprintSources(root);
const [program, library] = await Promise.all([bundleProgram(), bundleLibrary()]);
checkParts(library.metafile);
const outputFiles = [...program.outputFiles, ...library.outputFiles];
const files = new Map(outputFiles.map((file) => [relative(dist, file.path), finish(file)]));
files.set("THIRD-PARTY.txt", thirdPartyNotices(root, library.metafile));
try {
  for (const [path, text] of files) writeStaged(path, text);
  if (process.argv.includes("--types")) makeDeclarations();
  moveIntoPlace(files);
  removeStale(files);
  writeStaged(stampName, `${JSON.stringify({ sources })}\n`);
  renameSync(join(stage, stampName), join(dist, stampName));
} finally {
  rmSync(stage, { recursive: true, force: true });
}

/** The file that is started: CommonJS, because Node sets up its loader of ES modules only when one is asked for. */
function bundleProgram() {
  return build({
    ...bundleOptions({ root, version }),
    entryPoints: { cli: "src/cli/main.ts" },
    outdir: dist,
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    plugins: [{ name: "the-rest-stands-beside-it", setup: leaveCommandLineOutside }],
    write: false,
  });
}

function leaveCommandLineOutside({ onResolve }) {
  onResolve({ filter: /\/command-line\.ts$/ }, () => ({ path: "./command-line.js", external: true }));
}

function bundleLibrary() {
  return build({
    ...moduleOptions({ root, version }),
    entryPoints: {
      "command-line": "src/cli/command-line.ts",
      index: "src/index.ts",
      testing: "src/testing/index.ts",
    },
    outdir: dist,
    plugins: [loadedTogether(root)],
    metafile: true,
    write: false,
  });
}

function finish({ path, text }) {
  if (path === join(dist, "cli.cjs")) return `#!/usr/bin/env node\n${text}`;
  let head = "";
  // Bundled CommonJS packages ask for Node's own modules with `require`, which ES modules do not have.
  if (/\btypeof require\b/.test(text)) {
    head +=
      'import{createRequire as __createRequire}from"node:module";const require=__createRequire(import.meta.url);\n';
  }
  return head + asciiOnly(text);
}

/**
 * A single letter beyond Latin-1 and V8 keeps the whole file at two bytes a letter. esbuild escapes those of strings;
 * what is left stands in comments of packages, and in regular expressions, where the escape means the same.
 */
function asciiOnly(text) {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function writeStaged(path, text) {
  mkdirSync(dirname(join(stage, path)), { recursive: true });
  writeFileSync(join(stage, path), text, { mode: path === "cli.cjs" ? 0o755 : 0o644 });
}

function makeDeclarations() {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const args = [tsc, "-p", "tsconfig.build.json", "--outDir", join(stage, "types")];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error("the declarations could not be made, see above");
  rmSync(join(dist, "types"), { recursive: true, force: true });
  renameSync(join(stage, "types"), join(dist, "types"));
}

/** Chunks first, entry points last. */
function moveIntoPlace(files) {
  const depth = (path) => path.split("/").length;
  for (const path of [...files.keys()].sort((a, b) => depth(b) - depth(a))) {
    mkdirSync(dirname(join(dist, path)), { recursive: true });
    renameSync(join(stage, path), join(dist, path));
  }
}

function removeStale(files) {
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = relative(dist, join(entry.parentPath, entry.name));
    // Declarations are made anew on their own, and what begins with a dot belongs to a build.
    if (entry.isDirectory() || files.has(path) || /^(?:types|\.)/.test(path)) continue;
    rmSync(join(dist, path), { force: true });
  }
}
