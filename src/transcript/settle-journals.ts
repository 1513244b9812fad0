/**
 * After a crash the journal that all agents share tells what their files may lack. Whoever opens the session next
 * brings the files up to it; doing that twice changes nothing.
 */
import { join } from "node:path";
import * as z from "zod";
import { readJournal } from "../base/journal-reader.ts";
import type { FileHandle, FileSystem } from "../base/world.ts";
import { isAgentId } from "./agent-id.ts";
import { sideBySide } from "./side-by-side.ts";
import { transcriptPath } from "./write-behind.ts";

/** `at`: where in the agent's file the line begins, in bytes. What stands before was on disk before this journal began. */
const JournalLine = z.object({
  agentId: z.string().refine(isAgentId),
  at: z.int().min(0),
  record: z.unknown(),
});

/** A line of the journal, from a record that is JSON already. */
export function journalLine(agentId: string, at: number, json: string): string {
  return `{"agentId":"${agentId}","at":${at},"record":${json}}`;
}

export function journalPath(folder: string, number: number): string {
  return join(folder, `journal-${number}.jsonl`);
}

/** The numbers of the journals among these names, the oldest first. */
export function journalNumbers(names: readonly string[]): number[] {
  return names
    .flatMap((name) => /^journal-(\d{1,9})\.jsonl$/.exec(name)?.slice(1) ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

export async function settleJournals(options: {
  files: FileSystem;
  folder: string;
  numbers: readonly number[];
}): Promise<void> {
  const { files, folder } = options;
  for (const number of options.numbers) {
    const path = journalPath(folder, number);
    const parts = await readParts(files, path);
    await sideBySide(parts, ([agentId, part]) => complete(files, transcriptPath(folder, agentId), part));
    await files.syncFolder(folder);
    await files.remove(path, { force: true });
  }
}

interface Part {
  readonly at: number;
  readonly lines: string[];
}

/** The journal is started anew before it is too large for this. */
async function readParts(files: FileSystem, path: string): Promise<Map<string, Part>> {
  const parts = new Map<string, Part>();
  for await (const entry of readJournal({ files, path })) {
    const line = entry.ok ? JournalLine.safeParse(entry.record).data : undefined;
    // What cannot be read was never acknowledged.
    if (line?.record === undefined) continue;
    const part = parts.get(line.agentId) ?? { at: line.at, lines: [] };
    parts.set(line.agentId, part);
    part.lines.push(JSON.stringify(line.record));
  }
  return parts;
}

async function complete(files: FileSystem, path: string, { at, lines }: Part): Promise<void> {
  const bytes = Buffer.from(`${lines.join("\n")}\n`);
  const handle = await files
    .open(path, "update")
    .catch(() => files.open(path, "create", { fileMode: 0o600 }));
  try {
    const { size } = await handle.stat();
    const start = Math.min(at, size);
    // What follows it, if it is whole, came from a later journal and stays.
    const isWhole = bytes.equals(await handle.read(start, bytes.length));
    if (!isWhole) await writeEnd(handle, { size, start, bytes });
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeEnd(
  handle: FileHandle,
  { size, start, bytes }: { size: number; start: number; bytes: Buffer },
): Promise<void> {
  if (size > start) await handle.truncate(start);
  const endsInLine = start > 0 && (await handle.read(start - 1, 1))[0] !== newline;
  await handle.write(endsInLine ? Buffer.concat([Buffer.of(newline), bytes]) : bytes, start);
}

const newline = 0x0a;
