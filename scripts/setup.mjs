// Gets a fresh clone ready, with nothing but Node and npm: dependencies, then the build.
// It says what it does on stderr; stdout belongs to the program that is started afterwards.
import { spawnSync } from "node:child_process";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fingerprintSources, readBuildStamp } from "./sources.mjs";

export const root = fileURLToPath(new URL("..", import.meta.url));

export class SetupError extends Error {}

/** Dependencies as the lockfile has them, and a build that is no older than the sources. */
export function prepare() {
  checkNode();
  if (installIsCurrent(root) && buildIsCurrent(root)) return;
  withLock(() => {
    if (!installIsCurrent(root)) install();
    if (!buildIsCurrent(root)) build();
  });
}

/** Runs `task`, and shows a failed set-up as one message instead of a stack. */
export async function orExplain(task) {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    process.exit(1);
  }
}

export function say(text) {
  process.stderr.write(`cadre: ${text}\n`);
}

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new SetupError(`needs Node 20.19 or newer, this is ${process.versions.node}. See https://nodejs.org`);
}

/**
 * npm keeps a list of what it installed. Comparing it with the lockfile finds a missing, an interrupted
 * and an outdated install alike; file times would not, since git sets them as it likes.
 */
export function installIsCurrent(folder) {
  const wanted = readPackages(join(folder, "package-lock.json"));
  const found = readPackages(join(folder, "node_modules", ".package-lock.json"));
  if (wanted === undefined || found === undefined) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === "") return true;
    const installed = found[path];
    // Optional packages are binaries for other platforms.
    if (installed === undefined) return entry.optional === true;
    return (
      installed.version === entry.version &&
      installed.integrity === entry.integrity &&
      existsSync(join(folder, path, "package.json"))
    );
  });
}

function readPackages(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8")).packages;
  } catch {
    return undefined;
  }
}

function install() {
  say("installing dependencies ...");
  const options = ["--loglevel=error", "--no-audit", "--no-fund", "--include=dev"];
  const result = runNpm(["ci", ...options]);
  if (result.status === 0) return;
  process.stderr.write(result.output);
  throw new SetupError(
    `the dependencies could not be installed: \`npm ci\` in ${root} ${endOf(result)}. ` +
      "Its messages are above; it needs to reach the npm registry.",
  );
}

export function buildIsCurrent(folder) {
  return existsSync(join(folder, "dist", "cli.cjs")) && readBuildStamp(folder) === fingerprintSources(folder);
}

function build() {
  say("building ...");
  const result = runQuietly(process.execPath, [join(root, "scripts", "build.mjs")]);
  if (result.status === 0) return;
  process.stderr.write(result.output);
  throw new SetupError(`the build ${endOf(result)}. Its messages are above.`);
}

function runNpm(args) {
  // Under `npm start` this is the npm that the user called.
  const npm = process.env.npm_execpath;
  if (npm !== undefined && /\.c?js$/.test(npm)) return runQuietly(process.execPath, [npm, ...args]);
  return runQuietly("npm", args, { shell: process.platform === "win32" });
}

function runQuietly(command, args, options = {}) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  const failure = result.error === undefined ? "" : `${result.error.message}\n`;
  return { ...result, output: `${result.stdout ?? ""}${result.stderr ?? ""}${failure}` };
}

function endOf({ status, signal }) {
  return status === null ? `ended by ${signal ?? "an error"}` : `failed with exit code ${status}`;
}

/** Two starts at once on a fresh clone would install into the same folder. */
function withLock(work) {
  const path = join(root, ".cadre-setup.json");
  while (!tryLock(path)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  try {
    work();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryLock(path) {
  const draft = `${path}.${process.pid}`;
  try {
    // Linked, not written in place: whoever finds the lock finds its owner in it.
    writeFileSync(draft, JSON.stringify({ pid: process.pid }));
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") {
      throw new SetupError(
        `cannot write ${path} (${error.code}). The set-up needs a folder it may write to.`,
      );
    }
    if (!ownerIsAlive(path)) rmSync(path, { force: true });
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

function ownerIsAlive(path) {
  try {
    process.kill(JSON.parse(readFileSync(path, "utf8")).pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
