/**
 * The files of agents, written behind the journal that has made their lines durable: without a sync, many lines at
 * once, and no file stays open. With thousands of agents alive, what exists per agent must be small.
 */
import { join } from "node:path";
import { systemCodeOf } from "../base/errors.ts";
import type { FileHandle, FileSystem, Timer, World } from "../base/world.ts";
import type { AgentMeta } from "./agent-meta.ts";
import { sideBySide } from "./side-by-side.ts";

/** One agent's file, as far as it is being written. */
export interface Lane {
  readonly agentId: string;
  /** Until its metadata file is written. */
  meta: AgentMeta | undefined;
  /** So many bytes are in the file. */
  written: number;
  /** Where the next line will begin. */
  end: number;
  /** Lines that are not in the file yet. */
  backlog: string[] | undefined;
  writing: Promise<void> | undefined;
  /** Its agent has ended: once the file is written, nobody needs this. */
  ended: boolean;
}

export interface WriteBehind {
  lane(agentId: string): Lane | undefined;
  open(lane: Lane): void;
  /** Returns where in the file the line begins. */
  add(lane: Lane, json: string): number;
  /** Its lines are safe: they may be written when it suits. */
  release(lane: Lane): void;
  end(lane: Lane): void;
  /** Resolves when everything added is in the file. */
  flush(lane: Lane): Promise<void>;
  /** Writes all there is to write, of those agents that were released. */
  flushAll(): Promise<void>;
  /** Everything of these agents is in their files, and the files and their names are on the disk. */
  sync(agentIds: Iterable<string>): Promise<void>;
  stop(): void;
}

export interface WriteBehindLimits {
  /** When so much waits in memory, everything is written. */
  readonly backlogBytes: number;
  readonly delayMs: number;
  /** How many files are written at a time, so that those who only look on cost little. */
  readonly filesAtATime: number;
}

export const defaultLimits: WriteBehindLimits = {
  backlogBytes: 8 * 1024 * 1024,
  delayMs: 1_000,
  filesAtATime: 200,
};

export function transcriptPath(folder: string, agentId: string): string {
  return join(folder, `agent-${agentId}.jsonl`);
}

export function createWriteBehind(options: {
  world: Pick<World, "files" | "clock">;
  folder: string;
  limits?: WriteBehindLimits;
}): WriteBehind {
  const { world, folder } = options;
  const limits = options.limits ?? defaultLimits;
  const lanes = new Map<string, Lane>();
  /** Released lanes with a backlog, the one that has waited longest first. */
  const due = new Set<Lane>();
  /** Those of them whose agent has ended: they do not wait for the timer. */
  const finished = new Set<Lane>();
  let backlogBytes = 0;
  let timer: Timer | undefined;
  let clearing: Promise<void> | undefined;

  function flush(lane: Lane): Promise<void> {
    if (lane.writing) return lane.writing.then(() => flush(lane));
    if (lane.backlog === undefined) return Promise.resolve();
    lane.writing = write(lane).finally(() => {
      lane.writing = undefined;
      if (lane.ended && lane.backlog === undefined) lanes.delete(lane.agentId);
    });
    return lane.writing;
  }

  async function write(lane: Lane): Promise<void> {
    const lines = lane.backlog ?? [];
    lane.backlog = undefined;
    due.delete(lane);
    finished.delete(lane);
    const bytes = Buffer.from(lines.join(""));
    try {
      const handle = await openForWriting(world.files, folder, lane);
      try {
        // At its place, so that a second attempt writes over what a failed one has left.
        await handle.write(bytes, lane.written);
      } finally {
        await handle.close();
      }
      await writeMeta(lane);
    } catch (error) {
      lane.backlog = lane.backlog === undefined ? lines : lines.concat(lane.backlog);
      due.add(lane);
      throw error;
    }
    lane.written += bytes.length;
    backlogBytes -= bytes.length;
  }

  async function writeMeta(lane: Lane): Promise<void> {
    if (lane.meta === undefined) return;
    const json = `${JSON.stringify(lane.meta, undefined, 2)}\n`;
    await writeWhole(world.files, join(folder, `agent-${lane.agentId}.meta.json`), json);
    lane.meta = undefined;
  }

  /** The journal has what could not be written: it is tried again later. */
  function writeSome(some: Iterable<Lane>): void {
    clearing ??= sideBySide([...some], flush)
      .catch(() => {})
      .finally(() => {
        clearing = undefined;
        if (finished.size > 0) writeSome(finished);
        else arm();
      });
  }

  function arm(): void {
    if (due.size === 0) return;
    timer ??= world.clock.setTimer(
      limits.delayMs,
      () => {
        timer = undefined;
        writeSome(firstOf(due, limits.filesAtATime));
      },
      { unref: true },
    );
  }

  return {
    lane: (agentId) => lanes.get(agentId),
    open(lane) {
      lanes.set(lane.agentId, lane);
    },
    add(lane, json) {
      const at = lane.end;
      const length = Buffer.byteLength(json) + 1;
      lane.end += length;
      backlogBytes += length;
      if (lane.backlog === undefined) lane.backlog = [json, "\n"];
      else lane.backlog.push(json, "\n");
      return at;
    },
    release(lane) {
      if (lane.backlog === undefined) return;
      due.add(lane);
      if (backlogBytes > limits.backlogBytes) writeSome(due);
      else arm();
    },
    end(lane) {
      lane.ended = true;
      if (lane.writing === undefined && lane.backlog === undefined) lanes.delete(lane.agentId);
      if (lane.backlog === undefined) return;
      due.add(lane);
      finished.add(lane);
      writeSome(finished);
    },
    flush,
    async flushAll() {
      await clearing;
      await sideBySide([...due], flush);
    },
    async sync(agentIds) {
      await sideBySide(agentIds, async (agentId) => {
        const lane = lanes.get(agentId);
        if (lane) await flush(lane);
        await syncFile(world.files, transcriptPath(folder, agentId));
      });
      await world.files.syncFolder(folder);
    },
    stop() {
      timer?.cancel();
      timer = undefined;
    },
  };
}

function* firstOf<Item>(items: Iterable<Item>, count: number): Generator<Item> {
  let left = count;
  for (const item of items) {
    if (left-- === 0) return;
    yield item;
  }
}

/** Not to append: such files are synced with every write, and these need no sync. */
async function openForWriting(files: FileSystem, folder: string, lane: Lane): Promise<FileHandle> {
  const path = transcriptPath(folder, lane.agentId);
  const create = () => files.open(path, "create", { fileMode: 0o600 });
  const update = () => files.open(path, "update");
  const [first, second] = lane.written === 0 ? [create, update] : [update, create];
  try {
    return await first();
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== "EEXIST" && code !== "ENOENT") throw error;
    if (code === "ENOENT") await files.makeFolder(folder, { recursive: true, mode: 0o700 });
    return await second().catch(async (again: unknown) => {
      // The folder was removed while it was in use.
      if (systemCodeOf(again) === "ENOENT") return await create();
      throw again;
    });
  }
}

/** It is made from the first line of the transcript, so it needs neither a sync nor to be whole after a crash. */
async function writeWhole(files: FileSystem, path: string, text: string): Promise<void> {
  const handle = await files.open(path, "create", { fileMode: 0o600 }).catch((error: unknown) => {
    if (systemCodeOf(error) === "EEXIST") return undefined;
    throw error;
  });
  if (handle === undefined) return await files.writeFile(path, text, { mode: 0o600 });
  try {
    await handle.write(Buffer.from(text), 0);
  } finally {
    await handle.close();
  }
}

async function syncFile(files: FileSystem, path: string): Promise<void> {
  let handle: FileHandle;
  try {
    handle = await files.open(path, "update");
  } catch (error) {
    // Removed by somebody, so there is nothing to keep.
    if (systemCodeOf(error) === "ENOENT") return;
    throw error;
  }
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
