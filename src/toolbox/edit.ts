import * as z from "zod";
import { neutralizeTags, restoreTags, restoreTagsOf } from "../base/markup.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { type CurrentFile, changeFile, type FileChange, factsOfChange, type NewText } from "./change-file.ts";
import { describeClosest } from "./closest-text.ts";
import { describeMissingFile } from "./find-file.ts";
import { lineNumberAt, numberLines, splitLines } from "./line-numbers.ts";
import { findMatches, replaceSpans, type Span, withoutOverlaps } from "./replace-text.ts";
import { displayPath, resolvePath } from "./resolve-path.ts";
import { plainUtf8 } from "./text-file.ts";

const EditInput = z.object({
  file_path: z.string().describe("The file to change: absolute, or relative to the current folder"),
  old_string: z
    .string()
    .describe("The exact text to replace, without line numbers; empty for a new or empty file"),
  new_string: z.string().describe("The text that takes its place, literally"),
  replace_all: z
    .boolean()
    .optional()
    .describe("Replace every occurrence. Default: false, the text must be unique"),
});
type EditInput = z.infer<typeof EditInput>;

export interface EditOutput extends FileChange {
  readonly replacements: number;
  readonly summary: string;
}

export function createEditTool(): Tool {
  return defineTool({
    name: "Edit",
    description,
    input: EditInput,
    async call(input, context): Promise<EditOutput> {
      const path = resolvePath(input.file_path, context);
      const { content, ...change } = await changeFile({
        path,
        context,
        change: (current) => edit({ input, current, path, context }),
      });
      const replacements = content.spans.length;
      const shown = displayPath(path, context);
      return { ...change, replacements, summary: summarise({ shown, content, created: change.created }) };
    },
    facts: factsOfChange,
    subject: (input, context) => ({ path: resolvePath(input.file_path, context) }),
    toResult: (output) => output.summary,
  });
}

const description = `Replaces one exact piece of text in a file by another.

Read the file first: the call fails if it was not read or has changed since. old_string must match the file exactly, white space and indentation included, and must occur once; add lines around it until it is unique, or set replace_all to change every occurrence. Leave out the line numbers that Read shows. Line ends (LF or CRLF), encoding and permissions of the file are kept, so write plain line feeds.

An empty old_string creates a file, or fills an empty one. The answer shows the changed lines with their numbers.`;

interface EditedText extends NewText {
  readonly spans: readonly Span[];
}

interface Edit {
  input: EditInput;
  current: CurrentFile | undefined;
  path: string;
  context: ToolContext;
}

async function edit({ input, current, path, context }: Edit): Promise<EditedText> {
  const { old_string: oldText, new_string: newText } = input;
  const shown = displayPath(path, context);
  if (oldText === newText)
    throw new ToolFailure("old_string and new_string are the same: there is nothing to change.");
  if (current === undefined) {
    if (oldText !== "") throw await describeMissingFile(path, context);
    return { text: newText, format: plainUtf8, spans: [{ start: 0, end: newText.length }] };
  }
  const { decoded } = current;
  if (decoded === undefined) throw new ToolFailure(`${shown} is not a text file and cannot be edited.`);
  const { text, format } = decoded;
  if (oldText === "") {
    if (text === "") return { text: newText, format, spans: [{ start: 0, end: newText.length }] };
    throw new ToolFailure(
      `${shown} is not empty, so an empty old_string does not say what to replace. Give the text to replace, or use Write to replace the whole file.`,
    );
  }
  const meant = asInFile({ text, oldText, newText });
  const spans = chooseSpans({ text, oldText: meant.oldText, replaceAll: input.replace_all ?? false, shown });
  return { ...replaceSpans({ text, spans, ...meant }), format };
}

/** Tags of the runtime are shown neutralised (docs/decisions/003): what was copied from there means what is in the file. */
function asInFile(given: { text: string; oldText: string; newText: string }): {
  oldText: string;
  newText: string;
} {
  const { text, oldText, newText } = given;
  const restored = restoreTags(oldText);
  if (restored !== oldText && findMatches(text, oldText).length === 0)
    return { oldText: restored, newText: restoreTags(newText) };
  // Who names the tag as it is in the file knows it, and means the new text as it stands too.
  const namesTag = neutralizeTags(oldText) !== oldText;
  return { oldText, newText: namesTag ? newText : restoreTagsOf(text, newText) };
}

function chooseSpans(options: { text: string; oldText: string; replaceAll: boolean; shown: string }): Span[] {
  const { text, oldText, replaceAll, shown } = options;
  const matches = findMatches(text, oldText);
  if (matches.length === 0) {
    const hint = describeClosest(text, oldText) ?? "Read the file again and copy the text from it.";
    throw new ToolFailure(`old_string was not found in ${shown}. Nothing was changed. ${hint}`);
  }
  if (matches.length > 1 && !replaceAll)
    throw new ToolFailure(
      `old_string occurs ${matches.length} times in ${shown}, at ${listLines(text, matches)}. Nothing was changed. Add lines around it to old_string until it is unique, or set replace_all.`,
    );
  return withoutOverlaps(matches);
}

function listLines(text: string, spans: readonly Span[]): string {
  const numbers = [...new Set(spans.slice(0, maxListedLines).map((span) => lineNumberAt(text, span.start)))];
  const list = numbers.join(", ");
  const noun = numbers.length === 1 ? "line" : "lines";
  return spans.length > maxListedLines ? `${noun} ${list} and more` : `${noun} ${list}`;
}

const maxListedLines = 20;

function summarise(options: { shown: string; content: EditedText; created: boolean }): string {
  const { shown, content, created } = options;
  const [first] = content.spans;
  if (created) return `Created ${shown}.`;
  if (first === undefined) return `Edited ${shown}.`;
  const count = content.spans.length;
  const head =
    count === 1
      ? `Edited ${shown}:`
      : `Edited ${shown}: ${count} replacements, at ${listLines(content.text, content.spans)}. The first:`;
  return `${head}\n${snippetAround(content.text, first)}`;
}

const contextLines = 3;
const maxSnippetLines = 30;
const maxSnippetLineChars = 500;

function snippetAround(text: string, span: Span): string {
  const firstChanged = lineNumberAt(text, span.start);
  const lastChanged = lineNumberAt(text, Math.max(span.start, span.end - 1));
  const from = Math.max(1, firstChanged - contextLines);
  const until = lastChanged + contextLines;
  const lines = splitLines(text)
    .slice(from - 1, until)
    .map((line) => (line.length > maxSnippetLineChars ? `${line.slice(0, maxSnippetLineChars)} ...` : line));
  if (lines.length <= maxSnippetLines) return numberLines(lines, from);
  const left = lines.length - maxSnippetLines;
  return `${numberLines(lines.slice(0, maxSnippetLines), from)}\n(${left} more lines)`;
}
