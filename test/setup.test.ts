import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const repository = fileURLToPath(new URL("..", import.meta.url));
const { completeLockfile } = (await import(`${repository}scripts/complete-lockfile.mjs`)) as {
  completeLockfile(lockfile: Lockfile): Lockfile;
};

interface Lockfile {
  packages: Record<string, { version?: string; optional?: boolean; optionalDependencies?: object }>;
}

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

describe("the lockfile", () => {
  const text = readFileSync(join(repository, "package-lock.json"), "utf8");
  const lockfile = JSON.parse(text) as Lockfile;

  it("has every platform's binaries, without which npm ci refuses it (npm run lock adds them)", () => {
    const missing = Object.keys(completeLockfile(lockfile).packages).filter(
      (path) => !(path in lockfile.packages),
    );
    expect(missing).toEqual([]);
  });

  it("names no registry", () => {
    expect(text).not.toContain('"resolved"');
  });

  it("gets an entry for a binary that the registry did not have", () => {
    const parent = {
      version: "1.0.0",
      dev: true,
      optionalDependencies: { "@a/cli-linux-arm64-musl": "1.0.0" },
    };
    expect(completeLockfile({ packages: { "node_modules/a": parent } }).packages).toEqual({
      "node_modules/@a/cli-linux-arm64-musl": {
        version: "1.0.0",
        dev: true,
        optional: true,
        os: ["linux"],
        cpu: ["arm64"],
        libc: ["musl"],
      },
      "node_modules/a": parent,
    });
  });

  it("gets no entry for an optional package that is no binary", () => {
    const packages = { "node_modules/a": { version: "1.0.0", optionalDependencies: { other: "^1.0.0" } } };
    expect(() => completeLockfile({ packages })).toThrow("lacks other@^1.0.0");
  });
});

/** A small repository with the real set-up scripts, a dependency in a folder, and a build that copies. */
describe("npm start on a fresh clone", { timeout: 60_000 }, () => {
  let root: string;
  const running: ChildProcess[] = [];

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "cadre setup-"));
    for (const name of ["start.mjs", "setup.mjs", "sources.mjs"]) {
      cpSync(join(repository, "scripts", name), join(root, "scripts", name));
    }
    cpSync(join(repository, ".npmrc"), join(root, ".npmrc"));
    write("scripts/build.mjs", copyingBuild);
    write("dependency/package.json", '{ "name": "dependency", "version": "1.0.0" }');
    write("package.json", JSON.stringify(manifest));
    write("package-lock.json", JSON.stringify(lockfile));
    write("src/cli/main.ts", "console.log(JSON.stringify(process.argv.slice(2)));");
  });

  afterEach(() => {
    for (const child of running.splice(0)) child.kill("SIGKILL");
    rmSync(root, { recursive: true, force: true });
  });

  function write(path: string, text: string): void {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  function run(
    command: string,
    args: string[],
    onOutput?: (text: string, child: ChildProcess) => void,
  ): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const { CI: _, ...env } = process.env;
      const child = spawn(command, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
      running.push(child);
      let stdout = "";
      let stderr = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        stdout += text;
        onOutput?.(text, child);
      });
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        stderr += text;
      });
      child.once("error", reject);
      child.once("close", (code) => resolve({ code, stdout, stderr }));
    });
  }
  const npmStart = (...args: string[]) => run("npm", ["start", "--silent", "--", ...args]);

  it("installs, builds and passes the arguments on, with nothing else on stdout", async () => {
    const { code, stdout, stderr } = await npmStart("-p", 'two words "quoted" $HOME', "");
    expect(JSON.parse(stdout)).toEqual(["-p", 'two words "quoted" $HOME', ""]);
    expect(stdout.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).toContain("cadre: installing dependencies ...\ncadre: building ...\n");
    expect(code).toBe(0);
  });

  it("does so once, and builds again when a source has changed, is new or is gone", async () => {
    await npmStart();
    expect((await npmStart()).stderr).not.toContain("cadre:");

    const built = "cadre: building ...\n";
    write("src/cli/main.ts", 'console.log("changed");');
    expect(await npmStart()).toMatchObject({ stdout: "changed\n", stderr: expect.stringContaining(built) });
    write("src/other.ts", "");
    expect((await npmStart()).stderr).toContain(built);
    rmSync(join(root, "src/other.ts"));
    expect((await npmStart()).stderr).toContain(built);
    write("src/other.test.ts", "");
    expect((await npmStart()).stderr).not.toContain("cadre:");
  });

  it("installs again when the lockfile asks for something else, not when only its time is new", async () => {
    await npmStart();
    utimesSync(join(root, "package-lock.json"), new Date(), new Date(Date.now() + 60_000));
    expect((await npmStart()).stderr).not.toContain("installing");
    rmSync(join(root, "node_modules/dependency"));
    expect((await npmStart()).stderr).toContain("installing");
    write("dependency/package.json", '{ "name": "dependency", "version": "1.0.1" }');
    const packages = { ...lockfile.packages, dependency: { version: "1.0.1" } };
    write("package-lock.json", JSON.stringify({ ...lockfile, packages }));
    expect((await npmStart()).stderr).toContain("installing");
  });

  it("shows what npm says when the install fails", async () => {
    write("package.json", JSON.stringify({ ...manifest, dependencies: { "not-in-the-lockfile": "1.0.0" } }));
    const { code, stdout, stderr } = await npmStart();
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("npm error");
    expect(stderr).toContain("cadre: the dependencies could not be installed");
  });

  it("shows what the build says when it fails, and does not run an old one", async () => {
    await npmStart();
    write("src/cli/main.ts", "broken");
    write("scripts/build.mjs", 'console.error("main.ts: no such name: broken"); process.exit(1);');
    const { code, stdout, stderr } = await npmStart();
    expect(code).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toContain("main.ts: no such name: broken\ncadre: the build failed with exit code 1");
  });

  it("ends with the program's exit code", async () => {
    write("src/cli/main.ts", "process.exitCode = 42;");
    expect((await npmStart()).code).toBe(42);
  });

  it("leaves signals to the program", async () => {
    write(
      "src/cli/main.ts",
      'process.once("SIGTERM", () => process.exit(7)); setInterval(() => {}, 1000); console.log("up");',
    );
    const outcome = await run(process.execPath, ["scripts/start.mjs"], (text, child) => {
      if (text.includes("up")) child.kill("SIGTERM");
    });
    expect(outcome.code).toBe(7);
  });

  it("works twice at the same time, and after one that died in the middle", async () => {
    write(".cadre-setup.json", JSON.stringify({ pid: 2 ** 22 + 1 }));
    const outcomes = await Promise.all([npmStart("a"), npmStart("b")]);
    expect(outcomes.map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, '["a"]\n'],
      [0, '["b"]\n'],
    ]);
    const installs = outcomes.filter(({ stderr }) => stderr.includes("installing"));
    expect(installs).toHaveLength(1);
  });
});

const manifest = {
  name: "fresh",
  version: "1.0.0",
  type: "module",
  scripts: { start: "node scripts/start.mjs" },
  dependencies: { dependency: "file:dependency" },
};

const lockfile = {
  name: "fresh",
  version: "1.0.0",
  lockfileVersion: 3,
  requires: true,
  packages: {
    "": { name: "fresh", version: "1.0.0", dependencies: manifest.dependencies },
    dependency: { version: "1.0.0" },
    "node_modules/dependency": { resolved: "dependency", link: true },
  },
};

const copyingBuild = `
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { fingerprintSources } from "./sources.mjs";
const root = fileURLToPath(new URL("..", import.meta.url));
console.log("noise on stdout");
mkdirSync(root + "dist", { recursive: true });
copyFileSync(root + "src/cli/main.ts", root + "dist/cli.cjs");
writeFileSync(root + "dist/.build.json", JSON.stringify({ sources: fingerprintSources(root) }));
`;
