/** Reads a transcript back, whatever a crash left of its end (TA-23), in bounded memory (TA-26). */
import type { JournalEntry, JournalProblem } from "../base/journal-reader.ts";
import type { World } from "../base/world.ts";
import type { Block, Message, ToolResultBlock } from "../contracts/message.ts";
import { toolUsesOf } from "../contracts/message-content.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import type { AgentMeta } from "./agent-meta.ts";
import { mend } from "./mend.ts";
import { readPrefix } from "./prefix-store.ts";
import {
  type CallsRecord,
  type HeadRecord,
  type InheritsRecord,
  type PrefixRecord,
  type PrefixReferenceRecord,
  type TaskRecord,
  TranscriptRecord,
} from "./record.ts";
import type { AgentAnswer } from "./repair.ts";
import { scanTranscript } from "./scan-transcript.ts";
import { transcriptVersion } from "./version.ts";
import { createWindow, type MessageWindow } from "./window.ts";

export interface LoadedTranscript {
  readonly head: HeadRecord | undefined;
  /** Of a transcript that is not the main agent's. */
  readonly agent: AgentMeta | undefined;
  /** The last one. */
  readonly prefix: PrefixRecord | undefined;
  /** As it can be sent: every call has its result. */
  readonly messages: readonly Message[];
  /** Those at the end of `messages` that no record holds: whoever goes on records them first. */
  readonly added: readonly Message[];
  /** Calls that `added` answers, because what they came to is not known here. */
  readonly lostCalls: ReadonlySet<string>;
  /** So many messages at the beginning were too much to keep. */
  readonly droppedMessages: number;
  /** What was queued and had not reached a message. */
  readonly waiting: readonly QueueItem[];
  /** Everything that ever was queued, stood in a message as an item of the queue, or was told otherwise, by its uuid. */
  readonly queueItems: ReadonlySet<string>;
  /** In the background, as they stood last, in the order of their start. */
  readonly tasks: readonly TaskRecord["task"][];
  /** Lines that could not be read. The rest is there. */
  readonly problems: readonly TranscriptProblem[];
}

export interface TranscriptProblem {
  readonly line: number;
  readonly problem: string;
}

export interface LoadOptions {
  readonly world: Pick<World, "files">;
  readonly path: string;
  /** How much of a large file is kept in memory. */
  readonly keepBytes?: number;
  /** Where the prefixes are that agents have in common. */
  readonly prefixFolder?: string;
  /** Asked only if the conversation begins with that of another agent: its messages up to that one. */
  readonly inherited?: (from: InheritsRecord) => Promise<readonly Message[] | undefined>;
  /** Asked only if a call that starts agents has no result. */
  readonly interruptedAgents?: () => Promise<AgentAnswer>;
}

const defaultKeepBytes = 32 * 1024 * 1024;

const problemTexts: Readonly<Record<JournalProblem, string>> = {
  torn: "the last line was cut off by a crash",
  broken: "not JSON",
  "too-long": "too long to be a record",
};

interface Reading {
  head: HeadRecord | undefined;
  agent: AgentMeta | undefined;
  prefix: PrefixRecord | PrefixReferenceRecord | undefined;
  inherits: InheritsRecord | undefined;
  readonly window: MessageWindow;
  /** The beginning of a message that streamed when the process died. */
  unfinished: { readonly messageUuid: string; readonly content: Block[] } | undefined;
  startedCalls: Set<string>;
  keptResults: Map<string, ToolResultBlock>;
  /** The same of calls that a later message should have answered and did not. */
  readonly orphans: { readonly started: Set<string>; readonly results: Map<string, ToolResultBlock> };
  readonly waiting: Map<string, QueueItem>;
  readonly queueItems: Set<string>;
  /** By the uuid of what need not be said any more: the call that has said it. */
  readonly told: Map<string, string>;
  readonly tasks: Map<string, TaskRecord["task"]>;
  readonly problems: TranscriptProblem[];
}

function newReading(source: { files: World["files"]; path: string }): Reading {
  return {
    head: undefined,
    agent: undefined,
    prefix: undefined,
    inherits: undefined,
    window: createWindow(source),
    unfinished: undefined,
    startedCalls: new Set(),
    keptResults: new Map(),
    orphans: { started: new Set(), results: new Map() },
    waiting: new Map(),
    queueItems: new Set(),
    told: new Map(),
    tasks: new Map(),
    problems: [],
  };
}

export async function loadTranscript(options: LoadOptions): Promise<LoadedTranscript> {
  const { files } = options.world;
  const { path } = options;
  const reading = newReading({ files, path });
  for await (const line of scanTranscript({
    files,
    path,
    keepBytes: options.keepBytes ?? defaultKeepBytes,
  })) {
    if (line.kind === "entry") takeEntry(reading, line.entry);
    else passOver(reading, () => reading.window.pass(line));
  }
  const { messages, droppedMessages } = await reading.window.close();
  const before = droppedMessages === 0 ? await inheritedBy(reading, options) : [];
  const keptResults = new Map([...reading.orphans.results, ...reading.keptResults]);
  const mended = await mend({
    messages: [...before, ...messages],
    unfinished: reading.unfinished,
    keptResults,
    startedCalls: new Set([...reading.orphans.started, ...reading.startedCalls]),
    interruptedAgents: options.interruptedAgents,
  });
  const lostCalls = new Set(mended.added.flatMap((message) => callsAnsweredFor(message, keptResults)));
  forgetTold(reading, lostCalls);
  countTold(reading);
  return {
    head: reading.head,
    agent: reading.agent,
    prefix: await resolvePrefix(reading, options),
    ...mended,
    lostCalls,
    droppedMessages,
    waiting: [...reading.waiting.values()],
    queueItems: reading.queueItems,
    tasks: [...reading.tasks.values()],
    problems: reading.problems,
  };
}

function takeEntry(reading: Reading, entry: JournalEntry): void {
  const problem = entry.ok ? takeRecord(reading, entry.record) : problemTexts[entry.problem];
  if (problem !== undefined) reading.problems.push({ line: entry.line ?? 0, problem });
}

/** Answers with what is wrong with the record, if anything is. */
function takeRecord(reading: Reading, given: unknown): string | undefined {
  const parsed = TranscriptRecord.safeParse(given);
  if (!parsed.success) return "not a record of a transcript";
  const record = parsed.data;
  switch (record.type) {
    case "head":
      if (record.version > transcriptVersion) return `written by a newer version (${record.version})`;
      reading.head ??= record;
      return undefined;
    case "agent":
      if (record.version > transcriptVersion) return `written by a newer version (${record.version})`;
      reading.agent ??= record.meta;
      return undefined;
    case "prefix":
    case "prefix-reference":
      reading.prefix = record;
      return undefined;
    case "message":
      takeMessage(reading, record.message);
      return undefined;
    case "calls":
      // A call that had to wait its turn starts after its message was recorded: then nothing is unfinished.
      if (reading.window.last?.uuid !== record.messageUuid) takeBlocks(reading, record);
      for (const id of record.started) reading.startedCalls.add(id);
      return undefined;
    case "result":
      reading.keptResults.set(record.result.tool_use_id, record.result);
      return undefined;
    case "queue":
      reading.waiting.set(record.item.uuid, record.item);
      reading.queueItems.add(record.item.uuid);
      return undefined;
    case "told":
      reading.told.set(record.uuid, record.toolUseId);
      return undefined;
    case "task":
      reading.tasks.set(record.task.id, record.task);
      return undefined;
    case "inherits":
      reading.inherits = record;
      return undefined;
    case "compaction":
      reading.inherits = undefined;
      reading.window.restart(record.messages);
      return undefined;
    case "decision":
    case "run-end":
      return undefined;
  }
}

/** Calls that mending has answered: their own answer was lost. */
function callsAnsweredFor(
  { content, synthetic }: Message,
  kept: ReadonlyMap<string, ToolResultBlock>,
): string[] {
  if (synthetic !== true) return [];
  return content.flatMap((block) =>
    block.type === "tool_result" && !kept.has(block.tool_use_id) ? [block.tool_use_id] : [],
  );
}

async function inheritedBy(
  { inherits, problems }: Reading,
  { inherited }: LoadOptions,
): Promise<readonly Message[]> {
  if (inherits === undefined) return [];
  const messages = await inherited?.(inherits);
  if (messages !== undefined) return messages;
  problems.push({ line: 0, problem: "the conversation that it began with is gone" });
  return [];
}

/** The messages of a conversation as they stood when this one was the last; undefined if it is not there. */
export async function messagesUpTo(
  lastUuid: string,
  { world, path, keepBytes = defaultKeepBytes, inherited }: LoadOptions,
): Promise<readonly Message[] | undefined> {
  const { files } = world;
  const reading = newReading({ files, path });
  for await (const line of scanTranscript({ files, path, keepBytes })) {
    if (line.kind === "entry") takeEntry(reading, line.entry);
    else passOver(reading, () => reading.window.pass(line));
    if (reading.window.last?.uuid !== lastUuid) continue;
    const { messages, droppedMessages } = await reading.window.close();
    const before = droppedMessages === 0 ? await inheritedBy(reading, { world, path, inherited }) : [];
    return [...before, ...messages];
  }
  return undefined;
}

/** A call whose own answer was lost has told nobody, at this reading and at every later one. */
function forgetTold({ told }: Reading, lostCalls: Iterable<string>): void {
  const lost = new Set(lostCalls);
  if (lost.size === 0) return;
  for (const [uuid, toolUseId] of told) if (lost.has(toolUseId)) told.delete(uuid);
}

function countTold({ told, waiting, queueItems }: Reading): void {
  for (const uuid of told.keys()) {
    queueItems.add(uuid);
    waiting.delete(uuid);
  }
}

function takeBlocks(reading: Reading, { messageUuid, from, content }: CallsRecord): void {
  if (reading.unfinished?.messageUuid !== messageUuid) reading.unfinished = { messageUuid, content: [] };
  reading.unfinished.content.splice(from, Number.POSITIVE_INFINITY, ...content);
}

function takeMessage(reading: Reading, message: Message): void {
  for (const uuid of message.queueItems ?? []) {
    reading.waiting.delete(uuid);
    reading.queueItems.add(uuid);
  }
  const previous = reading.window.last;
  // Recorded twice: what mending had added, by someone who did not know that it was there.
  if (previous?.uuid === message.uuid) return;
  reading.window.add(message);
  // What follows is that message, or shows that it was thrown away and asked for again.
  reading.unfinished = undefined;
  if (message.role === "assistant") return;
  forgetTold(reading, callsAnsweredFor(message, reading.keptResults));
  keepOrphans(reading, previous, message);
  // Once the results stand in a message, the records that kept them early are void.
  reading.startedCalls.clear();
  reading.keptResults.clear();
}

/** Calls that this message should have answered: what is known of them must be known at every later reading too. */
function keepOrphans(reading: Reading, previous: Message | undefined, answer: Message): void {
  if (previous?.role !== "assistant") return;
  for (const { id } of toolUsesOf(previous.content)) {
    if (answer.content.some((block) => block.type === "tool_result" && block.tool_use_id === id)) continue;
    const kept = reading.keptResults.get(id);
    if (kept) reading.orphans.results.set(id, kept);
    if (reading.startedCalls.has(id)) reading.orphans.started.add(id);
  }
}

function passOver(reading: Reading, pass: () => void): void {
  pass();
  reading.unfinished = undefined;
  reading.startedCalls.clear();
  reading.keptResults.clear();
}

async function resolvePrefix(
  { prefix, problems }: Reading,
  options: LoadOptions,
): Promise<PrefixRecord | undefined> {
  if (prefix?.type !== "prefix-reference") return prefix;
  const { model, reason, reference } = prefix;
  const folder = options.prefixFolder;
  const content =
    folder === undefined ? undefined : await readPrefix({ files: options.world.files, folder, reference });
  if (content !== undefined) return { type: "prefix", model, ...content, reason };
  problems.push({ line: 0, problem: `the system prompt and tools that it names (${reference}) are gone` });
  return undefined;
}
