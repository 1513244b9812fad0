/** How an agent stands, read from the two ends of its transcript. */
import { type JournalEntry, readJournal, readJournalBackwards } from "../base/journal-reader.ts";
import type { FileSystem } from "../base/world.ts";
import type { Message, ToolResultBlock } from "../contracts/message.ts";
import { textOf } from "../contracts/message-content.ts";
import type { AgentMeta } from "./agent-meta.ts";
import { type RunEndRecord, TranscriptRecord } from "./record.ts";
import type { AgentAnswer } from "./repair.ts";
import { statusOfRun } from "./run-status.ts";

export interface AgentStanding {
  readonly meta: AgentMeta;
  /** `interrupted`: its process died before it ended. */
  readonly status: "running" | "completed" | "failed" | "killed" | "interrupted";
  /** Why its last run ended, as its loop said; undefined when it did not. */
  readonly endReason: string | undefined;
  /** The last words that it said (SP-20). */
  readonly text: string;
  /** What was only mended after its process had died does not count: it tells the runs of an agent apart. */
  readonly lastMessageUuid: string | undefined;
  /** ISO 8601. */
  readonly lastMessageAt: string | undefined;
  /** How its last run ended; absent when it did not. */
  readonly end: RunEndRecord | undefined;
}

/** Undefined if the file does not say whose it is: nobody waits for such an agent. */
export async function readStanding(options: {
  files: FileSystem;
  path: string;
}): Promise<AgentStanding | undefined> {
  const meta = await readFirst(options);
  if (meta === undefined) return undefined;
  let end: RunEndRecord | undefined;
  let last: Message | undefined;
  let text = "";
  let bytes = 0;
  for await (const entry of readJournalBackwards({ ...options, chunkBytes: tailBytes })) {
    bytes += entry.nextOffset - entry.offset;
    const record = recordOf(entry);
    if (record?.type === "run-end" && last === undefined) end ??= record;
    else if (record?.type === "compaction") last ??= record.messages.at(-1);
    else if (record?.type === "message") {
      const { message } = record;
      if (!isMended(message)) last ??= message;
      if (message.role === "assistant") text = textOf(message.content);
    }
    if (text !== "" || bytes > mostBytes) break;
  }
  const status = end === undefined ? "interrupted" : statusOfRun(end.reason, text !== "");
  return {
    meta,
    status,
    endReason: end?.reason,
    text,
    lastMessageUuid: last?.uuid,
    lastMessageAt: last?.timestamp,
    end,
  };
}

/** Written by whoever began to go on with it, and perhaps never did. */
function isMended({ synthetic, content }: Message): boolean {
  return synthetic === true && content.some(({ type }) => type === "tool_result" || type === "tool_use");
}

const tailBytes = 16 * 1024;
/** An agent that has said nothing for so long has nothing to say. */
const mostBytes = 4 * 1024 * 1024;

async function readFirst(options: { files: FileSystem; path: string }): Promise<AgentMeta | undefined> {
  for await (const entry of readJournal({ ...options, chunkBytes: 2 * 1024 })) {
    const record = recordOf(entry);
    return record?.type === "agent" ? record.meta : undefined;
  }
  return undefined;
}

function recordOf(entry: JournalEntry): TranscriptRecord | undefined {
  return entry.ok ? TranscriptRecord.safeParse(entry.record).data : undefined;
}

/**
 * What a call that started an agent, and was never answered, gets as its result (TA-24). `caller`: whose call it is,
 * since two agents may have calls of the same id; undefined is the main one.
 */
export function answerFor(agents: readonly AgentStanding[], caller: string | undefined): AgentAnswer {
  const own = agents.filter(({ meta }) => meta.parentAgentId === caller);
  const byCall = new Map(own.map((agent) => [agent.meta.toolUseId, agent]));
  const byId = new Map(agents.map((agent) => [agent.meta.agentId, agent]));
  return ({ id, input }) => {
    const started = byCall.get(id);
    const agent = started ?? byId.get(String(input.resume));
    if (agent === undefined || agent.status === "running") return undefined;
    if (agent.status === "interrupted") return interruptedText(agent);
    return started ? endedResult(agent, id) : resumedText(agent);
  };
}

export function interruptedText({ meta }: AgentStanding): string {
  return `The agent ${meta.agentId} (${meta.agentType}) was interrupted: the process that ran it ended before it did. What it did until then is kept. To let it go on: Agent({ resume: "${meta.agentId}" }).`;
}

function endedResult(agent: AgentStanding, toolUseId: string): ToolResultBlock {
  const { meta, status, endReason } = agent;
  const end = status === "completed" ? "" : `The agent did not complete its task (${endReason}).\n\n`;
  return {
    type: "tool_result",
    tool_use_id: toolUseId,
    content: `${end}${wordsOf(agent)}\n\nagentId: ${meta.agentId} (it had ended when the process that ran it did)`,
    ...(status !== "completed" && { is_error: true }),
  };
}

/** Nothing tells whether these words are older than the call. */
function resumedText(agent: AgentStanding): string {
  const { agentId, agentType } = agent.meta;
  return `The process that ran the agent ${agentId} (${agentType}) ended. The agent itself had ended by then, perhaps before it was resumed. To let it go on: Agent({ resume: "${agentId}" }). Its last words:\n\n${wordsOf(agent)}`;
}

function wordsOf({ text }: AgentStanding): string {
  return text === "" ? "(It said nothing.)" : text;
}
