/**
 * Where large results are put away whole, while the model gets a cut with a note that says where the rest is.
 */

import { join } from "node:path";
import { messageOf, systemCodeOf } from "../base/errors.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import { groupDigits } from "../base/group-digits.ts";
import type { World } from "../base/world.ts";

export interface ResultStore {
  /** The folder; made when it is first needed. Readable by the session's tools without asking. */
  readonly folder: string;
  /** Keeps `text` and answers with the path of the file. */
  keep(name: string, text: string): Promise<string>;
}

export function createResultStore(options: { world: World; folder: string }): ResultStore {
  const { world, folder } = options;
  let ready: Promise<void> | undefined;

  const prepare = async (): Promise<void> => {
    ready ??= ensurePrivateFolder(world, folder);
    try {
      await ready;
    } catch (error) {
      ready = undefined;
      throw error;
    }
  };

  return {
    folder,
    async keep(name, text) {
      const path = join(folder, fileNameFor(name, world));
      await prepare();
      try {
        await writeWhole(world, path, text);
      } catch (error) {
        if (systemCodeOf(error) !== "ENOENT") throw error;
        // Someone cleaned up the folder while the session was running.
        ready = undefined;
        await prepare();
        await writeWhole(world, path, text);
      }
      return path;
    },
  };
}

/** Part of it is random, so that nobody can guess the name and plant a file there. */
function fileNameFor(name: string, world: World): string {
  const readable = name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, 40);
  return `${readable}-${Buffer.from(world.random.bytes(12)).toString("hex")}.txt`;
}

async function writeWhole(world: World, path: string, text: string): Promise<void> {
  try {
    await world.files.writeFile(path, text, { mode: 0o600, exclusive: true });
  } catch (error) {
    // Half a result would pass for the whole one.
    if (systemCodeOf(error) !== "EEXIST") await world.files.remove(path, { force: true }).catch(() => {});
    throw error;
  }
}

/** `text` if it is short; otherwise its beginning and its end, and between them where the whole is. */
export async function limitResult(options: {
  text: string;
  maxChars: number;
  store: ResultStore;
  name: string;
}): Promise<string> {
  const { text, maxChars, store, name } = options;
  if (text.length <= maxChars) return text;
  const head = text.slice(0, endOfHead(text, Math.floor((maxChars * 3) / 4)));
  const tail = text.slice(startOfTail(text, text.length - Math.floor(maxChars / 4)));
  const leftOut = groupDigits(text.length - head.length - tail.length);
  const whole = await store.keep(name, text).then(
    (path) => `The whole is in ${path}; Read can read it, in parts with offset and limit.`,
    (error: unknown) => `The whole could not be kept: ${messageOf(error)}`,
  );
  return `${endLine(head)}[${leftOut} characters were left out here. ${whole}]\n${tail}`;
}

function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** At a line end if there is one in the last half, never between the halves of a surrogate pair. */
function endOfHead(text: string, limit: number): number {
  const lineEnd = text.lastIndexOf("\n", limit - 1) + 1;
  if (lineEnd > limit / 2 && lineEnd <= limit) return lineEnd;
  return splitsPair(text, limit) ? limit - 1 : limit;
}

function startOfTail(text: string, limit: number): number {
  const lineStart = text.indexOf("\n", limit - 1) + 1;
  if (lineStart > 0 && lineStart < limit + (text.length - limit) / 2) return lineStart;
  return splitsPair(text, limit) ? limit + 1 : limit;
}

function splitsPair(text: string, index: number): boolean {
  const before = text.charCodeAt(index - 1);
  const after = text.charCodeAt(index);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}
