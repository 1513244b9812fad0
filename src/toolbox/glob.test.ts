import { utimesSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CancelledError } from "../base/errors.ts";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { createGlobTool } from "./glob.ts";
import { createRipgrep } from "./ripgrep.ts";

let scene: ToolScene;

beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

async function given(...names: string[]): Promise<void> {
  for (const [age, name] of names.entries()) {
    await scene.write(name, name);
    utimesSync(scene.path(name), 1_700_000_000 - age, 1_700_000_000 - age);
  }
}

describe.each([
  ["with ripgrep", createGlobTool()],
  ["without ripgrep", createGlobTool({ ripgrep: createRipgrep([async () => "/no/such/program"]) })],
])("Glob %s", (_, glob) => {
  const list = async (pattern: string, path?: string) =>
    (await scene.call(glob, { pattern, path })).split("\n");

  it("lists matching files, the newest first", async () => {
    await given("b.ts", "a.ts", "src/c.ts", "src/deep/d.ts", "e.js");
    expect(await list("**/*.ts")).toEqual(["b.ts", "a.ts", "src/c.ts", "src/deep/d.ts"]);
    expect(await list("*.ts")).toEqual(["b.ts", "a.ts"]);
    expect(await list("./src/*.ts")).toEqual(["src/c.ts"]);
    expect(await list("**/*.{js,jsx}")).toEqual(["e.js"]);
    expect(await list("src/**")).toEqual(["src/c.ts", "src/deep/d.ts"]);
    expect(await list("!**/*.ts")).toEqual(["e.js"]);
  });

  it("prints a name with a line break on one line, quoted", async () => {
    await given("two\nlines.ts", "plain.ts");
    expect(await list("*.ts")).toEqual(['"two\\nlines.ts"', "plain.ts"]);
  });

  it("searches another folder, and prints paths outside the current one as absolute", async () => {
    await given("src/a.ts", "lib/b.ts");
    expect(await list("*.ts", "src")).toEqual(["src/a.ts"]);
    expect(await list(`${scene.folder}/**/*.ts`)).toEqual(["src/a.ts", "lib/b.ts"]);
    scene.agent.folder.current = scene.path("src");
    expect(await list("../lib/*.ts")).toEqual([scene.path("lib/b.ts")]);
    expect(await list("*")).toEqual(["a.ts"]);
  });

  it("leaves out what git ignores, inside a repository only", async () => {
    await given("a.log", "keep.log", "build/x.ts", "src/y.ts", "src/z.tmp", "src/keep/q.tmp");
    await scene.write(".gitignore", "*.log\n!keep.log\nbuild/\n");
    await scene.write("src/.gitignore", "*.tmp\n");
    await scene.write("src/keep/.gitignore", "!*.tmp\n");
    expect(await list("**/*.{log,ts,tmp}")).toHaveLength(6);
    await scene.write(".git/HEAD", "ref: refs/heads/main\n");
    expect(await list("**/*.{log,ts,tmp}")).toEqual(["keep.log", "src/y.ts", "src/keep/q.tmp"]);
    expect(await list("**/*.tmp", "src")).toEqual(["src/keep/q.tmp"]);
    expect(await list("**/HEAD")).toEqual([expect.stringContaining("No files match")]);
    expect(await list("build/*.ts")).toEqual(["build/x.ts"]);
  });

  it("finds hidden files and names that look like patterns", async () => {
    await given(".github/w.yml", "app/[id]/page.tsx", "-rf", "with space", "--files");
    expect(await list("**/*.yml")).toEqual([".github/w.yml"]);
    expect(await list("app/[id]/page.tsx")).toEqual(["app/[id]/page.tsx"]);
    expect(await list("app/\\[id\\]/*")).toEqual(["app/[id]/page.tsx"]);
    expect(await list("*")).toEqual(["-rf", "with space", "--files"]);
    expect(await list(".github/w.yml")).toEqual([".github/w.yml"]);
    expect(await list("--files")).toEqual(["--files"]);
  });

  it("says that nothing matches, and that a folder is missing", async () => {
    await given("a.ts");
    expect(await list("*.py")).toEqual([expect.stringMatching(/^No files match \*\.py/)]);
    expect(await list("none/**/*.py")).toEqual([expect.stringMatching(/^No files match/)]);
    expect(await scene.fail(glob, { pattern: "*", path: "none" })).toMatch(/none: does not exist/);
    expect(await scene.fail(glob, { pattern: "*", path: "a.ts" })).toMatch(/not a folder/);
  });

  it("lists at most 1,000 files and says how many more there are", async () => {
    await given(...Array.from({ length: 1003 }, (_, index) => `f${index}.txt`));
    const lines = await list("*.txt");
    expect(lines).toHaveLength(1001);
    expect(lines[0]).toBe("f0.txt");
    expect(lines.at(-1)).toMatch(/3 more files/);
  });

  it("stops when it is cancelled", async () => {
    await given("a.ts");
    const signal = AbortSignal.abort(new CancelledError("user"));
    await expect(scene.run(glob, { pattern: "**" }, { signal })).rejects.toThrow(CancelledError);
  });
});
