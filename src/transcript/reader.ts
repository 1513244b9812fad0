/** Reads a transcript back, whatever a crash left of its end (TA-23). */
import { type JournalProblem, readJournal } from "../base/journal-reader.ts";
import type { World } from "../base/world.ts";
import type { Block, Message, ToolResultBlock } from "../contracts/message.ts";
import type { QueueItem } from "../contracts/queue-item.ts";
import {
  type CallsRecord,
  type HeadRecord,
  type PrefixRecord,
  TranscriptRecord,
  transcriptVersion,
} from "./record.ts";
import { repairHistory } from "./repair.ts";

export interface LoadedTranscript {
  readonly head: HeadRecord | undefined;
  readonly prefix: PrefixRecord | undefined;
  /** As it can be sent: every call has its result. */
  readonly messages: readonly Message[];
  /** What was queued and had not reached a message. */
  readonly waiting: readonly QueueItem[];
  /** Lines that could not be read. The rest is there. */
  readonly problems: readonly TranscriptProblem[];
}

export interface TranscriptProblem {
  readonly line: number;
  readonly problem: string;
}

const problemTexts: Readonly<Record<JournalProblem, string>> = {
  torn: "the last line was cut off by a crash",
  broken: "not JSON",
  "too-long": "too long to be a record",
};

interface Reading {
  head: HeadRecord | undefined;
  prefix: PrefixRecord | undefined;
  messages: Message[];
  /** The beginning of a message that streamed when the process died. */
  unfinished: { readonly messageUuid: string; readonly content: Block[] } | undefined;
  readonly startedCalls: Set<string>;
  readonly keptResults: Map<string, ToolResultBlock>;
  readonly waiting: Map<string, QueueItem>;
}

export async function loadTranscript(options: {
  world: Pick<World, "files" | "random">;
  path: string;
}): Promise<LoadedTranscript> {
  const reading: Reading = {
    head: undefined,
    prefix: undefined,
    messages: [],
    unfinished: undefined,
    startedCalls: new Set(),
    keptResults: new Map(),
    waiting: new Map(),
  };
  const problems: TranscriptProblem[] = [];
  for await (const entry of readJournal({ files: options.world.files, path: options.path })) {
    if (!entry.ok) {
      problems.push({ line: entry.line ?? 0, problem: problemTexts[entry.problem] });
      continue;
    }
    const parsed = TranscriptRecord.safeParse(entry.record);
    const problem = parsed.success ? take(reading, parsed.data) : "not a record of a transcript";
    if (problem !== undefined) problems.push({ line: entry.line ?? 0, problem });
  }
  return {
    head: reading.head,
    prefix: reading.prefix,
    messages: mend(reading, options.world),
    waiting: [...reading.waiting.values()],
    problems,
  };
}

/** Answers with what is wrong with the record, if anything is. */
function take(reading: Reading, record: TranscriptRecord): string | undefined {
  switch (record.type) {
    case "head":
      if (record.version > transcriptVersion) return `written by a newer version (${record.version})`;
      reading.head ??= record;
      return undefined;
    case "prefix":
      reading.prefix = record;
      return undefined;
    case "message":
      takeMessage(reading, record.message);
      return undefined;
    case "calls":
      // A call that had to wait its turn starts after its message was recorded: then nothing is unfinished.
      if (reading.messages.at(-1)?.uuid !== record.messageUuid) takeBlocks(reading, record);
      for (const id of record.started) reading.startedCalls.add(id);
      return undefined;
    case "result":
      reading.keptResults.set(record.result.tool_use_id, record.result);
      return undefined;
    case "queue":
      reading.waiting.set(record.item.uuid, record.item);
      return undefined;
    case "compaction":
      reading.messages = [...record.messages];
      return undefined;
    case "decision":
    case "run-end":
      return undefined;
  }
}

function takeBlocks(reading: Reading, { messageUuid, from, content }: CallsRecord): void {
  if (reading.unfinished?.messageUuid !== messageUuid) reading.unfinished = { messageUuid, content: [] };
  reading.unfinished.content.splice(from, Number.POSITIVE_INFINITY, ...content);
}

function takeMessage(reading: Reading, message: Message): void {
  reading.messages.push(message);
  // What follows is that message, or shows that it was thrown away and asked for again.
  reading.unfinished = undefined;
  for (const uuid of message.queueItems ?? []) reading.waiting.delete(uuid);
  if (message.role === "assistant") return;
  // Once the results stand in a message, the records that kept them early are void.
  reading.startedCalls.clear();
  reading.keptResults.clear();
}

function mend(reading: Reading, world: Pick<World, "random">): readonly Message[] {
  const messages = [...reading.messages];
  const last = messages.at(-1);
  if (reading.unfinished && last) {
    const { messageUuid, content } = reading.unfinished;
    messages.push({ ...follow(last), uuid: messageUuid, role: "assistant", content, synthetic: true });
  }
  return repairHistory(messages, {
    keptResults: reading.keptResults,
    startedCalls: reading.startedCalls,
    createUserMessage: (after, content) => ({
      ...follow(after),
      uuid: world.random.uuid(),
      role: "user",
      content,
      synthetic: true,
    }),
  });
}

function follow(previous: Message): Pick<Message, "parentUuid" | "timestamp" | "agentId"> {
  return {
    parentUuid: previous.uuid,
    timestamp: previous.timestamp,
    ...(previous.agentId !== undefined && { agentId: previous.agentId }),
  };
}
