import { groupDigits } from "../base/group-digits.ts";

/** Lines as the model sees them: a number, a tab, the line. */
export function numberLines(lines: readonly string[], firstNumber = 1): string {
  return lines.map((line, index) => numberLine(line, firstNumber + index)).join("\n");
}

export function numberLine(line: string, number: number): string {
  return `${String(number).padStart(6)}\t${line}`;
}

/** A line feed ends a line, so what follows the last one is a line only if it is not empty. */
export function splitLines(text: string): string[] {
  const lines = text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

export function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return text === "" || text.endsWith("\n") ? count : count + 1;
}

/** The number of the line in which `index` lies. */
export function lineNumberAt(text: string, index: number): number {
  let number = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < index; at = text.indexOf("\n", at + 1)) number += 1;
  return number;
}

export function formatCount(count: number, noun: string): string {
  return `${groupDigits(count)} ${noun}${count === 1 ? "" : "s"}`;
}
