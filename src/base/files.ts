import { createHash } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import { CadreError, systemCodeOf } from "./errors.ts";
import type { FileSystem, Random, World } from "./world.ts";

/**
 * Replaces the whole content of a file, or creates it: readers see the old or the new content, never a part,
 * also after a crash. Through a link it replaces what the link points to. The file keeps its mode; a new one
 * is private unless `mode` says otherwise.
 */
export async function replaceFile(options: {
  files: FileSystem;
  random: Pick<Random, "bytes">;
  path: string;
  data: string | Uint8Array;
  mode?: number;
}): Promise<void> {
  const { files } = options;
  const target = await targetOf(files, options.path);
  const folder = dirname(target);
  const mode = options.mode ?? (await modeOf(files, target)) ?? 0o600;
  // Names have a limit, so a long one is cut; the random part keeps it apart from others.
  const name = `.${basename(target).slice(0, 40)}.${Buffer.from(options.random.bytes(8)).toString("hex")}.tmp`;
  const temporary = join(folder, name);
  const handle = await files.open(temporary, "create", { fileMode: 0o600 });
  try {
    try {
      await handle.write(typeof options.data === "string" ? Buffer.from(options.data) : options.data);
      if (mode !== 0o600) await files.chmod(temporary, mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await files.rename(temporary, target);
  } catch (error) {
    await files.remove(temporary, { force: true }).catch(() => {});
    throw error;
  }
  await files.syncFolder(folder);
}

/** Where `path` leads, also when the last link points to a file that does not exist yet. */
async function targetOf(files: FileSystem, path: string): Promise<string> {
  let current = path;
  for (let hops = 0; hops < 40; hops++) {
    try {
      return await files.realPath(current);
    } catch (error) {
      if (systemCodeOf(error) !== "ENOENT") throw error;
    }
    const next = await files.readLink(current).catch(() => undefined);
    if (next === undefined) return current;
    current = resolve(dirname(current), next);
  }
  throw new CadreError({
    code: "too-many-links",
    message: `${path} leads through more than 40 links. Point it to a file.`,
    data: { path },
  });
}

async function modeOf(files: FileSystem, path: string): Promise<number | undefined> {
  try {
    return (await files.stat(path)).mode;
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Makes sure that `path` is a folder into which only its owner can look or write. One that others could have
 * written to is refused, not repaired: nobody knows what they have put there.
 */
export async function ensurePrivateFolder(
  world: Pick<World, "files" | "platform">,
  path: string,
): Promise<void> {
  const { files } = world;
  await files.makeFolder(path, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    // Something else is there: the look below says what.
    if (systemCodeOf(error) !== "EEXIST") throw error;
  });
  const info = await files.lstat(path);
  if (info.kind === "link") throw notPrivate(path, "it is a link");
  if (info.kind !== "folder") throw notPrivate(path, "it is not a folder");
  if (world.platform === "win32") return;
  if ((info.mode & 0o022) !== 0) throw notPrivate(path, "other users can write to it");
  try {
    // Also when the mode is right already: only the owner may do this.
    await files.chmod(path, 0o700);
  } catch (error) {
    if (systemCodeOf(error) === "EPERM") throw notPrivate(path, "it belongs to another user", error);
    throw error;
  }
}

function notPrivate(path: string, why: string, cause?: unknown): CadreError {
  return new CadreError({
    code: "folder-not-private",
    message: `The folder ${path} cannot be used for private data: ${why}. Move it away, or make it a folder of yours that nobody else can write to.`,
    data: { path },
    cause,
  });
}

/** SHA-256, in hexadecimal digits. */
export function hashOf(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
