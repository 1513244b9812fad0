/** Why an exact match failed, as far as it can be told: a hint that lets the model mend its next call. */
import { numberLines, splitLines } from "./line-numbers.ts";

const maxSearchedChars = 2_000_000;
const maxShownLines = 12;

export function describeClosest(text: string, wanted: string): string | undefined {
  if (text.length > maxSearchedChars) return undefined;
  return (
    describeNumberedLines(text, wanted) ??
    describeCarriageReturns(text, wanted) ??
    describeLookAlike(text, wanted) ??
    describeFirstLine(text, wanted)
  );
}

function describeNumberedLines(text: string, wanted: string): string | undefined {
  const lines = wanted.split("\n");
  if (!lines.some((line) => numberPrefix.test(line))) return undefined;
  const stripped = lines.map((line) => line.replace(numberPrefix, "")).join("\n");
  return stripped.trim() !== "" && text.replaceAll("\r\n", "\n").includes(stripped)
    ? "It is there without the line numbers: they are no part of the file, leave them out."
    : undefined;
}

const numberPrefix = /^\s*\d+\t/;

function describeCarriageReturns(text: string, wanted: string): string | undefined {
  const toLineFeeds = (value: string) => value.replaceAll(/\r\n?/g, "\n");
  const unified = toLineFeeds(text);
  const at = unified.indexOf(toLineFeeds(wanted));
  if (at === -1) return undefined;
  const number = unified.slice(0, at).split("\n").length;
  return `The same text with other line endings (carriage returns) begins at line ${number}, every carriage return counted as a line end.`;
}

/** Looks for the same lines, white space and look-alike characters aside. */
function describeLookAlike(text: string, wanted: string): string | undefined {
  const lines = splitLines(text);
  const wantedLines = splitLines(wanted).map(skeletonOf);
  while (wantedLines[0] === "") wantedLines.shift();
  while (wantedLines.at(-1) === "") wantedLines.pop();
  if (wantedLines.length === 0) return undefined;
  const skeletons = lines.map(skeletonOf);
  const found = skeletons.findIndex((_, index) => matchesAt(skeletons, index, wantedLines));
  if (found === -1) return undefined;
  const shown = lines.slice(found, found + Math.min(wantedLines.length, maxShownLines));
  return `The same text with other white space or look-alike characters is at line ${found + 1}:\n${numberLines(shown, found + 1)}`;
}

function matchesAt(lines: readonly string[], start: number, wanted: readonly string[]): boolean {
  const last = wanted.length - 1;
  return wanted.every((part, index) => {
    const line = lines[start + index];
    if (line === undefined) return false;
    if (last === 0) return line.includes(part);
    if (index === 0) return line.endsWith(part);
    return index === last ? line.startsWith(part) : line === part;
  });
}

function skeletonOf(line: string): string {
  return line
    .normalize("NFKC")
    .replaceAll(/[\u2018\u2019\u201A\u201B]/g, "'")
    .replaceAll(/[\u201C-\u201F]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, "-")
    .replaceAll(/[\s\u200B\uFEFF]+/g, "");
}

function describeFirstLine(text: string, wanted: string): string | undefined {
  const wantedLines = splitLines(wanted).map((line) => line.trim());
  const first = wantedLines.find((line) => line !== "");
  if (first === undefined || wantedLines.length < 2) return undefined;
  const lines = splitLines(text);
  const found = lines.findIndex((line) => line.trim() === first);
  if (found === -1) return undefined;
  const shown = lines.slice(found, found + Math.min(wantedLines.length, maxShownLines));
  return `Its first line is at line ${found + 1}, but what follows differs:\n${numberLines(shown, found + 1)}`;
}
