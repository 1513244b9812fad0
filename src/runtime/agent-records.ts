/**
 * The transcripts of a session's agents, for whoever only looks: nothing is changed, since the session may run and
 * write them at this moment. What stands in the journal that its agents share, and not yet in their own files, is
 * read as if it stood there.
 */
import { systemCodeOf } from "../base/errors.ts";
import { type JournalEntry, readJournal, readJournalBackwards } from "../base/journal-reader.ts";
import type { FileSystem } from "../base/world.ts";
import { isAgentId } from "../transcript/agent-id.ts";
import { TranscriptRecord } from "../transcript/record.ts";
import { journalNumbers, journalPath } from "../transcript/settle-journals.ts";
import { transcriptPath } from "../transcript/write-behind.ts";

export interface AgentRecords {
  /** Of all agents that have written something. */
  readonly agentIds: readonly string[];
  /** What cannot be read is left out. */
  oldestFirst(agentId: string): AsyncGenerator<TranscriptRecord, void, undefined>;
  newestFirst(agentId: string): AsyncGenerator<TranscriptRecord, void, undefined>;
}

/** The end of an agent's transcript: `records` begin `at` so many bytes, whatever the file holds from there on. */
interface Rest {
  readonly at: number;
  readonly records: unknown[];
}

export async function lookAtAgents(files: FileSystem, folder: string): Promise<AgentRecords> {
  const entries = await ifThere(() => files.readFolder(folder));
  const names = (entries ?? []).map(({ name }) => name);
  // Before the files: what leaves a journal meanwhile is in its file by then.
  const rests = new Map<string, Rest>();
  for (const number of journalNumbers(names)) await takeJournal(files, journalPath(folder, number), rests);
  const ids = names.flatMap((name) => /^agent-(.+)\.jsonl$/.exec(name)?.slice(1) ?? []).filter(isAgentId);
  return {
    agentIds: [...new Set([...ids, ...rests.keys()])],
    async *oldestFirst(agentId) {
      const rest = rests.get(agentId);
      for await (const entry of unlessGone(readJournal({ files, path: transcriptPath(folder, agentId) }))) {
        if (rest !== undefined && entry.offset >= rest.at) break;
        yield* recordOf(entry.ok ? entry.record : undefined);
      }
      for (const record of rest?.records ?? []) yield* recordOf(record);
    },
    async *newestFirst(agentId) {
      const rest = rests.get(agentId);
      for (const record of (rest?.records ?? []).toReversed()) yield* recordOf(record);
      const path = transcriptPath(folder, agentId);
      const size = (await ifThere(() => files.stat(path)))?.size;
      if (size === undefined) return;
      const beforeOffset = Math.min(size, rest?.at ?? size);
      for await (const entry of unlessGone(
        readJournalBackwards({ files, path, beforeOffset, chunkBytes: 16 * 1024 }),
      ))
        yield* recordOf(entry.ok ? entry.record : undefined);
    },
  };
}

async function takeJournal(files: FileSystem, path: string, rests: Map<string, Rest>): Promise<void> {
  for await (const entry of unlessGone(readJournal({ files, path }))) {
    const line = entry.ok && typeof entry.record === "object" ? entry.record : null;
    if (line === null || !("agentId" in line && "at" in line && "record" in line)) continue;
    const { agentId, at, record } = line;
    if (typeof agentId !== "string" || !isAgentId(agentId) || typeof at !== "number") continue;
    const rest = rests.get(agentId);
    if (rest === undefined) rests.set(agentId, { at, records: [record] });
    else rest.records.push(record);
  }
}

function* recordOf(value: unknown): Generator<TranscriptRecord, void, undefined> {
  const record = TranscriptRecord.safeParse(value).data;
  if (record !== undefined) yield record;
}

/** Files come and go while a session runs, and when it is cleaned up. */
async function* unlessGone(entries: AsyncGenerator<JournalEntry, void, undefined>): typeof entries {
  try {
    yield* entries;
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") throw error;
  }
}

async function ifThere<Value>(look: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await look();
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
