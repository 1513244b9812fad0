import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Metafile, type Plugin } from "esbuild";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { moduleOptions } from "../scripts/bundle.mjs";

const repository = fileURLToPath(new URL("..", import.meta.url));
const { checkParts, loadedTogether } = (await import(`${repository}scripts/parts.mjs`)) as {
  checkParts(metafile: Metafile): void;
  loadedTogether(root: string): Plugin;
};

/** A small program with the same parts: a command line, lookups, a run, and what a run loads later. */
describe("the files of the program", () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "cadre parts-"));
    write("scripts/global-headers.mjs", "export const Headers = class {};");
    write("node_modules/apart/index.js", "export const apart = 1;");
    write("src/errors.ts", "export class Failure extends Error {}");
    write("src/schema.ts", "export const schema = { name: 'schema' };");
    write(
      "src/tool.ts",
      'export { schema } from "./schema.ts"; export const later = () => import("./later.ts");',
    );
    write(
      "src/later.ts",
      'import { schema } from "./schema.ts"; import { Failure } from "./errors.ts"; export const made = [schema, new Failure()];',
    );
    write("src/index.ts", 'export { Failure } from "./errors.ts"; export { schema } from "./schema.ts";');
    write(
      "src/cli/command-line.ts",
      [
        'import { Failure } from "../errors.ts";',
        "export const commands = [",
        ...[...lookups, "run"].map((name) => `  () => import("./commands/${name}.ts"),`),
        "];",
        "export { Failure };",
      ].join("\n"),
    );
    for (const name of lookups)
      write(
        `src/cli/commands/${name}.ts`,
        `export { schema } from "../../schema.ts"; export const name = "${name}";`,
      );
    write(
      "src/cli/commands/run.ts",
      'import { later } from "../../tool.ts"; export const run = async () => [await later(), await import("apart")];',
    );
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  async function buildParts(plugins = [loadedTogether(root)]): Promise<Metafile> {
    const { metafile } = await build({
      ...moduleOptions({ root, version: "1.2.3" }),
      entryPoints: { "command-line": "src/cli/command-line.ts", index: "src/index.ts" },
      outdir: join(root, "dist"),
      metafile: true,
      plugins,
    });
    return metafile;
  }

  it("are few for a run, and every part finds the same modules in them", async () => {
    checkParts(await buildParts());
    const load = (name: string) => import(pathToFileURL(join(root, "dist", name)).href);
    const { commands, Failure } = (await load("command-line.js")) as {
      commands: (() => Promise<Record<string, unknown>>)[];
      Failure: new () => Error;
    };
    const library = (await load("index.js")) as { Failure: unknown; schema: unknown };
    const parts = await Promise.all(commands.map((part) => part()));
    const [later] = await (parts.at(-1) as { run(): Promise<[{ made: unknown[] }]> }).run();
    expect(library.Failure).toBe(Failure);
    expect(later.made[0]).toBe(library.schema);
    expect(later.made[1]).toBeInstanceOf(Failure);
    expect(parts.slice(0, -1).map(({ name, schema }) => [name, schema])).toEqual(
      lookups.map((name) => [name, library.schema]),
    );
  });

  it("are the same wherever they are built, and name no folder of that machine", async () => {
    const { outputs } = await buildParts();
    expect(JSON.stringify(outputs)).not.toContain(root);
  });

  it("fail the build when they are divided in another way", async () => {
    const metafile = await buildParts([]);
    expect(() => checkParts(metafile)).toThrow("A run begins with 0 files instead of 5");
    // A package that takes modules of the program with it when it is loaded.
    write("node_modules/apart/index.js", 'export { schema } from "../../src/tool.ts";');
    const reachedAround = await buildParts();
    expect(() => checkParts(reachedAround)).toThrow(/begins with [6-9] files instead of 5.*src\/tool\.ts/s);
  });

  it("fail the build when a module exists twice", async () => {
    const metafile = await buildParts();
    const [first] = Object.values(metafile.outputs).filter(
      ({ inputs }) => inputs["src/later.ts"] === undefined,
    );
    if (first) first.inputs["src/later.ts"] = { bytesInOutput: 1 };
    expect(() => checkParts(metafile)).toThrow("src/later.ts exists more than once");
  });
});

const lookups = ["doctor", "sessions", "tasks", "tasks-list", "tasks-output", "tasks-show", "tasks-stop"];
