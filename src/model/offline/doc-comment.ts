/** What the authors wrote about a definition, a file or a folder. */
import { languageOf } from "./languages.ts";

/** The comment that stands above line `line` (1-based), or the Python docstring below it. */
export function docOfDefinition(path: string, lines: readonly string[], line: number): string | undefined {
  if (languageOf(path)?.name === "Python") {
    const body = bodyStart(lines, line - 1);
    const docstring = body === undefined ? undefined : docstringAt(lines, body);
    if (docstring !== undefined) return docstring;
  }
  let end = line - 2;
  while (end >= 0 && /^\s*(?:@|#\[|\[[A-Z])/.test(lines[end] ?? "")) end -= 1;
  let start = end;
  if (/\*\/\s*$/.test(lines[end] ?? "")) {
    while (start > 0 && !/\/\*/.test(lines[start] ?? "")) start -= 1;
  } else {
    while (start >= 0 && isLineComment(path, lines[start] ?? "")) start -= 1;
    start += 1;
  }
  return start > end ? undefined : cleaned(lines.slice(start, end + 1));
}

/** The comment or docstring that a file opens with: licence headers and tool marks are not it. */
export function docOfFile(path: string, lines: readonly string[]): string | undefined {
  let at = 0;
  for (;;) {
    while (at < lines.length && /^\s*$|^#!|^["']use strict["']|^# -\*-/.test(lines[at] ?? "")) at += 1;
    if (languageOf(path)?.name === "Python") {
      const docstring = docstringAt(lines, at);
      if (docstring !== undefined) return docstring;
    }
    const end = commentEnd(path, lines, at);
    if (end === at) return undefined;
    const text = cleaned(lines.slice(at, end));
    if (
      text !== undefined &&
      !/copyright|licen[sc]e|\bauthors?:|maintainer|spdx|eslint|@ts-|prettier|coding[:=]|generated|biome-ignore/i.test(
        text,
      )
    ) {
      // A comment directly above code speaks of that code, unless it says that it is about the file.
      const aboutFile =
        /^\s*(?:$|import\b|package\b|use\b|from\b|#include|namespace\b|\/\/|\/\*|export \* |mod\b|pub mod\b|module\b|#pragma|#ifndef)/.test(
          lines[end] ?? "",
        );
      return aboutFile || /^\s*(?:\/\/!|\/\*!)/.test(lines[at] ?? "") ? text : undefined;
    }
    at = end;
  }
}

/** The first sentence, on one line, at most `limit` characters. */
export function firstSentence(text: string, limit = 160): string {
  const line = text.replace(/\s+/g, " ").trim();
  const sentence = /^.*?[.!?](?=\s+[A-Z"'`(]|$)/.exec(line)?.[0] ?? line;
  return shortened(sentence, limit);
}

export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1);
  const space = cut.lastIndexOf(" ");
  return `${(space > limit / 2 ? cut.slice(0, space) : cut).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** The first paragraph of prose in a markdown, reStructuredText or plain text file. */
export function firstParagraph(lines: readonly string[]): string | undefined {
  let paragraph: string[] = [];
  let fenced = false;
  for (const line of lines) {
    const isFence = /^\s*(?:```|~~~)/.test(line);
    if (isFence) fenced = !fenced;
    const text = fenced || isFence ? "" : plainProse(line);
    if (text === undefined) continue;
    if (text !== "") paragraph.push(text);
    else if (isProse(paragraph)) break;
    else paragraph = [];
  }
  return isProse(paragraph) ? paragraph.join(" ") : undefined;
}

/** Undefined: skip the line as if it were not there. Empty: the paragraph ends. */
function plainProse(line: string): string | undefined {
  const text = line.trim();
  if (/^(?:={3,}|-{3,}|~{3,}|\*{3,})$/.test(text)) return "";
  if (/^(?:#|>|\||\.\. |:\w+:|- |\* |\d+\. |<)/.test(text)) return "";
  if (/^\[!\[|^!\[/.test(text)) return undefined;
  return text
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replace(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replace(/\*\*|__/g, "")
    .trim();
}

function isProse(paragraph: readonly string[]): boolean {
  return paragraph.join(" ").split(/\s+/).length >= 3;
}

function bodyStart(lines: readonly string[], at: number): number | undefined {
  if (!/^\s*(?:class|def|async\s+def)\b/.test(lines[at] ?? "")) return undefined;
  for (let index = at; index < Math.min(lines.length, at + 20); index++)
    if (/:\s*(?:#.*)?$/.test(lines[index] ?? "")) return index + 1;
  return undefined;
}

/** Its first paragraph: the string itself may be long. */
function docstringAt(lines: readonly string[], at: number): string | undefined {
  const open = /^\s*[rRuUbB]?("""|'''|"(?!"")|'(?!''))/.exec(lines[at] ?? "");
  if (open?.[1] === undefined) return undefined;
  const rest = [(lines[at] ?? "").slice(open[0].length), ...lines.slice(at + 1, at + 40)].join("\n");
  const end = rest.indexOf(open[1]);
  if (open[1].length === 1 && (end < 0 || rest.slice(0, end).includes("\n"))) return undefined;
  const text = (end < 0 ? rest : rest.slice(0, end))
    .replace(/^\\\n/, "")
    .trim()
    .split(/\n\s*\n/, 1)[0]
    ?.replace(/\s+/g, " ");
  return text === "" ? undefined : text;
}

function isLineComment(path: string, line: string): boolean {
  return usesHash(path) ? /^\s*#(?!!)/.test(line) : /^\s*\/\//.test(line);
}

function usesHash(path: string): boolean {
  return ["Python", "Ruby", "Shell", "Perl", "Elixir", "R", "YAML", "TOML", "Makefile", "CMake"].includes(
    languageOf(path)?.name ?? "",
  );
}

function commentEnd(path: string, lines: readonly string[], at: number): number {
  if (/^\s*\/\*/.test(lines[at] ?? "")) {
    let end = at;
    while (end < lines.length && !/\*\//.test(lines[end] ?? "")) end += 1;
    return Math.min(end + 1, lines.length);
  }
  let end = at;
  while (end < lines.length && isLineComment(path, lines[end] ?? "")) end += 1;
  return end;
}

function cleaned(lines: readonly string[]): string | undefined {
  const text = lines
    .map((line) =>
      line.replace(/^\s*(?:\/\*+!?|\*+\/|\*(?!\/)|\/\/+!?|#+)\s?/, "").replace(/\s*\*+\/\s*$/, ""),
    )
    .join("\n")
    .trim()
    .split(/\n\s*\n|\n\s*@\w/, 1)[0]
    ?.replace(/<\/?(?:summary|remarks|para|p|c|code|b|i|em)\b[^>]*>/g, " ")
    .replace(/\{@(?:link|code|linkplain) +([^}]*)\}/g, "$1")
    .replace(/\s+/g, " ")
    .trim();
  return text === undefined || text === "" || text.startsWith("@") ? undefined : text;
}
