/** Columns for a terminal: they fit its width, and count the cells of wide characters. */
import { forTerminal } from "../base/markup.ts";

const gap = "  ";
/** A last column narrower than this is not pleasant to read. */
const leastLast = 20;

/**
 * Rows under a header; the last column wraps. `width` is that of the terminal; absent: a pipe, where a row is a
 * line. What is too long for its place ends its line, and the row goes on below; where there is too little room for
 * columns each row becomes a paragraph.
 */
export function layoutTable(options: {
  header: readonly string[];
  rows: readonly (readonly string[])[];
  width: number | undefined;
}): string {
  const { width = Number.POSITIVE_INFINITY } = options;
  const [header = [], ...rows] = [options.header, ...options.rows].map((cells) => cells.map(cellOf));
  const widths = header.slice(0, -1).map((title, column) => {
    const most = Math.max(cellsOf(title), Math.floor(width * (column === 0 ? 0.3 : 0.2)));
    return Math.max(
      ...[header, ...rows].map((cells) => cellsOf(cells[column] ?? "")).filter((each) => each <= most),
    );
  });
  const indent = widths.reduce((sum, each) => sum + each + gap.length, 0);
  if (width - indent < leastLast) return paragraphs({ header, rows, width });
  return [header, ...rows].map((cells) => rowOf({ cells, widths, last: width - indent })).join("");
}

function rowOf({ cells, widths, last }: { cells: string[]; widths: number[]; last: number }): string {
  const lines: string[] = [];
  let line = "";
  let indent = 0;
  for (const [column, width] of widths.entries()) {
    const cell = cells[column] ?? "";
    line += cell;
    indent += width + gap.length;
    if (cellsOf(cell) > width) {
      lines.push(line);
      line = "";
    }
    line = padded(line, indent);
  }
  const [first = "", ...rest] = wrapText(cells.at(-1) ?? "", last);
  lines.push(line + first, ...rest.map((each) => " ".repeat(indent) + each));
  return lines.map((each) => `${each.trimEnd()}\n`).join("");
}

function paragraphs(options: {
  header: readonly string[];
  rows: readonly string[][];
  width: number;
}): string {
  const { header, rows, width } = options;
  return rows
    .map(([first = "", ...others]) => {
      const lines = others.flatMap((cell, index) =>
        wrapText(`${(header[index + 1] ?? "").toLowerCase()}: ${cell}`, width - 4),
      );
      return `${first}\n${lines.map((line) => `  ${line}\n`).join("")}`;
    })
    .join("");
}

/** Between words; a word that is longer than a line has one for itself. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && cellsOf(line) + 1 + cellsOf(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** On one line, and as wide as it will be when it is shown. */
function cellOf(text: string): string {
  return forTerminal(text.replace(/\s+/g, " ").trim());
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - cellsOf(text)));
}

function cellsOf(text: string): number {
  let cells = 0;
  for (const character of text) cells += none.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return cells;
}

const none = /[\p{Mn}\p{Me}\p{Cf}]/u;
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}]/u;
