import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolScene, type ToolScene } from "../testing/tool-scene.ts";
import { createNotebookEditTool } from "./notebook-edit.ts";
import { createReadTool } from "./read.ts";

const notebookEdit = createNotebookEditTool();
const read = createReadTool();
let scene: ToolScene;

beforeEach(async () => {
  scene = await createToolScene();
});
afterEach(() => scene.dispose());

const first = `  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"weird": 1.0, "big": 12345678901234567890},
   "source": ["# T\\u00eftle ] } \\" [\\n", "text"]
  }`;
const second = `  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "calc",
   "metadata": {
    "tags": [
     "x"
    ]
   },
   "outputs": [
    {
     "output_type": "stream"
    }
   ],
   "source": [
    "a = 1\\n",
    "a"
   ]
  }`;
const tail = ` "metadata": {
  "cells": ["not these"],
  "kernel": 1.50
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`;
const whole = `{\n "cells": [\n${first},\n${second}\n ],\n${tail}`;

async function given(text: string): Promise<void> {
  await scene.write("n.ipynb", text);
  await scene.call(read, { file_path: "n.ipynb" });
}

function change(rest: Record<string, unknown>) {
  return { notebook_path: "n.ipynb", ...rest };
}

describe("NotebookEdit", () => {
  it("replaces the source of a code cell, clears its outputs and touches nothing else", async () => {
    await given(whole);
    await scene.call(notebookEdit, change({ cell_id: "calc", new_source: "b = 2\n\nb\n" }));
    const replaced = second
      .replace("7", "null")
      .replace(/"outputs": \[[^\]]*\]/, '"outputs": []')
      .replace('"a = 1\\n",\n    "a"', '"b = 2\\n",\n    "\\n",\n    "b\\n"');
    expect(await scene.text("n.ipynb")).toBe(`{\n "cells": [\n${first},\n${replaced}\n ],\n${tail}`);
  });

  it("inserts a cell after another, and at the beginning", async () => {
    await given(whole);
    await scene.call(notebookEdit, change({ edit_mode: "insert", cell_number: 0, new_source: "x" }));
    const text = await scene.text("n.ipynb");
    const { cells } = JSON.parse(text);
    expect(cells[1]).toEqual({
      cell_type: "code",
      execution_count: null,
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      metadata: {},
      outputs: [],
      source: ["x"],
    });
    expect(text).toContain(`${first},\n  {\n   "cell_type": "code"`);
    expect(text).toContain(`\n  },\n${second}\n ],\n${tail}`);
    const markdown = change({ edit_mode: "insert", cell_type: "markdown", new_source: "# Top" });
    await scene.call(notebookEdit, markdown);
    const top = JSON.parse(await scene.text("n.ipynb")).cells[0];
    expect(top).toMatchObject({ cell_type: "markdown", source: ["# Top"] });
    expect(top).not.toHaveProperty("outputs");
  });

  it("deletes the first, the last and the only cell", async () => {
    await given(whole);
    await scene.call(notebookEdit, change({ edit_mode: "delete", cell_id: "intro" }));
    expect(await scene.text("n.ipynb")).toBe(`{\n "cells": [\n${second}\n ],\n${tail}`);
    await scene.call(notebookEdit, change({ edit_mode: "delete", cell_number: 0 }));
    expect(await scene.text("n.ipynb")).toBe(`{\n "cells": [],\n${tail}`);
    await scene.call(notebookEdit, change({ edit_mode: "insert", new_source: "x" }));
    expect(JSON.parse(await scene.text("n.ipynb")).cells).toHaveLength(1);
    await given(whole);
    await scene.call(notebookEdit, change({ edit_mode: "delete", cell_id: "calc" }));
    expect(await scene.text("n.ipynb")).toBe(`{\n "cells": [\n${first}\n ],\n${tail}`);
  });

  it("changes the type of a cell, and what belongs to the type", async () => {
    await given(whole);
    await scene.call(notebookEdit, change({ cell_id: "calc", cell_type: "markdown", new_source: "m" }));
    const [, cell] = JSON.parse(await scene.text("n.ipynb")).cells;
    expect(cell).toEqual({ cell_type: "markdown", id: "calc", metadata: { tags: ["x"] }, source: ["m"] });
  });

  it("keeps a notebook on one line, without ids, with sources as text, with CRLF", async () => {
    const compact = '{"nbformat":4,"nbformat_minor":2,"cells":[{"cell_type":"raw","source":"a"}]}';
    await given(compact);
    await scene.call(notebookEdit, change({ cell_id: "cell-0", new_source: "b\nc" }));
    expect(await scene.text("n.ipynb")).toBe(compact.replace('"a"', '"b\\nc"'));
    await scene.call(notebookEdit, change({ edit_mode: "insert", cell_id: "cell-0", new_source: "d" }));
    expect(JSON.parse(await scene.text("n.ipynb")).cells[1]).toEqual({
      cell_type: "code",
      execution_count: null,
      metadata: {},
      outputs: [],
      source: "d",
    });
    await given(whole.replaceAll("\n", "\r\n"));
    await scene.call(notebookEdit, change({ cell_id: "calc", new_source: "b" }));
    expect(await scene.text("n.ipynb")).not.toMatch(/[^\r]\n/);
  });

  it("refuses cells that are not there, notebooks that are none, and what was not read", async () => {
    await scene.write("n.ipynb", whole);
    expect(await scene.fail(notebookEdit, change({ cell_id: "calc", new_source: "" }))).toMatch(
      /not been read/,
    );
    await given(whole);
    expect(await scene.fail(notebookEdit, change({ cell_id: "x", new_source: "" }))).toMatch(
      /no cell with id x.*intro, calc/,
    );
    expect(await scene.fail(notebookEdit, change({ cell_number: 2, new_source: "" }))).toMatch(/number 2/);
    expect(await scene.fail(notebookEdit, change({ new_source: "" }))).toMatch(/which cell to replace/);
    expect(await scene.fail(notebookEdit, change({ cell_id: "calc" }))).toMatch(/new_source is missing/);
    await given('{"cells": 3}');
    expect(await scene.fail(notebookEdit, change({ cell_number: 0, new_source: "" }))).toMatch(
      /not a notebook/,
    );
    const missing = { notebook_path: "m.ipynb", cell_number: 0, new_source: "" };
    expect(await scene.fail(notebookEdit, missing)).toMatch(/Did you mean n.ipynb/);
  });
});
