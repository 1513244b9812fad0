/**
 * transcript/ owns the truth about a session: what was said, sent and started, one JSON object a line.
 * Everything else can be rebuilt from it. It must not know who writes or why.
 *
 * Our own files are read strictly: a record of an unknown type or a newer version is reported, not guessed at.
 */
import * as z from "zod";
import { Block, Message, ToolResultBlock } from "../contracts/message.ts";
import { QueueItem } from "../contracts/queue-item.ts";
import { Receipt } from "../contracts/receipt.ts";
import { Usage } from "../contracts/usage.ts";
import { AgentMeta } from "./agent-meta.ts";

/** The first line. */
export const HeadRecord = z.object({
  type: z.literal("head"),
  version: z.number(),
  sessionId: z.string(),
  agentId: z.string().optional(),
  cwd: z.string(),
  timestamp: z.string(),
  /** The session that this one is a copy of, up to a point. */
  forkedFrom: z.string().optional(),
});

/** The first line of an agent's transcript: who it is. Its metadata file says the same to other programs. */
export const AgentRecord = z.object({ type: z.literal("agent"), version: z.number(), meta: AgentMeta });

/** What stands before the messages of every request. Written again, with the reason, when it must change (LO-5). */
export const PrefixRecord = z.object({
  type: z.literal("prefix"),
  model: z.string(),
  system: z.string(),
  tools: z
    .array(
      z.object({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.unknown()) }),
    )
    .readonly(),
  reason: z.string(),
});

/** The same for many agents: the system prompt and the tools are in a file that is named by its content. */
export const PrefixReferenceRecord = z.object({
  type: z.literal("prefix-reference"),
  model: z.string(),
  reference: z.string(),
  reason: z.string(),
});

export const MessageRecord = z.object({ type: z.literal("message"), message: Message });

/**
 * A call with effects is about to start while its message still streams: the blocks received since the last such
 * record. Void once the message with this uuid is there.
 */
export const CallsRecord = z.object({
  type: z.literal("calls"),
  messageUuid: z.string(),
  /** The place of the first of these blocks in the message. */
  from: z.number().default(0),
  content: z.array(Block),
  /** Calls with effects that are now started. */
  started: z.array(z.string()),
});

/** A call with effects has ended; void once its results stand in a message. */
export const ResultRecord = z.object({ type: z.literal("result"), result: ToolResultBlock });

export const QueueRecord = z.object({ type: z.literal("queue"), item: QueueItem });

/** Whether a call was allowed, and by what. The call itself stands in its message. */
export const DecisionRecord = z.object({
  type: z.literal("decision"),
  /** ISO 8601. */
  timestamp: z.string(),
  toolUseId: z.string(),
  /** Absent for the main agent. */
  agentId: z.string().optional(),
  tool: z.string(),
  decision: z.enum(["allow", "deny"]),
  reason: z.string(),
  rule: z.object({ source: z.string(), rule: z.string() }).optional(),
  /** `nobody`: it had to be asked, and nobody could be or did answer. */
  by: z.enum(["rule", "mode", "person", "nobody"]),
});

/** From here on the history is these messages and what follows. */
export const CompactionRecord = z.object({ type: z.literal("compaction"), messages: z.array(Message) });

/** The conversation begins with that of another agent of the session, up to this message. */
export const InheritsRecord = z.object({
  type: z.literal("inherits"),
  /** Absent: the main agent. */
  agentId: z.string().optional(),
  lastUuid: z.string(),
});

export const RunEndRecord = z.object({
  type: z.literal("run-end"),
  reason: z.string(),
  turns: z.number(),
  usage: Usage,
  costUsd: z.number().optional(),
  durationMs: z.number().optional(),
  /** Nobody waited for it: whoever started it must be told, once. */
  background: z.boolean().optional(),
  /** Of an agent that another has started. */
  receipt: Receipt.optional(),
});

/** A task in the background as it stood: written at its start and at its end, in the transcript of the session. */
export const TaskRecord = z.object({
  type: z.literal("task"),
  task: z.object({
    id: z.string(),
    kind: z.string(),
    status: z.enum(["pending", "running", "completed", "failed", "killed"]),
    description: z.string(),
    toolUseId: z.string().optional(),
    parentAgentId: z.string().optional(),
    startedAt: z.number(),
    endedAt: z.number().optional(),
    outputFile: z.string().optional(),
    command: z.string().optional(),
    exitCode: z.number().nullable().optional(),
    error: z.string().optional(),
    agentType: z.string().optional(),
    name: z.string().optional(),
  }),
});

/** A call has told the main agent of the end of a task, so that the notification with this id is not needed. */
export const ToldRecord = z.object({ type: z.literal("told"), uuid: z.string(), toolUseId: z.string() });

export const TranscriptRecord = z.discriminatedUnion("type", [
  HeadRecord,
  AgentRecord,
  PrefixRecord,
  PrefixReferenceRecord,
  MessageRecord,
  CallsRecord,
  ResultRecord,
  QueueRecord,
  DecisionRecord,
  CompactionRecord,
  RunEndRecord,
  TaskRecord,
  ToldRecord,
  InheritsRecord,
]);
export type TranscriptRecord = z.infer<typeof TranscriptRecord>;
export type CallsRecord = z.infer<typeof CallsRecord>;
export type InheritsRecord = z.infer<typeof InheritsRecord>;
export type RunEndRecord = z.infer<typeof RunEndRecord>;
export type TaskRecord = z.infer<typeof TaskRecord>;
export type DecisionRecord = z.infer<typeof DecisionRecord>;
export type PrefixRecord = z.infer<typeof PrefixRecord>;
export type PrefixReferenceRecord = z.infer<typeof PrefixReferenceRecord>;
export type HeadRecord = z.infer<typeof HeadRecord>;
