/**
 * The one way in which tools change files: only what this agent has read and nobody changed since, all or
 * nothing, and one change to a file at a time.
 */
import { basename, dirname, join } from "node:path";
import { hashOf, replaceFile } from "../base/files.ts";
import type { World } from "../base/world.ts";
import type { CallFacts } from "../contracts/receipt.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { createFile } from "./create-file.ts";
import { describeAccessError, type FoundFile, findFile } from "./find-file.ts";
import { assertJudged } from "./judged-path.ts";
import { displayPath } from "./resolve-path.ts";
import { type DecodedText, decodeText, encodeText, type TextFormat } from "./text-file.ts";
import { unifiedDiff } from "./unified-diff.ts";

/** What lies on disk before a change. */
export interface CurrentFile {
  readonly bytes: Uint8Array;
  /** Undefined if the bytes are not text. */
  readonly decoded: DecodedText | undefined;
}

export interface NewText {
  readonly text: string;
  readonly format: TextFormat;
}

/** What a change was: the structured output of the tools that write. */
export interface FileChange {
  /** Absolute, links resolved. */
  readonly path: string;
  readonly created: boolean;
  readonly oldHash: string | undefined;
  readonly newHash: string;
  /** Unified; absent if the file was not text or is too large for one. */
  readonly diff: string | undefined;
}

/** For the receipt. */
export function factsOfChange({ path, oldHash, newHash }: FileChange): CallFacts {
  return { path, before: oldHash ?? null, after: newHash };
}

/** Larger files are read in parts only; they cannot be changed by these tools. */
export const maxChangeableBytes = 100 * 1024 * 1024;

/** `change` gets the file as it is, or undefined if there is none, and answers what it should become. */
export async function changeFile<Content extends NewText>(options: {
  path: string;
  context: ToolContext;
  change: (current: CurrentFile | undefined) => Content | Promise<Content>;
}): Promise<FileChange & { content: Content }> {
  const { path, context, change } = options;
  const found = await findFile(path, context);
  return oneAtATime({ world: context.world, path: found?.path ?? path }, async () => {
    const old = await loadUnchanged(path, context);
    const current = old && { bytes: old.bytes, decoded: decodeText(old.bytes) };
    const content = await change(current);
    assertNoPlaceholder({ old: current?.decoded?.text ?? "", fresh: content.text, context });
    const bytes = encodeText(content.text, content.format);
    const written = await write({ path, old, bytes, context });
    const newHash = hashOf(bytes);
    context.agent.fileReads.record(written, newHash);
    const oldText = current === undefined ? "" : current.decoded?.text;
    return {
      path: written,
      created: old === undefined,
      oldHash: old?.hash,
      newHash,
      diff:
        oldText === undefined
          ? undefined
          : await unifiedDiff({ path: displayPath(path, context), oldText, newText: content.text }),
      content,
    };
  });
}

/** What was read had placeholders in place of secrets; written back, they would destroy them. */
function assertNoPlaceholder(options: { old: string; fresh: string; context: ToolContext }): void {
  const { old, fresh, context } = options;
  const seen = context.agent.redactor?.redact(old) ?? old;
  if (seen === old) return;
  const placeholders = seen.match(/\[redacted: [^\]]*\]/g) ?? [];
  const lost = placeholders.find((each) => fresh.includes(each) && !old.includes(each));
  if (lost === undefined) return;
  throw new ToolFailure(
    `"${lost}" stands for a secret that the file holds and that was not shown to you. Nothing was written. Leave that part of the file as it is: change the lines around it with Edit.`,
  );
}

/** Agents of one process work side by side on the same files; without a line, the later write would win. */
async function oneAtATime<T>(options: { world: World; path: string }, work: () => Promise<T>): Promise<T> {
  const lines = linesOfWorlds.get(options.world) ?? new Map<string, Promise<unknown>>();
  linesOfWorlds.set(options.world, lines);
  const before = lines.get(options.path) ?? Promise.resolve();
  const mine = before.then(work, work);
  lines.set(options.path, mine);
  try {
    return await mine;
  } finally {
    if (lines.get(options.path) === mine) lines.delete(options.path);
  }
}

const linesOfWorlds = new WeakMap<World, Map<string, Promise<unknown>>>();

interface OldFile extends FoundFile {
  readonly bytes: Uint8Array;
  readonly hash: string;
}

async function loadUnchanged(path: string, context: ToolContext): Promise<OldFile | undefined> {
  const found = await findFile(path, context);
  if (found === undefined) return undefined;
  const shown = displayPath(path, context);
  assertJudged(found.path, context, shown);
  if (found.info.size > maxChangeableBytes)
    throw new ToolFailure(
      `${shown} is too large to be changed by this tool (${found.info.size} bytes; the limit is ${maxChangeableBytes}). Use a shell command.`,
    );
  if ((found.info.mode & 0o222) === 0)
    throw new ToolFailure(
      `${shown} is write-protected. Nothing was changed. Ask the user before you lift that.`,
    );
  const bytes = await readWhole(found.path, context);
  const hash = hashOf(bytes);
  const seen = context.agent.fileReads.hashOf(found.path);
  // An empty file that nobody read holds nothing that could be lost.
  if (seen === undefined && bytes.length > 0)
    throw new ToolFailure(`${shown} has not been read yet. Read it first, then change it.`, {
      code: "file-not-read",
    });
  if (seen !== undefined && seen !== hash)
    throw new ToolFailure(
      `${shown} has changed on disk since it was read. Nothing was written. Read it again, then make the change.`,
      { code: "file-changed" },
    );
  return { ...found, bytes, hash };
}

async function readWhole(path: string, context: ToolContext): Promise<Uint8Array> {
  try {
    return await context.world.files.readFile(path);
  } catch (error) {
    throw describeAccessError(error, displayPath(path, context));
  }
}

/** Answers with the path that was written, links resolved. */
async function write(options: {
  path: string;
  old: OldFile | undefined;
  bytes: Uint8Array;
  context: ToolContext;
}): Promise<string> {
  const { old, bytes, context } = options;
  const { files, random } = context.world;
  try {
    if (old !== undefined) {
      await replaceFile({ files, random, path: old.path, data: bytes, mode: old.info.mode });
      return old.path;
    }
    await files.makeFolder(dirname(options.path), { recursive: true });
    const folder = await files.realPath(dirname(options.path));
    const path = join(folder, basename(options.path));
    assertJudged(path, context, displayPath(options.path, context));
    await createFile({ world: context.world, path, data: bytes });
    return path;
  } catch (error) {
    throw describeAccessError(error, displayPath(options.path, context));
  }
}
