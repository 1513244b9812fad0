import { join } from "node:path";
import { systemCodeOf } from "../base/errors.ts";
import { ensurePrivateFolder, hashOf, replaceFile } from "../base/files.ts";
import type { FileSystem, World } from "../base/world.ts";
import type { PrefixRecord } from "./record.ts";

type Prefix = Pick<PrefixRecord, "system" | "tools">;

/** Siblings begin with the same 30 KB: each distinct prefix is stored once, under the hash of its content. */
export interface PrefixStore {
  /** Its name. Whoever writes the name must wait for `written` before it is acknowledged. */
  referenceTo(prefix: Prefix): string;
  /** Undefined when nothing waits. If it rejects, nothing is lost: the next call tries again. */
  written(): Promise<void> | undefined;
}

export function createPrefixStore(options: {
  world: Pick<World, "files" | "random" | "platform">;
  folder: string;
}): PrefixStore {
  const { world, folder } = options;
  /** By the identity of the tool list: the same list is not written out and hashed again. */
  const known = new WeakMap<object, Map<string, string>>();
  const waiting = new Map<string, string>();
  let writing: Promise<void> | undefined;

  async function writeAll(): Promise<void> {
    await ensurePrivateFolder(world, folder);
    for (const [reference, json] of waiting) {
      const path = pathOf(folder, reference);
      if (!(await isThere(world.files, path)))
        await replaceFile({ files: world.files, random: world.random, path, data: json });
      waiting.delete(reference);
    }
  }

  function written(): Promise<void> | undefined {
    if (waiting.size === 0) return undefined;
    writing ??= writeAll().finally(() => {
      writing = undefined;
    });
    // What came while others were being written is written next.
    return writing.then(written);
  }

  return {
    referenceTo({ system, tools }) {
      const bySystem = known.get(tools) ?? new Map<string, string>();
      known.set(tools, bySystem);
      const before = bySystem.get(system);
      if (before !== undefined) return before;
      const json = JSON.stringify({ system, tools });
      const reference = hashOf(json);
      // Prompts that differ from agent to agent must not pile up here.
      if (bySystem.size >= mostPrompts) bySystem.clear();
      bySystem.set(system, reference);
      waiting.set(reference, json);
      return reference;
    },
    written,
  };
}

const mostPrompts = 32;

function pathOf(folder: string, reference: string): string {
  return join(folder, `${reference}.json`);
}

async function isThere(files: FileSystem, path: string): Promise<boolean> {
  try {
    await files.stat(path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Undefined if it is not there or not what was stored. */
export async function readPrefix(options: {
  files: FileSystem;
  folder: string;
  reference: string;
}): Promise<Prefix | undefined> {
  if (!/^[0-9a-f]{64}$/.test(options.reference)) return undefined;
  try {
    const json = await options.files.readText(pathOf(options.folder, options.reference));
    if (hashOf(json) !== options.reference) return undefined;
    const { PrefixRecord } = await import("./record.ts");
    return PrefixRecord.pick({ system: true, tools: true }).parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}
