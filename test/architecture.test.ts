import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { blankSource } from "./architecture/blank-source.ts";
import { closedGlobals, closedModules } from "./architecture/door.ts";
import { findViolations } from "./architecture/rules.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

describe("the sources", () => {
  it("keep the rules of the architecture", () => {
    const files = readSources();
    expect(files.length).toBeGreaterThan(10);
    expect(findViolations(files).map(({ path, message }) => `${path} ${message}`)).toEqual([]);
  });

  it("are linted for the same modules and globals", () => {
    const { overrides } = JSON.parse(readFileSync(join(root, "biome.json"), "utf8"));
    const { noRestrictedImports, noRestrictedGlobals } = overrides[0].linter.rules.style;
    expect(Object.keys(noRestrictedImports.options.paths)).toEqual(
      expect.arrayContaining(closedModules.flatMap((name) => [name, `node:${name}`])),
    );
    expect(Object.keys(noRestrictedGlobals.options.deniedGlobals)).toEqual(closedGlobals);
  });
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are examples of code
describe("a violation is found", () => {
  it.each([
    [
      "an import from a higher layer",
      "src/loop/turn.ts",
      'import { spawn } from "../agents/spawn.ts";',
      "layers",
    ],
    ["a type from a higher layer", "src/base/a.ts", 'import type { A } from "../contracts/a.ts";', "layers"],
    [
      "an inline type from a higher layer",
      "src/base/a.ts",
      'type A = import("../contracts/a.ts").A;',
      "layers",
    ],
    [
      "a lazy import of a higher layer",
      "src/model/a.ts",
      'const a = await import("../loop/a.ts");',
      "layers",
    ],
    [
      "an import over several lines",
      "src/model/a.ts",
      'import {\n  a,\n  b,\n} from "../loop/a.ts";',
      "layers",
    ],
    ["an import for its effects", "src/model/a.ts", 'import "../loop/a.ts";', "layers"],
    ["a sibling of the same layer", "src/tools/a.ts", 'import { b } from "../model/b.ts";', "layers"],
    ["a folder without a layer", "src/misc/a.ts", "export const a = 1;", "layers"],
    [
      "an import from a folder without a layer",
      "src/cli/a.ts",
      'import { b } from "../misc/b.ts";',
      "layers",
    ],
    ["testing in the product", "src/cli/a.ts", 'import { b } from "../testing/b.ts";', "layers"],
    ["the library inside the product", "src/cli/a.ts", 'import { b } from "../index.ts";', "layers"],
    ["the command in the library", "src/index.ts", 'export { main } from "./cli/main.ts";', "layers"],
    ["an import from outside src", "src/cli/a.ts", 'import { b } from "../../scripts/b.ts";', "layers"],
    ["an import without its extension", "src/cli/a.ts", 'import { b } from "./b";', "layers"],
    ["the clock", "src/loop/a.ts", "const at = Date.now();", "door"],
    ["the clock, by a new date", "src/loop/a.ts", "const at = new Date();", "door"],
    ["the clock, by a new date without parentheses", "src/loop/a.ts", "const at = new Date;", "door"],
    ["the clock, by a called date", "src/loop/a.ts", "const at = Date();", "door"],
    ["the clock, inside a template", "src/loop/a.ts", "const at = `${{ a: `${Date.now()}` }.a}`;", "door"],
    ["a timer", "src/loop/a.ts", "setTimeout(() => {}, 5);", "door"],
    ["a hidden timer", "src/loop/a.ts", "const signal = AbortSignal.timeout(5);", "door"],
    ["a global by its owner", "src/loop/a.ts", "globalThis.fetch(url);", "door"],
    ["chance", "src/loop/a.ts", "const n = Math.random();", "door"],
    ["a random id", "src/loop/a.ts", "const id = crypto.randomUUID();", "door"],
    ["the network", "src/model/a.ts", "const answer = await fetch(url, { method });", "door"],
    ["files", "src/toolbox/a.ts", 'import { readFile } from "node:fs/promises";', "door"],
    [
      "a socket, next to what merely computes",
      "src/loop/a.ts",
      'import { connect, isIP } from "node:net";',
      "door",
    ],
    ["a closed module as a whole", "src/loop/a.ts", 'import * as net from "node:net";', "door"],
    ["files without the prefix", "src/toolbox/a.ts", "import fs from 'fs';", "door"],
    [
      "processes, loaded lazily",
      "src/toolbox/a.ts",
      'const { spawn } = await import("node:child_process");',
      "door",
    ],
    ["the environment", "src/config/a.ts", "const home = process.env.HOME;", "door"],
    ["the environment in the command", "src/cli/a.ts", "const key = process.env['KEY'];", "door"],
    ["the exit in a surface", "src/surfaces/headless/a.ts", "process.exit(1);", "door"],
    [
      "code after a regular expression with a quote",
      "src/loop/a.ts",
      "a.replace(/[\"'/]/g, b); Date.now();",
      "door",
    ],
    ["a default export", "src/loop/a.ts", "export default function a() {}", "default-export"],
    ["a renamed default export", "src/loop/a.ts", "const a = 1;\nexport { a as default };", "default-export"],
    ["a long file", "src/loop/a.ts", "export {};\n".repeat(451), "length"],
    ["a very long test", "src/loop/a.test.ts", "export {};\n".repeat(901), "length"],
    ["a barrel", "src/loop/all.ts", 'export { a } from "./a.ts";', "barrel"],
    ["a barrel of types", "src/loop/all.ts", 'export type { A } from "./a.ts";', "barrel"],
    ["a barrel by its name", "src/loop/index.ts", "export const a = 1;", "barrel"],
    ["a star in the entry point", "src/index.ts", 'export * from "./loop/a.ts";', "barrel"],
  ])("%s", (_, path, text, rule) => {
    expect(findViolations([{ path, text }]).map((violation) => violation.rule)).toEqual([rule]);
  });

  it("a circle of files, types included", () => {
    const files = [
      { path: "src/loop/a.ts", text: 'import { b } from "./b.ts";' },
      { path: "src/loop/b.ts", text: 'import type { C } from "./c.ts";' },
      { path: "src/loop/c.ts", text: 'export type C = import("./a.ts").A;' },
      { path: "src/loop/d.ts", text: 'import { a } from "./a.ts";' },
    ];
    expect(findViolations(files)).toEqual([
      {
        path: "src/loop/a.ts",
        rule: "cycle",
        message: "imports itself: src/loop/a.ts -> src/loop/b.ts -> src/loop/c.ts -> src/loop/a.ts",
      },
    ]);
  });

  it("a file that imports itself", () => {
    const files = [{ path: "src/loop/a.ts", text: 'import { b } from "./a.ts";' }];
    expect(findViolations(files).map(({ rule }) => rule)).toEqual(["cycle"]);
  });
});

describe("nothing is said about", () => {
  it.each([
    ["an import from a lower layer", "src/loop/a.ts", 'import { b } from "../model/b.ts";'],
    ["an import from the own folder", "src/base/a.ts", 'import { b } from "./world/b.ts";'],
    ["the real world", "src/base/world/a.ts", 'import fs from "node:fs";\nconst at = Date.now();'],
    ["the command's own process", "src/cli/main.ts", "process.exitCode = 1;"],
    ["the streams in a surface", "src/surfaces/headless/a.ts", "process.stdout.write(text);"],
    ["a date of a given time", "src/loop/a.ts", "const day = new Date(world.clock.now()).toISOString();"],
    [
      "a method called like a global",
      "src/base/world.ts",
      "interface A {\n  fetch(url: string): Promise<void>;\n}",
    ],
    ["a member called like a global", "src/loop/a.ts", "await world.network.fetch(url);"],
    ["a local name that hides a global", "src/model/a.ts", "const { fetch } = network;\nfetch(url);"],
    ["a child called process", "src/workspace/a.ts", "const process = spawn();\nprocess.kill();"],
    [
      "what a closed module merely computes",
      "src/toolbox/a.ts",
      'import { BlockList, isIP as is } from "node:net";',
    ],
    ["the type of a global", "src/model/a.ts", "const f = network.fetch as typeof globalThis.fetch;"],
    ["part of a package, passed on", "src/model/a.ts", 'export { Stream } from "some-package/streaming";'],
    ["comments", "src/loop/a.ts", '// Date.now() and import { a } from "../cli/a.ts"\n/* Math.random() */'],
    [
      "strings",
      "src/loop/a.ts",
      'const a = "Date.now()" + \'setTimeout(x)\' + `export default ${"fetch(x)"}`;',
    ],
    ["a call that is no import", "src/loop/a.ts", 'const a = Array.from("../cli/a.ts");'],
    [
      "tests",
      "src/loop/a.test.ts",
      'import { b } from "../cli/b.ts";\nimport "../testing/c.ts";\nDate.now();',
    ],
    ["testing, which may use all", "src/testing/a.ts", 'import fs from "node:fs";\nimport "../cli/b.ts";'],
    [
      "the entry points",
      "src/index.ts",
      'export { a } from "./loop/a.ts";\nexport type { B } from "./base/b.ts";',
    ],
  ])("%s", (_, path, text) => {
    expect(findViolations([{ path, text }])).toEqual([]);
  });
});

describe("blanking a source", () => {
  it("keeps offsets and lines", () => {
    const source = "const a = `x ${b /* c */} y`; // d\nconst e = 4 / 2 / 1; const f = /[/`]/u;\n";
    const blanked = blankSource(source);
    expect(blanked).toHaveLength(source.length);
    expect(blanked.split("\n")).toHaveLength(3);
    expect(blanked).toContain("4 / 2 / 1");
    expect(blanked).not.toContain("[/");
  });
});

// biome-ignore-end lint/suspicious/noTemplateCurlyInString: they are examples of code

function readSources() {
  return readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({
      path: path.slice(root.length).replaceAll("\\", "/"),
      text: readFileSync(path, "utf8"),
    }));
}
