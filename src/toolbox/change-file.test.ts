import { execFileSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import type { Tool } from "../tools/tool.ts";
import { createEditTool } from "./edit.ts";
import { createGlobTool } from "./glob.ts";
import { createGrepTool } from "./grep.ts";
import { createNotebookEditTool } from "./notebook-edit.ts";
import { createReadTool } from "./read.ts";
import { createWriteTool } from "./write.ts";

const [read, write, edit, notebookEdit] = [
  createReadTool(),
  createWriteTool(),
  createEditTool(),
  createNotebookEditTool(),
];
let scene: ToolScene;
beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

/** By another program than ours. */
function sha256(name: string): string {
  return execFileSync("sha256sum", [scene.path(name)], { encoding: "utf8" }).slice(0, 64);
}

const factsOf = async (tool: Tool, input: unknown) => (await scene.run(tool, input)).facts;

function subjectOf(tool: Tool, input: unknown) {
  const bound = tool.bind(input);
  if (!bound.ok) throw new Error(bound.problem);
  return bound.subject?.(scene.context);
}

const utf16be = (text: string) => Buffer.from(`\uFEFF${text}`, "utf16le").swap16();

describe("the facts of a changed file", () => {
  it("are its absolute path and that there was none before", async () => {
    const facts = await factsOf(write, { file_path: "x/new.txt", content: "one\n" });
    expect(facts).toEqual({ path: scene.path("x/new.txt"), before: null, after: sha256("x/new.txt") });
  });

  it.each([
    ["plain text", Buffer.from("old\nline\n")],
    ["CRLF and a mark", Buffer.from("\uFEFFold\r\nline\r\n")],
    ["UTF-16, the other way round", utf16be("old\nline\n")],
    ["Latin-1", Buffer.from("old caf\u00e9\nline\n", "latin1")],
    ["no line end", Buffer.from("old")],
  ])("are the hashes of its bytes on disk: %s", async (_, bytes) => {
    for (const [tool, input] of [
      [edit, { file_path: "a.txt", old_string: "old", new_string: "new\nand more" }],
      [write, { file_path: "a.txt", content: "all\nnew\n" }],
    ] as const) {
      await scene.write("a.txt", bytes);
      const before = sha256("a.txt");
      await scene.call(read, { file_path: "a.txt" });
      const facts = await factsOf(tool, input);
      expect(facts).toEqual({ path: scene.path("a.txt"), before, after: sha256("a.txt") });
      expect(facts?.after).not.toBe(before);
    }
  });

  it("tell of a file that was empty, which is not the same as none", async () => {
    await scene.write("empty.txt", "");
    const before = sha256("empty.txt");
    expect(await factsOf(write, { file_path: "empty.txt", content: "x" })).toMatchObject({ before });
  });

  it("name the file that a link leads to", async () => {
    await scene.write("real.txt", "old\n");
    await scene.world.files.symlink(scene.path("real.txt"), scene.path("link.txt"));
    await scene.call(read, { file_path: "link.txt" });
    const facts = await factsOf(edit, { file_path: "link.txt", old_string: "old", new_string: "new" });
    expect(facts).toMatchObject({ path: scene.path("real.txt"), after: sha256("real.txt") });
  });

  it("are told of notebooks too", async () => {
    const cell = {
      cell_type: "code",
      id: "a",
      source: ["1"],
      metadata: {},
      outputs: [],
      execution_count: null,
    };
    await scene.write(
      "n.ipynb",
      JSON.stringify({ cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 5 }),
    );
    const before = sha256("n.ipynb");
    await scene.call(read, { file_path: "n.ipynb" });
    const facts = await factsOf(notebookEdit, { notebook_path: "n.ipynb", cell_id: "a", new_source: "2" });
    expect(facts).toEqual({ path: scene.path("n.ipynb"), before, after: sha256("n.ipynb") });
  });
});

describe("the facts of other calls", () => {
  it("are the path of a file that was read", async () => {
    await scene.write("a.txt", "one\n");
    expect(await factsOf(read, { file_path: "a.txt" })).toEqual({ path: scene.path("a.txt") });
  });

  it("are none for a search", async () => {
    await scene.write("a.txt", "one\n");
    expect(await factsOf(createGlobTool(), { pattern: "*" })).toBeUndefined();
    expect(await factsOf(createGrepTool(), { pattern: "one" })).toBeUndefined();
  });
});

describe("what a call is about that does not succeed", () => {
  it("is the path, absolute, and no hash", () => {
    for (const [tool, input] of [
      [read, { file_path: "none.txt" }],
      [write, { file_path: "none.txt", content: "" }],
      [edit, { file_path: "none.txt", old_string: "a", new_string: "b" }],
      [notebookEdit, { notebook_path: "none.txt" }],
    ] as const)
      expect(subjectOf(tool, input)).toEqual({ path: scene.path("none.txt") });
  });
});
