/** A copy of a session under an id of its own. The one that is copied is only read, and may be in use. */
import { join } from "node:path";
import { systemCodeOf } from "../base/errors.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import type { FileHandle, FileSystem, World } from "../base/world.ts";
import { notesPathOf, readNotes } from "../services/notes-file.ts";
import { prefixFolderOf } from "../transcript/agent-transcripts.ts";
import type { SessionFiles } from "../transcript/location.ts";
import type { HeadRecord } from "../transcript/record.ts";

export async function copySession(options: {
  world: Pick<World, "files" | "platform">;
  from: SessionFiles;
  to: SessionFiles;
  /** The first line of the copy: the first head that is read counts. */
  head: HeadRecord;
}): Promise<void> {
  const { world, from, to } = options;
  const { files } = world;
  await ensurePrivateFolder(world, to.projectFolder);
  const head = Buffer.from(`${JSON.stringify(options.head)}\n`);
  await copyFile(files, { from: from.transcript, to: to.transcript, head });
  await files.syncFolder(to.projectFolder);
  await copyFolder(world, { from: from.subagents, to: to.subagents });
  await copyFolder(world, { from: prefixFolderOf(from.subagents), to: prefixFolderOf(to.subagents) });
  await copyFolder(world, { from: from.results, to: to.results });
  await copyNotes(world, { from: from.folder, to: to.folder });
}

async function copyNotes(
  world: Pick<World, "files" | "platform">,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const notes = await readNotes(world.files, from);
  if (notes === undefined) return;
  await ensurePrivateFolder(world, to);
  await world.files.writeFile(notesPathOf(to), notes, { mode: 0o600 });
}

async function copyFolder(
  world: Pick<World, "files" | "platform">,
  { from, to }: { from: string; to: string },
): Promise<void> {
  const { files } = world;
  const entries = await files.readFolder(from).catch((error: unknown) => {
    if (systemCodeOf(error) === "ENOENT") return [];
    throw error;
  });
  if (entries.length === 0) return;
  await ensurePrivateFolder(world, join(to, ".."));
  await ensurePrivateFolder(world, to);
  // Journals before the files that are written behind them: what leaves a journal meanwhile is in its file by then.
  const names = entries.filter(({ kind }) => kind === "file").map(({ name }) => name);
  const isJournal = (name: string) => name.startsWith("journal-");
  for (const name of [...names.filter(isJournal), ...names.filter((each) => !isJournal(each))]) {
    await copyFile(files, { from: join(from, name), to: join(to, name) }).catch((error: unknown) => {
      if (systemCodeOf(error) !== "ENOENT") throw error;
    });
  }
  await files.syncFolder(to);
}

const chunkBytes = 1024 * 1024;

async function copyFile(
  files: FileSystem,
  { from, to, head }: { from: string; to: string; head?: Uint8Array },
): Promise<void> {
  const source = await files.open(from, "read");
  let target: FileHandle | undefined;
  try {
    target = await files.open(to, "create", { fileMode: 0o600 });
    let written = 0;
    const write = async (bytes: Uint8Array) => {
      await target?.write(bytes, written);
      written += bytes.length;
    };
    if (head !== undefined) await write(head);
    for (let at = 0; ; ) {
      const chunk = await source.read(at, chunkBytes);
      if (chunk.length === 0) break;
      await write(chunk);
      at += chunk.length;
    }
    await target.sync();
  } finally {
    await source.close();
    await target?.close();
  }
}
