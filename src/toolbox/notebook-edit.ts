import * as z from "zod";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import { changeFile, type FileChange, factsOfChange } from "./change-file.ts";
import { type CellEdit, editNotebookText } from "./edit-notebook-text.ts";
import { describeMissingFile } from "./find-file.ts";
import { cellIdOf, type Notebook, parseNotebook } from "./notebook.ts";
import { displayPath, resolvePath } from "./resolve-path.ts";

const NotebookEditInput = z.object({
  notebook_path: z.string().describe("The .ipynb file: absolute, or relative to the current folder"),
  cell_id: z.string().optional().describe("The id of the cell, as Read shows it"),
  cell_number: z.int().min(0).optional().describe("Instead of cell_id: the cell's number, counted from 0"),
  new_source: z.string().optional().describe("The whole new source of the cell; not needed to delete"),
  cell_type: z
    .enum(["code", "markdown", "raw"])
    .optional()
    .describe("Default: as it was; code for a new cell"),
  edit_mode: z.enum(["replace", "insert", "delete"]).optional().describe("Default: replace"),
});
type NotebookEditInput = z.infer<typeof NotebookEditInput>;

export interface NotebookEditOutput extends FileChange {
  readonly summary: string;
}

export function createNotebookEditTool(): Tool {
  return defineTool({
    name: "NotebookEdit",
    description,
    input: NotebookEditInput,
    async call(input, context): Promise<NotebookEditOutput> {
      const path = resolvePath(input.notebook_path, context);
      const shown = displayPath(path, context);
      const newId = Buffer.from(context.world.random.bytes(4)).toString("hex");
      const { content, ...change } = await changeFile({
        path,
        context,
        change: async (current) => {
          if (current === undefined) throw await describeMissingFile(path, context);
          const notebook = parseNotebook(current.decoded?.text ?? "");
          if (current.decoded === undefined || notebook === undefined)
            throw new ToolFailure(
              `${shown} is not a notebook with a list of cells. Use Edit for other files.`,
            );
          const { text, format } = current.decoded;
          const edit = planEdit({ input, notebook, newId });
          return { text: editNotebookText({ text, notebook, edit }), format, edit, notebook };
        },
      });
      return { ...change, summary: `${describeEdit(content.edit, content.notebook)} in ${shown}.` };
    },
    facts: factsOfChange,
    subject: (input, context) => ({ path: resolvePath(input.notebook_path, context) }),
    toResult: (output) => output.summary,
  });
}

const description = `Changes one cell of a notebook (.ipynb): replaces its source, inserts a new cell, or deletes it.

Read the notebook first; Read shows the id and the number of every cell. Name the cell by cell_id or by cell_number (counted from 0). With edit_mode insert, the new cell stands after the named cell, or at the beginning if none is named. Replacing the source of a code cell clears its outputs, because they no longer belong to it. Metadata and all other cells stay as they are.`;

function planEdit(options: { input: NotebookEditInput; notebook: Notebook; newId: string }): CellEdit {
  const { input, notebook, newId } = options;
  const mode = input.edit_mode ?? "replace";
  const index = findCell(input, notebook);
  if (index === undefined && mode !== "insert")
    throw new ToolFailure(`Say which cell to ${mode}: give cell_id or cell_number.`);
  if (mode === "delete") return { mode, index: index ?? 0 };
  if (input.new_source === undefined)
    throw new ToolFailure(`new_source is missing: it is the text of the cell to ${mode}.`);
  const source = input.new_source;
  if (mode === "replace") return { mode, index: index ?? 0, source, cellType: input.cell_type };
  return { mode, index: index ?? -1, source, cellType: input.cell_type ?? "code", newId };
}

/** Undefined if the input names no cell. */
function findCell(input: NotebookEditInput, notebook: Notebook): number | undefined {
  const { cell_id: id, cell_number: number } = input;
  const { cells } = notebook;
  if (id === undefined && number === undefined) return undefined;
  const index =
    id === undefined ? number : cells.findIndex((cell, position) => cellIdOf(cell, position) === id);
  if (index !== undefined && index >= 0 && index < cells.length) return index;
  const ids = cells.map(cellIdOf).slice(0, maxListedIds).join(", ");
  const named = id === undefined ? `number ${number}` : `id ${id}`;
  throw new ToolFailure(
    cells.length === 0
      ? "The notebook has no cells yet. Insert one without naming a cell."
      : `There is no cell with ${named}. The notebook has ${cells.length} cells: ${ids}${cells.length > maxListedIds ? ", ..." : ""}.`,
  );
}

const maxListedIds = 30;

function describeEdit(edit: CellEdit, notebook: Notebook): string {
  if (edit.mode === "insert")
    return edit.index < 0 ? "Inserted a cell at the beginning" : `Inserted a cell after cell ${edit.index}`;
  const cell = notebook.cells[edit.index];
  const id = cell ? cellIdOf(cell, edit.index) : String(edit.index);
  return edit.mode === "replace" ? `Replaced the source of cell ${id}` : `Deleted cell ${id}`;
}
