import { describe, expect, it } from "vitest";
import { packageEntries } from "./package-entries.ts";

function entriesOf(manifest: unknown, files: string[], path = "package.json") {
  const lines = JSON.stringify(manifest).split("\n");
  return packageEntries({ path, lines, paths: new Set(files), complete: true }).map(
    ({ what, why }) => `${what} (${why})`,
  );
}

describe("packageEntries", () => {
  it("names files that are there as they are", () => {
    expect(
      entriesOf({ name: "x", main: "./lib/index.js", bin: "./cli.js" }, ["lib/index.js", "cli.js"]),
    ).toEqual(['command `x` -> cli.js ("bin" in package.json)', 'lib/index.js ("main" in package.json)']);
  });

  it("names the source of a file that the build makes", () => {
    const manifest = { name: "x", bin: { run: "dist/cli.cjs" }, exports: { ".": "./dist/index.js" } };
    expect(entriesOf(manifest, ["src/cli/main.ts", "src/index.ts"])).toEqual([
      'command `run` -> src/cli/main.ts ("bin" in package.json; built into dist/cli.cjs)',
      'src/index.ts ("exports" in package.json; built into dist/index.js)',
    ]);
  });

  it("says so when a file is not there, and whether a build makes it", () => {
    expect(entriesOf({ name: "x", main: "out.js", scripts: { build: "tsc" } }, [])).toEqual([
      'out.js ("main" in package.json; not there, made by the build)',
    ]);
    expect(entriesOf({ name: "x", main: "out.js" }, [])).toEqual([
      'out.js ("main" in package.json; not among the files here)',
    ]);
  });

  it("takes one file for each thing that is exported, however it is imported", () => {
    const exports = {
      ".": { types: "./index.d.ts", import: "./index.js", require: "./index.cjs" },
      "./mini": { import: "./mini.js", require: "./mini.cjs" },
      "./package.json": "./package.json",
      "./src/*": "./src/*",
    };
    expect(entriesOf({ name: "x", exports }, ["index.js", "index.cjs", "mini.cjs"])).toEqual([
      'index.js ("exports" in package.json)',
      'mini.cjs ("exports" in package.json for "x/mini")',
    ]);
  });

  it("is silent about a package.json that is none of its own", () => {
    expect(entriesOf({ main: "./index.cjs" }, ["esm/index.cjs"], "esm/package.json")).toEqual([]);
  });
});
