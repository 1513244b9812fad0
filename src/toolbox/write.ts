import * as z from "zod";
import { restoreTagsOf } from "../base/markup.ts";
import { defineTool, type Tool } from "../tools/tool.ts";
import { type CurrentFile, changeFile, type FileChange, factsOfChange, type NewText } from "./change-file.ts";
import { countLines, formatCount } from "./line-numbers.ts";
import { displayPath, resolvePath } from "./resolve-path.ts";
import { canEncode, type DecodedText, nameOfEncoding, plainUtf8 } from "./text-file.ts";

const WriteInput = z.object({
  file_path: z.string().describe("The file to write: absolute, or relative to the current folder"),
  content: z.string().describe("The whole new content of the file"),
});

export interface WriteOutput extends FileChange {
  readonly summary: string;
}

export function createWriteTool(): Tool {
  return defineTool({
    name: "Write",
    description,
    input: WriteInput,
    async call(input, context): Promise<WriteOutput> {
      const path = resolvePath(input.file_path, context);
      const { content, ...change } = await changeFile({
        path,
        context,
        change: (current) => fitToFile(input.content, current),
      });
      const lines = formatCount(countLines(content.text), "line");
      const summary = change.created
        ? `Created ${displayPath(path, context)} (${lines}).`
        : `Updated ${displayPath(path, context)} (${lines}, before ${content.linesBefore}).`;
      return { ...change, summary: content.note === undefined ? summary : `${summary} ${content.note}` };
    },
    facts: factsOfChange,
    subject: (input, context) => ({ path: resolvePath(input.file_path, context) }),
    toResult: (output) => output.summary,
  });
}

const description = `Writes a whole file: creates it, with the folders above it, or replaces all that it held.

An existing file must have been read with Read before, and must not have changed since; otherwise the call fails and nothing is written. The write is atomic: the file is never seen half written. An existing file keeps its permissions, its encoding, and CRLF line ends if it had them throughout.

To change a part of a file use Edit, which sends less and cannot drop the rest by accident. Write no documentation or notes that nobody asked for.`;

interface FittedText extends NewText {
  readonly linesBefore: number;
  readonly note?: string;
}

/** A file keeps its encoding and its line ends; the content is otherwise written as given. */
function fitToFile(content: string, current: CurrentFile | undefined): FittedText {
  const old = current?.decoded;
  if (old === undefined) return { text: content, format: plainUtf8, linesBefore: 0 };
  const meant = restoreTagsOf(old.text, content);
  const unmarked = old.format.bom && meant.startsWith("\uFEFF") ? meant.slice(1) : meant;
  const text =
    isCrlfThroughout(old) && !unmarked.includes("\r") ? unmarked.replaceAll("\n", "\r\n") : unmarked;
  const linesBefore = countLines(old.text);
  if (old.format.encoding !== "latin-1" || canEncode(text, old.format))
    return { text, format: old.format, linesBefore };
  // All of the old content goes, so nothing is lost by another encoding.
  const note = `It is UTF-8 now: ${nameOfEncoding(old.format.encoding)}, its encoding before, cannot express the new content.`;
  return { text, format: plainUtf8, linesBefore, note };
}

function isCrlfThroughout({ text }: DecodedText): boolean {
  return text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
}
