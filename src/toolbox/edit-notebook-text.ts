/** Changes to one cell in the text of a notebook: the text of all other cells stays byte for byte. */
import { type ArraySpan, findArray } from "./json-spans.ts";
import { linesOfSource, type Notebook } from "./notebook.ts";

export type CellEdit =
  | { mode: "replace"; index: number; source: string; cellType: string | undefined }
  /** `index` is that of the cell before, -1 for the beginning. */
  | { mode: "insert"; index: number; source: string; cellType: string; newId: string }
  | { mode: "delete"; index: number };

/** `text` is that of `notebook`, and the index one of its cells. */
export function editNotebookText(options: { text: string; notebook: Notebook; edit: CellEdit }): string {
  const { text, notebook, edit } = options;
  const cells = findArray(text, "cells");
  if (cells === undefined) return text;
  const layout = layoutOf(text);
  switch (edit.mode) {
    case "replace":
      return replaceCell({ text, cells, edit, layout });
    case "insert":
      return insertCell({ text, cells, cell: newCell(notebook, edit), index: edit.index, layout });
    case "delete":
      return deleteCell(text, cells, edit.index);
  }
}

interface Layout {
  /** Empty if the notebook stands on one line. */
  readonly indent: string;
  readonly lineEnd: string;
}

function layoutOf(text: string): Layout {
  const indent = /^\s*\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? "";
  return { indent, lineEnd: text.includes("\r\n") ? "\r\n" : "\n" };
}

function replaceCell(options: {
  text: string;
  cells: ArraySpan;
  edit: CellEdit & { mode: "replace" };
  layout: Layout;
}): string {
  const { text, cells, edit, layout } = options;
  const span = cells.elements[edit.index];
  if (span === undefined) return text;
  // Parsed anew: the schema's result has its keys in another order.
  const cell = JSON.parse(text.slice(span.start, span.end)) as Record<string, unknown>;
  const cellType = edit.cellType ?? String(cell.cell_type);
  cell.source = Array.isArray(cell.source) ? linesOfSource(edit.source) : edit.source;
  cell.cell_type = cellType;
  if (cellType === "code") {
    cell.execution_count = null;
    cell.outputs = [];
    delete cell.attachments;
  } else {
    delete cell.execution_count;
    delete cell.outputs;
  }
  return text.slice(0, span.start) + stringifyCell(cell, layout) + text.slice(span.end);
}

function newCell(notebook: Notebook, edit: CellEdit & { mode: "insert" }): Record<string, unknown> {
  const storesLines = notebook.cells.every((cell) => Array.isArray(cell.source));
  const hasIds =
    notebook.cells.some((cell) => cell.id !== undefined) ||
    (notebook.nbformat ?? 4) > 4 ||
    (notebook.nbformat === 4 && (notebook.nbformat_minor ?? 0) >= 5);
  return {
    cell_type: edit.cellType,
    ...(edit.cellType === "code" && { execution_count: null }),
    ...(hasIds && { id: edit.newId }),
    metadata: {},
    ...(edit.cellType === "code" && { outputs: [] }),
    source: storesLines ? linesOfSource(edit.source) : edit.source,
  };
}

function insertCell(options: {
  text: string;
  cells: ArraySpan;
  cell: Record<string, unknown>;
  index: number;
  layout: Layout;
}): string {
  const { text, cells, index, layout } = options;
  const cell = stringifyCell(options.cell, layout);
  const { indent, lineEnd } = layout;
  const newLine = indent === "" ? "" : lineEnd + indent + indent;
  const [first] = cells.elements;
  if (first === undefined) {
    const close = indent === "" ? "" : lineEnd + indent;
    return `${text.slice(0, cells.start)}[${newLine}${cell}${close}]${text.slice(cells.end)}`;
  }
  const before = cells.elements[index];
  if (before === undefined)
    return `${text.slice(0, first.start)}${cell},${newLine}${text.slice(first.start)}`;
  return `${text.slice(0, before.end)},${newLine}${cell}${text.slice(before.end)}`;
}

function deleteCell(text: string, cells: ArraySpan, index: number): string {
  const span = cells.elements[index];
  if (span === undefined) return text;
  const before = cells.elements[index - 1];
  const after = cells.elements[index + 1];
  if (after !== undefined) return text.slice(0, span.start) + text.slice(after.start);
  if (before !== undefined) return text.slice(0, before.end) + text.slice(span.end);
  return `${text.slice(0, cells.start)}[]${text.slice(cells.end)}`;
}

/** A cell stands two levels deep. */
function stringifyCell(cell: Record<string, unknown>, { indent, lineEnd }: Layout): string {
  return JSON.stringify(cell, null, indent).replaceAll("\n", lineEnd + indent + indent);
}
