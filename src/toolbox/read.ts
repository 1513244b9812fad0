import * as z from "zod";
import { systemCodeOf } from "../base/errors.ts";
import { hashOf } from "../base/files.ts";
import type { FileHandle } from "../base/world.ts";
import type { ResultContentBlock } from "../contracts/message.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { describeAccessError, describeMissingFile, refuseBrokenLink, refuseUnlessFile } from "./find-file.ts";
import { imageTypeOf, isPdf } from "./image-type.ts";
import { assertJudged } from "./judged-path.ts";
import { parseNotebook } from "./notebook.ts";
import { type ByteSource, loadIfSmall, readUpTo } from "./read-bytes.ts";
import { renderNotebook } from "./read-notebook.ts";
import { defaultMaxLines, readTextPage } from "./read-text.ts";
import { displayPath, resolvePath } from "./resolve-path.ts";
import { decodeText, looksBinary, sampleBytes } from "./text-file.ts";

const ReadInput = z.object({
  file_path: z.string().describe("The file to read: absolute, or relative to the current folder"),
  offset: z.int().min(0).optional().describe("The line to begin with, counted from 1"),
  limit: z.int().min(1).optional().describe(`How many lines to read. Default: ${defaultMaxLines}`),
});
type ReadInput = z.infer<typeof ReadInput>;

export interface ReadOutput {
  readonly path: string;
  readonly content: string | ResultContentBlock[];
}

export function createReadTool(): Tool {
  return defineTool({
    name: "Read",
    description,
    input: ReadInput,
    isReadOnly: () => true,
    interruptBehavior: "cancel",
    // It pages by itself: a cut would put a copy of the file into a file.
    maxResultChars: Number.POSITIVE_INFINITY,
    async call(input, context): Promise<ReadOutput> {
      const path = resolvePath(input.file_path, context);
      const handle = await openExisting(path, context);
      try {
        const { content, hash, realPath } = await readOpened({
          handle,
          input,
          shown: displayPath(path, context),
          context,
        });
        if (hash !== undefined) context.agent.fileReads.record(realPath, hash);
        return { path: realPath, content };
      } catch (error) {
        throw describeAccessError(error, displayPath(path, context));
      } finally {
        await handle.close();
      }
    },
    facts: ({ path }) => ({ path }),
    subject: (input, context) => ({ path: resolvePath(input.file_path, context) }),
    toResult: (output) => output.content,
  });
}

const description = `Reads a file from disk and returns it as numbered lines (number, tab, line).

Without offset and limit the first ${defaultMaxLines} lines come back; a note tells where to read on. Very long lines are cut. Also reads images (PNG, JPEG, GIF, WebP, up to 5 MB), PDF documents (up to 20 MB) and notebooks (.ipynb: cells with ids and outputs; offset and limit then count cells).

A file must be read before Edit or Write may change it. Read several files at once when you need them all. For a folder use Glob; to find a text in many files use Grep.`;

/** Regular files by name, but reading them waits for news from the kernel. */
const endlessFiles = /^\/proc\/kmsg$|^\/sys\/kernel\/(debug\/)?tracing\/.*trace_pipe$/;

interface Opened {
  readonly handle: ByteSource;
  readonly size: number;
  readonly input: ReadInput;
  readonly path: string;
  readonly shown: string;
  readonly signal: AbortSignal;
}

interface ReadContent {
  readonly content: string | ResultContentBlock[];
  readonly hash: string | undefined;
}

async function openExisting(path: string, context: ToolContext): Promise<FileHandle> {
  try {
    return await context.world.files.open(path, "read");
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") throw describeAccessError(error, displayPath(path, context));
  }
  await refuseBrokenLink(path, context);
  throw await describeMissingFile(path, context);
}

async function readOpened(options: {
  handle: FileHandle;
  input: ReadInput;
  shown: string;
  context: ToolContext;
}): Promise<ReadContent & { realPath: string }> {
  const { handle, input, shown, context } = options;
  const info = await handle.stat();
  refuseUnlessFile(info, shown);
  const path = await handle.realPath();
  assertJudged(path, context, shown);
  if (endlessFiles.test(path)) throw new ToolFailure(`${shown} has no end: reading it would block for ever.`);
  const source = await loadIfSmall(handle, info.size);
  const sample = await source.read(0, sampleBytes);
  const opened = { handle: source, size: info.size, input, path, shown, signal: context.signal };
  return { ...(await readByKind(opened, sample)), realPath: path };
}

async function readByKind(opened: Opened, sample: Uint8Array): Promise<ReadContent> {
  const imageType = imageTypeOf(sample);
  if (imageType !== undefined) return readImage(opened, imageType);
  if (isPdf(sample)) return readPdf(opened);
  if (looksBinary(sample))
    throw new ToolFailure(
      `${opened.shown} is a binary file (${formatSize(opened.size)}), not text. Look at it with a shell command that knows its format.`,
    );
  const notebook = opened.path.endsWith(".ipynb") ? await readNotebook(opened) : undefined;
  if (notebook !== undefined) return notebook;
  const { handle, size, input, signal } = opened;
  const { text, hash } = await readTextPage({
    handle,
    size,
    firstLine: Math.max(1, input.offset ?? 1),
    maxLines: input.limit ?? defaultMaxLines,
    signal,
  });
  return { content: text, hash };
}

const megabyte = 1024 * 1024;

async function readImage(opened: Opened, mediaType: string): Promise<ReadContent> {
  const bytes = await readUpTo({ ...opened, maxBytes: 5 * megabyte });
  if (bytes === undefined)
    throw new ToolFailure(
      `${opened.shown} is an image of ${formatSize(opened.size)}; at most 5 MB can be shown. Make a smaller copy and read that.`,
    );
  const source = { type: "base64" as const, media_type: mediaType, data: toBase64(bytes) };
  return { content: [{ type: "image", source }], hash: hashOf(bytes) };
}

async function readPdf(opened: Opened): Promise<ReadContent> {
  const bytes = await readUpTo({ ...opened, maxBytes: 20 * megabyte });
  if (bytes === undefined)
    throw new ToolFailure(
      `${opened.shown} is a PDF of ${formatSize(opened.size)}; at most 20 MB can be read. Split it, or extract its text with a shell command such as pdftotext.`,
    );
  const source = {
    type: "base64" as const,
    media_type: "application/pdf" as const,
    data: toBase64(bytes),
  };
  const text = `PDF document ${opened.shown} (${formatSize(bytes.length)})`;
  return {
    content: [
      { type: "text", text },
      { type: "document", source },
    ],
    hash: hashOf(bytes),
  };
}

/** Undefined if it is no notebook in spite of its name: then it is shown as the text that it is. */
async function readNotebook(opened: Opened): Promise<ReadContent | undefined> {
  const bytes = await readUpTo({ ...opened, maxBytes: 50 * megabyte });
  if (bytes === undefined) return undefined;
  const notebook = parseNotebook(decodeText(bytes)?.text ?? "");
  if (notebook === undefined) return undefined;
  const { offset, limit } = opened.input;
  const content = renderNotebook({
    notebook,
    firstCell: Math.max(1, offset ?? 1),
    maxCells: limit ?? notebook.cells.length,
  });
  return { content, hash: hashOf(bytes) };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < megabyte) return `${(bytes / 1024).toFixed(1)} kB`;
  return `${(bytes / megabyte).toFixed(1)} MB`;
}
