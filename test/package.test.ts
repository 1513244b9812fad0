import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const repository = fileURLToPath(new URL("..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { version: string };

/** Packed, installed into an empty folder of a user with an empty home, and used there. */
describe("the package", { timeout: 120_000 }, () => {
  let folder: string;
  let project: string;
  let cadre: string;
  let packed: { filename: string; size: number; files: { path: string; mode: number }[] };
  let env: Record<string, string>;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "cadre-package-"));
    project = join(folder, "project");
    cadre = join(project, "node_modules/.bin/cadre");
    for (const path of [project, join(folder, "home")]) mkdirSync(path);
    const cache = execFileSync("npm", ["config", "get", "cache"], {
      cwd: repository,
      encoding: "utf8",
    }).trim();
    // Nothing of this machine but the way to the registry, and what npm has already fetched from it.
    env = {
      ...Object.fromEntries(
        Object.entries(process.env).filter(([name]) =>
          /^(PATH|.*_proxy|NODE_EXTRA_CA_CERTS|npm_config_registry)$/i.test(name),
        ),
      ),
      HOME: join(folder, "home"),
      npm_config_cache: cache,
    } as Record<string, string>;
    const output = execFileSync("npm", ["pack", "--json", "--pack-destination", folder], {
      cwd: repository,
      encoding: "utf8",
      env: { ...process.env, CI: "true" },
    });
    packed = firstPackage(JSON.parse(output));
    writeFileSync(join(project, "package.json"), '{ "name": "project", "private": true, "type": "module" }');
    install("--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", join(folder, packed.filename));
  }, 240_000);

  afterAll(() => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  function install(...args: string[]): void {
    const result = spawnSync("npm", ["install", ...args], { cwd: project, env, encoding: "utf8" });
    if (result.status !== 0) throw new Error(`npm install failed:\n${result.stdout}${result.stderr}`);
  }

  function run(command: string, args: string[], cwd = project) {
    return spawnSync(command, args, { cwd, env, encoding: "utf8", input: "" });
  }

  it("holds the build and the papers, and nothing else", () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        "package.json",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "dist/cli.cjs",
        "dist/index.js",
        "dist/testing.js",
        "dist/types/index.d.ts",
        "dist/types/testing/index.d.ts",
        "dist/THIRD-PARTY.txt",
      ]),
    );
    const others = paths.filter(
      (path) =>
        !/^(?:docs\/[\w-]+\.md|package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/(?:cli\.cjs|[\w-]+\.js|chunks\/[\w.-]+\.js|types\/.*\.d\.ts|THIRD-PARTY\.txt))$/.test(
          path,
        ),
    );
    expect(others).toEqual([]);
    expect(paths.filter((path) => path.includes(".test."))).toEqual([]);
  });

  it("is small", () => {
    expect(packed.size).toBeLessThan(3_000_000);
  });

  it("says nothing of the machine that built it", () => {
    const texts = readdirSync(join(project, "node_modules/cadre/dist"), {
      recursive: true,
      withFileTypes: true,
    })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
    expect(texts.length).toBeGreaterThan(5);
    expect(texts.filter((text) => text.includes(repository))).toEqual([]);
  });

  it("names every package whose code it contains, with its licence", () => {
    const notices = readFileSync(join(project, "node_modules/cadre/dist/THIRD-PARTY.txt"), "utf8");
    expect(notices).toMatch(/^zod \d+\.\d+\.\d+ \(MIT\)$/m);
    expect(notices).toContain("Permission is hereby granted");
    expect(notices).not.toMatch(/\(undefined\)$/m);
  });

  it("installs an executable command", () => {
    expect(statSync(join(repository, "dist/cli.cjs")).mode & 0o111).toBe(0o111);
    const { status, stdout, stderr } = run(cadre, ["--version"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toBe(`${version} (Cadre)\n`);
  });

  it("answers without a key and without a network", () => {
    const notes = join(folder, "notes");
    mkdirSync(notes);
    for (const name of ["one.json", "two.json", "three.md"]) writeFileSync(join(notes, name), "{}\n");
    const { status, stdout } = run(cadre, ["-p", "how many JSON files"], notes);
    expect(stdout).toContain("2 JSON files");
    expect(status).toBe(0);
  });

  it("starts a run from few files", () => {
    const coverage = join(folder, "coverage");
    const { status } = spawnSync(cadre, ["-p", "how many JSON files"], {
      cwd: project,
      env: { ...env, NODE_V8_COVERAGE: coverage },
      input: "",
    });
    expect(status).toBe(0);
    const loaded = readdirSync(coverage).flatMap((name) => {
      const { result } = JSON.parse(readFileSync(join(coverage, name), "utf8")) as {
        result: { url: string }[];
      };
      return result
        .map(({ url }) => url.replace(/^.*\/cadre\/dist\//, ""))
        .filter((url) => !url.includes(":"));
    });
    expect(loaded).toContain("cli.cjs");
    // The model without a network and what it shares are three of them; see scripts/parts.mjs for the others.
    expect(loaded.length).toBeLessThanOrEqual(11);
  });

  it("is a library", () => {
    writeFileSync(
      join(project, "use.mjs"),
      'console.log(JSON.stringify([Object.keys(await import("cadre")), Object.keys(await import("cadre/testing"))]));',
    );
    const { status, stdout, stderr } = run(process.execPath, ["use.mjs"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const [library, testing] = JSON.parse(stdout) as string[][];
    expect(library).not.toEqual([]);
    expect(testing).not.toEqual([]);
    expect([...(library ?? []), ...(testing ?? [])]).not.toContain("default");
  });

  it("has one class of errors, whichever part made the error", () => {
    const lines = [
      'import { CadreError, createModelSource, createNodeWorld, ModelError } from "cadre";',
      "const world = createNodeWorld();",
      'const models = createModelSource({ world, settings: { model: "none-such/model" } });',
      "console.log(await models.model().then(() => undefined, (error) => error instanceof CadreError));",
      "console.log(ModelError.prototype instanceof CadreError);",
    ];
    writeFileSync(join(project, "errors.mjs"), lines.join("\n"));
    expect(run(process.execPath, ["errors.mjs"]).stdout).toBe("true\ntrue\n");
  });

  it("has declarations that a strict project can use, whole and without loose ends", () => {
    writeFileSync(
      join(project, "use.ts"),
      [
        'import * as library from "cadre";',
        'import * as testing from "cadre/testing";',
        "export const names: string[] = [...Object.keys(library), ...Object.keys(testing)];",
        // An unresolved declaration would be `any`, and this would compile.
        "// @ts-expect-error",
        "library.thereIsNoSuchName;",
        "// @ts-expect-error",
        "testing.thereIsNoSuchName;",
      ].join("\n"),
    );
    const options = {
      strict: true,
      noEmit: true,
      module: "nodenext",
      target: "es2023",
      lib: ["es2023"],
      skipLibCheck: false,
      types: ["node"],
      typeRoots: [join(repository, "node_modules/@types")],
    };
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({ compilerOptions: options, files: ["use.ts"] }),
    );
    const tsc = join(repository, "node_modules/typescript/bin/tsc");
    const { status, stdout } = run(process.execPath, [tsc, "-p", "."]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  });

  it("runs from a global folder as well", () => {
    const prefix = join(folder, "global");
    install(
      "--global",
      "--prefix",
      prefix,
      "--no-audit",
      "--no-fund",
      "--prefer-offline",
      join(folder, packed.filename),
    );
    const { status, stdout } = run(join(prefix, "bin", "cadre"), ["--version"]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${version} (Cadre)\n` });
  });
});

/** npm prints a list; newer versions an object by name. */
function firstPackage<T>(output: T[] | Record<string, T>): T {
  const first = Object.values(output)[0];
  if (first === undefined) throw new Error("npm pack made nothing");
  return first;
}
