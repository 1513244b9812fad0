/** Which sessions there are. Their transcripts tell; there is no index that could be wrong. */
import { basename, join } from "node:path";
import { CadreError, systemCodeOf } from "../base/errors.ts";
import { parseLine } from "../base/journal-line.ts";
import type { FileSystem, FolderEntry, World } from "../base/world.ts";
import { readNotes, titleOfNotes } from "../services/notes-file.ts";
import {
  isSessionId,
  projectFolderOf,
  projectsFolder,
  type SessionFiles,
  sessionFilesIn,
} from "../transcript/location.ts";
import { TranscriptRecord } from "../transcript/record.ts";
import { scanTranscript } from "../transcript/scan-transcript.ts";
import { promptTextOf } from "./prompt-text.ts";

export interface FoundSession {
  readonly id: string;
  readonly files: SessionFiles;
  /** When it was last written, in milliseconds since the epoch. */
  readonly modifiedMs: number;
}

/** Those of one project, the latest first. */
export async function findSessions(files: FileSystem, projectFolder: string): Promise<FoundSession[]> {
  const entries = await entriesIn(files, projectFolder);
  const found = await Promise.all(
    entries.map(async ({ name }): Promise<FoundSession | undefined> => {
      const id = basename(name, ".jsonl");
      if (id === name || !isSessionId(id)) return undefined;
      const session = sessionFilesIn(projectFolder, id);
      const info = await files.stat(session.transcript).catch(() => undefined);
      return info?.kind === "file" ? { id, files: session, modifiedMs: info.mtimeMs } : undefined;
    }),
  );
  return found.filter((session) => session !== undefined).sort((a, b) => b.modifiedMs - a.modifiedMs);
}

export async function findProjectFolders(world: Pick<World, "files" | "homeFolder">): Promise<string[]> {
  const folder = projectsFolder(world.homeFolder);
  const entries = await entriesIn(world.files, folder);
  return entries.filter(({ kind }) => kind === "folder").map(({ name }) => join(folder, name));
}

async function entriesIn(files: FileSystem, folder: string): Promise<FolderEntry[]> {
  try {
    return await files.readFolder(folder);
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return [];
    throw error;
  }
}

export type WhichSession = { readonly id: string } | "latest";

/** In this project, else in any other. Throws `session-unknown`, with what there is instead. */
export async function findSession(options: {
  world: Pick<World, "files" | "homeFolder">;
  cwd: string;
  which: WhichSession;
}): Promise<FoundSession> {
  const { world, cwd, which } = options;
  const own = projectFolderOf({ homeFolder: world.homeFolder, cwd });
  if (which === "latest") {
    const [latest] = await findSessions(world.files, own);
    if (latest !== undefined) return latest;
    throw new CadreError({
      code: "session-unknown",
      message: `There is no session to continue in ${cwd}. Start one: cadre "your prompt".`,
    });
  }
  const id = which.id.toLowerCase();
  if (isSessionId(id)) {
    for (const folder of [own, ...(await findProjectFolders(world))]) {
      const files = sessionFilesIn(folder, id);
      const info = await world.files.stat(files.transcript).catch(() => undefined);
      if (info?.kind === "file") return { id, files, modifiedMs: info.mtimeMs };
    }
  }
  const latest = (await findSessions(world.files, own)).slice(0, 3).map((session) => session.id);
  const others =
    latest.length === 0 ? "there is none in this folder" : `the latest here: ${latest.join(", ")}`;
  throw new CadreError({
    code: "session-unknown",
    message: `There is no session ${which.id.slice(0, 100)}; ${others}.`,
    data: { id: which.id, latest },
  });
}

export interface SessionSummary {
  readonly id: string;
  readonly modifiedMs: number;
  readonly cwd: string | undefined;
  readonly forkedFrom?: string;
  /** As the user gave it. */
  readonly firstPrompt: string;
  /** Of its notes, if there are some. */
  readonly title?: string;
  /** All that were ever recorded. */
  readonly messageCount: number;
}

export async function summarizeSession(files: FileSystem, session: FoundSession): Promise<SessionSummary> {
  const path = session.files.transcript;
  let cwd: string | undefined;
  let forkedFrom: string | undefined;
  let firstPrompt: string | undefined;
  let messageCount = 0;
  for await (const line of scanTranscript({ files, path, keepBytes: 0 })) {
    if (line.kind === "passed") {
      messageCount++;
      if (line.canBegin) firstPrompt ??= promptOf(await readRecord(files, path, line));
      continue;
    }
    const record = line.entry.ok ? TranscriptRecord.safeParse(line.entry.record).data : undefined;
    if (record?.type === "head") {
      cwd ??= record.cwd;
      forkedFrom ??= record.forkedFrom;
    } else if (record?.type === "message") {
      messageCount++;
      firstPrompt ??= promptOf(record);
    }
  }
  const { id, modifiedMs } = session;
  const title = titleOfNotes((await readNotes(files, session.files.folder)) ?? "");
  return {
    id,
    modifiedMs,
    cwd,
    ...(forkedFrom !== undefined && { forkedFrom }),
    firstPrompt: firstPrompt ?? "",
    ...(title !== undefined && { title }),
    messageCount,
  };
}

async function readRecord(
  files: FileSystem,
  path: string,
  { offset, nextOffset }: { offset: number; nextOffset: number },
): Promise<TranscriptRecord | undefined> {
  const handle = await files.open(path, "read");
  try {
    const [record] = parseLine(await handle.read(offset, nextOffset - offset)).records;
    return TranscriptRecord.safeParse(record).data;
  } finally {
    await handle.close();
  }
}

function promptOf(record: TranscriptRecord | undefined): string | undefined {
  return record?.type === "message" ? promptTextOf(record.message) : undefined;
}
