/** A notebook as the model reads it: cells with their ids, sources and outputs. */
import { groupDigits } from "../base/group-digits.ts";
import type { ImageBlock, ResultContentBlock } from "../contracts/message.ts";
import { formatCount } from "./line-numbers.ts";
import { cellIdOf, type Notebook, type NotebookCell, textOfSource } from "./notebook.ts";

const maxNotebookChars = 60_000;
const maxOutputChars = 8_000;
const maxImages = 20;
const maxImageChars = Math.ceil((5 * 1024 * 1024 * 4) / 3);

/** `firstCell` is 1-based and counts cells, as `offset` counts lines in other files. */
export function renderNotebook(options: {
  notebook: Notebook;
  firstCell: number;
  maxCells: number;
}): ResultContentBlock[] {
  const { notebook, firstCell, maxCells } = options;
  const total = notebook.cells.length;
  if (total === 0) return [textBlock("(The notebook has no cells.)")];
  if (firstCell > total)
    return [
      textBlock(`(The notebook has ${formatCount(total, "cell")}; offset ${firstCell} is beyond its end.)`),
    ];
  const page = createPage();
  let next = firstCell - 1;
  for (const cell of notebook.cells.slice(next, next + maxCells)) {
    const text = renderSource({ cell, number: next });
    if (page.charCount > 0 && page.charCount + text.length > maxNotebookChars) break;
    page.addText(text.length > maxNotebookChars ? `${text.slice(0, maxNotebookChars)}\n(cell cut)` : text);
    for (const output of cell.outputs ?? []) renderOutput(output, page);
    next += 1;
  }
  if (next < total)
    page.addText(`(Cells ${firstCell} to ${next} of ${total}. Read on with offset ${next + 1}.)`);
  return page.blocks;
}

function textBlock(text: string): ResultContentBlock {
  return { type: "text", text };
}

interface Page {
  readonly blocks: ResultContentBlock[];
  readonly charCount: number;
  addText(text: string): void;
  addImage(image: ImageBlock): void;
}

/** Text in a row becomes one block. */
function createPage(): Page {
  const blocks: ResultContentBlock[] = [];
  let charCount = 0;
  let imageCount = 0;
  const addText = (text: string) => {
    charCount += text.length + 1;
    const last = blocks.at(-1);
    if (last?.type === "text") last.text += `\n${text}`;
    else blocks.push({ type: "text", text });
  };
  return {
    blocks,
    get charCount() {
      return charCount;
    },
    addText,
    addImage(image) {
      imageCount += 1;
      if (imageCount > maxImages) addText("(image left out: there are too many)");
      else if (image.source.data.length > maxImageChars) addText("(image left out: it is larger than 5 MB)");
      else blocks.push(image);
    },
  };
}

/** `number` is 0-based, as NotebookEdit takes it. */
function renderSource({ cell, number }: { cell: NotebookCell; number: number }): string {
  const head = `--- cell ${number}, id ${cellIdOf(cell, number)}, ${cell.cell_type} ---`;
  return `${head}\n${textOfSource(cell.source)}`;
}

function renderOutput(output: unknown, page: Page): void {
  if (!isRecord(output)) return;
  const data = isRecord(output.data) ? output.data : {};
  const image = imageOf(data);
  const text = textOfOutput(output, data);
  if (text !== "") page.addText(`Output:\n${cutOutput(text)}`);
  if (image !== undefined) page.addImage(image);
}

function textOfOutput(output: Record<string, unknown>, data: Record<string, unknown>): string {
  if (output.output_type === "error") {
    const traceback = Array.isArray(output.traceback) ? output.traceback.join("\n") : "";
    return withoutColours(traceback || `${String(output.ename)}: ${String(output.evalue)}`);
  }
  return withoutColours(textOfSource(output.text ?? data["text/plain"] ?? data["text/markdown"] ?? ""));
}

function withoutColours(text: string): string {
  return text.replaceAll(/\u001B\[[0-9;]*m/g, "");
}

function cutOutput(text: string): string {
  if (text.length <= maxOutputChars) return text;
  const leftOut = groupDigits(text.length - maxOutputChars);
  return `${text.slice(0, maxOutputChars)}\n(${leftOut} more characters of output)`;
}

function imageOf(data: Record<string, unknown>): ImageBlock | undefined {
  for (const mediaType of ["image/png", "image/jpeg", "image/gif", "image/webp"]) {
    const encoded = textOfSource(data[mediaType] ?? "").replaceAll(/\s/g, "");
    if (encoded !== "")
      return { type: "image", source: { type: "base64", media_type: mediaType, data: encoded } };
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
