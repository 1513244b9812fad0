/**
 * One journal for the lines of all agents of a session: with thousands of them there can neither be a file open
 * nor a sync for each. Their own files are written behind it (docs/decisions/005).
 */
import { dirname } from "node:path";
import { CadreError, messageOf, systemCodeOf } from "../base/errors.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import { type Journal, openJournal } from "../base/journal.ts";
import type { World } from "../base/world.ts";
import { journalLine, journalNumbers, journalPath, settleJournals } from "./settle-journals.ts";

export interface SharedJournal {
  /** Opens nothing: brings the files up to what an earlier process has left. */
  settle(): Promise<void>;
  /** Reaches the disk with the next `durable`. */
  append(agentId: string, at: number, json: string): void;
  /** Resolves when everything appended before this call is on the disk; all who wait share one sync. */
  durable(): Promise<void>;
  /** Makes what is queued durable. The journal goes when the files have all of it, else it stays for the next process. */
  close(): Promise<void>;
}

export interface SharedJournalOptions {
  readonly world: Pick<World, "files" | "platform">;
  readonly folder: string;
  /** Makes sure that all lines of these agents are in their files, on the disk. */
  readonly syncFiles: (agentIds: ReadonlySet<string>) => Promise<void>;
  /** A journal that has grown so large is started anew. */
  readonly maxBytes?: number;
  /** With more files than this to sync, the end of the process is not held up by them. */
  readonly maxFilesAtClose?: number;
}

interface Volume {
  readonly journal: Journal;
  readonly path: string;
  /** Whose lines are in it. */
  readonly agentIds: Set<string>;
  bytes: number;
}

export function createSharedJournal(options: SharedJournalOptions): SharedJournal {
  const { world, folder } = options;
  const maxBytes = options.maxBytes ?? 32 * 1024 * 1024;
  const early: Parameters<SharedJournal["append"]>[] = [];
  let settling: Promise<number> | undefined;
  let opening: Promise<Volume> | undefined;
  let volume: Volume | undefined;
  /** Those that are full, the oldest first, until their agents' files have everything. */
  const shelf: Volume[] = [];
  let exchanging: Promise<void> | undefined;
  let failures = 0;

  /** Answers with the number of the last journal there was. */
  async function settle(): Promise<number> {
    const entries = await world.files.readFolder(folder).catch((error: unknown) => {
      if (systemCodeOf(error) === "ENOENT") return [];
      throw error;
    });
    const numbers = journalNumbers(entries.map(({ name }) => name));
    await settleJournals({ files: world.files, folder, numbers });
    return numbers.at(-1) ?? 0;
  }

  async function settleOnce(): Promise<number> {
    settling ??= settle();
    try {
      return await settling;
    } catch (error) {
      settling = undefined;
      throw error;
    }
  }

  let lastNumber: number | undefined;
  async function openVolume(): Promise<Volume> {
    lastNumber = Math.max(await settleOnce(), lastNumber ?? 0) + 1;
    const path = journalPath(folder, lastNumber);
    return { journal: await openJournal({ files: world.files, path }), path, agentIds: new Set(), bytes: 0 };
  }

  async function openFirst(): Promise<Volume> {
    await ensurePrivateFolder(world, dirname(folder));
    await ensurePrivateFolder(world, folder);
    const opened = await openVolume();
    volume = opened;
    for (const line of early.splice(0)) append(...line);
    return opened;
  }

  async function opened(): Promise<Volume> {
    opening ??= openFirst();
    try {
      return await opening;
    } catch (error) {
      opening = undefined;
      throw unwritable(folder, error);
    }
  }

  function append(agentId: string, at: number, json: string): void {
    if (volume === undefined) {
      early.push([agentId, at, json]);
      return;
    }
    const line = journalLine(agentId, at, json);
    volume.journal.appendText(line);
    volume.agentIds.add(agentId);
    volume.bytes += line.length;
  }

  /** What is appended from now on goes into a new journal; the old one goes when the files have what is in it. */
  async function exchange(): Promise<void> {
    const fresh = await openVolume();
    if (volume !== undefined) shelf.push(volume);
    volume = fresh;
    await clearShelf();
  }

  /** The oldest first: while it is there, its end is where its agents' files are known to be good. */
  async function clearShelf(): Promise<void> {
    for (let full = shelf[0]; full !== undefined; full = shelf[0]) {
      await shut(full);
      await options.syncFiles(full.agentIds);
      await world.files.remove(full.path, { force: true });
      shelf.shift();
    }
  }

  function exchangeIfFull(): void {
    // What fails (a full disk) is not tried again at once.
    if (volume === undefined || volume.bytes < maxBytes * (failures + 1) || exchanging !== undefined) return;
    exchanging = exchange()
      .then(
        () => {
          failures = 0;
        },
        () => {
          failures++;
        },
      )
      .finally(() => {
        exchanging = undefined;
      });
  }

  return {
    async settle() {
      await settleOnce();
    },
    append,
    async durable() {
      const current = volume ?? (await opened());
      // By value: what is cleared meanwhile is on disk.
      for (const full of [...shelf]) await full.journal.durable();
      await current.journal.durable();
      exchangeIfFull();
    },
    async close() {
      await opening?.catch(() => {});
      await exchanging;
      if (volume === undefined) return;
      shelf.push(volume);
      const fileCount = shelf.reduce((count, { agentIds }) => count + agentIds.size, 0);
      if (fileCount <= (options.maxFilesAtClose ?? 100)) await clearShelf();
      else for (const full of shelf) await shut(full);
    },
  };
}

/** First durable, since a journal that fails to write when it is closed does not try again. */
async function shut({ journal }: Volume): Promise<void> {
  await journal.durable();
  await journal.close();
}

function unwritable(folder: string, error: unknown): CadreError {
  if (error instanceof CadreError) return error;
  return new CadreError({
    code: "transcript-unwritable",
    message: `The transcripts of agents in ${folder} cannot be written: ${messageOf(error)}. Make the folder writable, or start with --no-session-persistence to keep nothing.`,
    cause: error,
  });
}
