/** The parts of the notebook format that tools need. What is not named here is kept as it is. */
import * as z from "zod";

const Source = z.union([z.string(), z.array(z.string())]);

export const NotebookCell = z.looseObject({
  id: z.string().optional(),
  cell_type: z.string(),
  source: Source,
  outputs: z.array(z.unknown()).optional(),
});
export type NotebookCell = z.infer<typeof NotebookCell>;

export const Notebook = z.looseObject({
  cells: z.array(NotebookCell),
  nbformat: z.number().optional(),
  nbformat_minor: z.number().optional(),
});
export type Notebook = z.infer<typeof Notebook>;

/** Undefined if the text is no notebook. */
export function parseNotebook(text: string): Notebook | undefined {
  try {
    const parsed = Notebook.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Older notebooks have no ids; then the position stands for one. */
export function cellIdOf(cell: NotebookCell, number: number): string {
  return cell.id ?? `cell-${number}`;
}

/** Text is stored whole or as a list of its lines. */
export function textOfSource(source: unknown): string {
  if (Array.isArray(source)) return source.join("");
  return typeof source === "string" ? source : "";
}

/** As the format stores it: every line with its end. */
export function linesOfSource(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
