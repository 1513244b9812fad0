/** The transcripts of all agents of a session but the main one (TA-22). */
import { dirname, join } from "node:path";
import { CadreError, systemCodeOf } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import type { Message } from "../contracts/message.ts";
import { isAgentId } from "./agent-id.ts";
import type { AgentMeta } from "./agent-meta.ts";
import type { AgentStanding } from "./agent-standing.ts";
import { createPrefixStore, type PrefixStore } from "./prefix-store.ts";
import type { LoadedTranscript } from "./reader.ts";
import type { InheritsRecord, TranscriptRecord } from "./record.ts";
import { createSharedJournal, type SharedJournalOptions } from "./shared-journal.ts";
import { sideBySide } from "./side-by-side.ts";
import { transcriptVersion } from "./version.ts";
import { createWriteBehind, type Lane, transcriptPath, type WriteBehindLimits } from "./write-behind.ts";
import type { TranscriptWriter } from "./writer.ts";

export interface AgentTranscripts {
  /** Of a new agent. Nothing touches the disk before the first `durable`. */
  create(meta: AgentMeta): TranscriptWriter;
  /**
   * Of an agent that ended or was interrupted, to go on with. What had to be mended is recorded with the first record:
   * one that does not come to go on stands as it stood. Throws a `CadreError`: `agent-unknown` or `agent-running`.
   */
  reopen(agentId: string): Promise<ReopenedTranscript>;
  has(agentId: string): Promise<boolean>;
  /** What stands in the transcript of an agent; undefined if there is none. */
  read(agentId: string): Promise<LoadedTranscript | undefined>;
  /** How the agents of this session stand, in the order in which they were started. */
  list(): Promise<readonly AgentStanding[]>;
  /** Makes everything durable, if anything was, and lets go of files. What is appended later is not recorded. */
  close(): Promise<void>;
}

export interface ReopenedTranscript {
  readonly meta: AgentMeta;
  readonly loaded: LoadedTranscript;
  readonly writer: TranscriptWriter;
}

export interface AgentTranscriptsOptions extends Pick<SharedJournalOptions, "maxBytes" | "maxFilesAtClose"> {
  readonly world: Pick<World, "files" | "clock" | "random" | "platform">;
  /** `SESSION/subagents`; the prefixes that they share stand beside it. */
  readonly folder: string;
  readonly limits?: WriteBehindLimits;
}

export function prefixFolderOf(subagentsFolder: string): string {
  return join(dirname(subagentsFolder), "prefixes");
}

export function createAgentTranscripts(options: AgentTranscriptsOptions): AgentTranscripts {
  const { world, folder } = options;
  const prefixFolder = prefixFolderOf(folder);
  const prefixes = createPrefixStore({ world, folder: prefixFolder });
  const behind = createWriteBehind(options);
  const journal = createSharedJournal({ ...options, syncFiles: behind.sync });
  let closed = false;

  const files: AgentFiles = {
    folder,
    get closed() {
      return closed;
    },
    append(lane, record) {
      const json = JSON.stringify(storedForm(record, prefixes));
      journal.append(lane.agentId, behind.add(lane, json), json);
    },
    /** Only what is on disk is acknowledged: the line, and the prefix that it names. */
    async durable(lane) {
      const prefix = prefixes.written();
      await (prefix === undefined ? journal.durable() : Promise.all([prefix, journal.durable()]));
      behind.release(lane);
    },
    end: behind.end,
  };
  const writerOf = (lane: Lane) => new AgentWriter(files, lane);

  async function load(agentId: string): Promise<LoadedTranscript | undefined> {
    const lane = behind.lane(agentId);
    if (lane) await behind.flush(lane);
    const path = transcriptPath(folder, agentId);
    // Reading is checked by schemas, which a session that only writes need not build.
    const { loadTranscript } = await import("./reader.ts");
    const { answerFor } = await import("./agent-standing.ts");
    try {
      return await loadTranscript({
        world,
        path,
        prefixFolder,
        inherited,
        interruptedAgents: async () => answerFor(await list(), agentId),
      });
    } catch (error) {
      if (systemCodeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  /** The session's own transcript stands beside its folder. */
  async function inherited({ agentId, lastUuid }: InheritsRecord): Promise<readonly Message[] | undefined> {
    const { messagesUpTo } = await import("./reader.ts");
    const lane = agentId === undefined ? undefined : behind.lane(agentId);
    if (lane) await behind.flush(lane);
    const path = agentId === undefined ? `${dirname(folder)}.jsonl` : transcriptPath(folder, agentId);
    try {
      return await messagesUpTo(lastUuid, { world, path, inherited });
    } catch (error) {
      if (systemCodeOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  async function list(): Promise<readonly AgentStanding[]> {
    await journal.settle();
    await behind.flushAll();
    const entries = await world.files.readFolder(folder).catch((error: unknown) => {
      if (systemCodeOf(error) === "ENOENT") return [];
      throw error;
    });
    const ids = entries.flatMap(({ name }) => /^agent-(.+)\.jsonl$/.exec(name)?.slice(1) ?? []);
    const { readStanding } = await import("./agent-standing.ts");
    const standings: AgentStanding[] = [];
    await sideBySide(ids.filter(isAgentId), async (agentId) => {
      const lane = behind.lane(agentId);
      if (lane) await behind.flush(lane);
      const standing = await readStanding({ files: world.files, path: transcriptPath(folder, agentId) });
      if (standing === undefined) return;
      const isRunning = lane !== undefined && !lane.ended;
      standings.push(isRunning ? { ...standing, status: "running" } : standing);
    });
    return standings.sort(byStart);
  }

  return {
    create(meta) {
      if (!isAgentId(meta.agentId)) throw new TypeError(`"${meta.agentId}" cannot be the id of an agent.`);
      const lane = newLane({ agentId: meta.agentId, meta, size: 0 });
      behind.open(lane);
      const writer = writerOf(lane);
      writer.append({ type: "agent", version: transcriptVersion, meta });
      return writer;
    },
    async reopen(agentId) {
      if (!isAgentId(agentId)) throw unknownAgent(agentId);
      await journal.settle();
      const lane = behind.lane(agentId);
      if (lane && !lane.ended) throw runningAgent(agentId);
      const loaded = await load(agentId);
      const meta = loaded?.agent ?? (await readMeta(options, agentId));
      if (loaded === undefined || meta === undefined) throw unknownAgent(agentId);
      const { size, endsInLine } = await lookAtEnd(options, agentId);
      // Somebody else may have asked at the same moment.
      if (behind.lane(agentId)) throw runningAgent(agentId);
      const reopened = newLane({ agentId, meta: undefined, size });
      behind.open(reopened);
      if (endsInLine) endLine(reopened);
      const writer = new ResumedWriter(files, reopened, loaded.added);
      return { meta, loaded: { ...loaded, added: [] }, writer };
    },
    async has(agentId) {
      if (!isAgentId(agentId)) return false;
      if (behind.lane(agentId)) return true;
      await journal.settle();
      const info = await world.files.stat(transcriptPath(folder, agentId)).catch(() => undefined);
      return info?.kind === "file";
    },
    async read(agentId) {
      if (!isAgentId(agentId)) return undefined;
      await journal.settle();
      return load(agentId);
    },
    list,
    async close() {
      if (closed) return;
      closed = true;
      behind.stop();
      try {
        await prefixes.written();
      } finally {
        await journal.close();
        await behind.flushAll();
      }
    },
  };
}

function newLane(options: { agentId: string; meta: AgentMeta | undefined; size: number }): Lane {
  const { agentId, meta, size } = options;
  return { agentId, meta, written: size, end: size, backlog: undefined, writing: undefined, ended: false };
}

/** A crash has cut the last line: what follows begins a new one. */
function endLine(lane: Lane): void {
  lane.backlog = ["\n"];
  lane.end += 1;
}

/** What siblings have in common is stored once. */
function storedForm(record: TranscriptRecord, prefixes: PrefixStore): TranscriptRecord {
  if (record.type !== "prefix") return record;
  const { model, reason } = record;
  return { type: "prefix-reference", model, reference: prefixes.referenceTo(record), reason };
}

async function lookAtEnd(
  { world, folder }: AgentTranscriptsOptions,
  agentId: string,
): Promise<{ size: number; endsInLine: boolean }> {
  const handle = await world.files.open(transcriptPath(folder, agentId), "read");
  try {
    const { size } = await handle.stat();
    return { size, endsInLine: size > 0 && (await handle.read(size - 1, 1))[0] !== 0x0a };
  } finally {
    await handle.close();
  }
}

/** For a transcript whose first line was lost. */
async function readMeta(
  { world, folder }: AgentTranscriptsOptions,
  agentId: string,
): Promise<AgentMeta | undefined> {
  try {
    const text = await world.files.readText(join(folder, `agent-${agentId}.meta.json`));
    const { AgentMeta } = await import("./agent-meta.ts");
    return AgentMeta.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function byStart(a: AgentStanding, b: AgentStanding): number {
  return compare(a.meta.startedAt, b.meta.startedAt) || compare(a.meta.agentId, b.meta.agentId);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function unknownAgent(agentId: string): CadreError {
  return new CadreError({
    code: "agent-unknown",
    message: `This session has no agent ${agentId.slice(0, 100)}, so it cannot go on. Start a new agent instead.`,
    data: { agentId },
  });
}

function runningAgent(agentId: string): CadreError {
  return new CadreError({
    code: "agent-running",
    message: `The agent ${agentId} is running, so it cannot be resumed. Wait for its end.`,
    data: { agentId },
  });
}

/** What the writers of all agents share. */
interface AgentFiles {
  readonly folder: string;
  readonly closed: boolean;
  append(lane: Lane, record: TranscriptRecord): void;
  durable(lane: Lane): Promise<void>;
  end(lane: Lane): void;
}

/** A class, since there is one for every agent that lives. */
class AgentWriter implements TranscriptWriter {
  readonly #files: AgentFiles;
  readonly #lane: Lane;

  constructor(files: AgentFiles, lane: Lane) {
    this.#files = files;
    this.#lane = lane;
  }

  get path(): string {
    return transcriptPath(this.#files.folder, this.#lane.agentId);
  }

  append(record: TranscriptRecord): void {
    // Whoever closed the session wanted its end: what is late is not recorded.
    if (this.#files.closed || this.#lane.ended) return;
    this.#files.append(this.#lane, record);
  }

  async durable(): Promise<void> {
    if (!this.#files.closed) await this.#files.durable(this.#lane);
  }

  async close(): Promise<void> {
    if (this.#files.closed || this.#lane.ended) return;
    try {
      await this.durable();
    } finally {
      this.#files.end(this.#lane);
    }
  }
}

class ResumedWriter extends AgentWriter {
  #mended: readonly Message[];

  constructor(files: AgentFiles, lane: Lane, mended: readonly Message[]) {
    super(files, lane);
    this.#mended = mended;
  }

  override append(record: TranscriptRecord): void {
    const mended = this.#mended;
    this.#mended = [];
    for (const message of mended) super.append({ type: "message", message });
    super.append(record);
  }
}
