/**
 * contracts/ holds the shapes that every layer shares and that cross disk, model or wire.
 * Blocks are spelled as the Messages API spells them, so that what is stored is what is sent.
 */
import * as z from "zod";
import { Usage } from "./usage.ts";

export const TextBlock = z.object({ type: z.literal("text"), text: z.string() });
export type TextBlock = z.infer<typeof TextBlock>;

export const ImageBlock = z.object({
  type: z.literal("image"),
  source: z.object({ type: z.literal("base64"), media_type: z.string(), data: z.string() }),
});
export type ImageBlock = z.infer<typeof ImageBlock>;

export const DocumentBlock = z.object({
  type: z.literal("document"),
  source: z.object({ type: z.literal("base64"), media_type: z.literal("application/pdf"), data: z.string() }),
  title: z.string().optional(),
});
export type DocumentBlock = z.infer<typeof DocumentBlock>;

/** Kept verbatim: the provider checks the signature. */
export const ThinkingBlock = z.object({
  type: z.literal("thinking"),
  thinking: z.string(),
  signature: z.string(),
});
export type ThinkingBlock = z.infer<typeof ThinkingBlock>;

export const RedactedThinkingBlock = z.object({ type: z.literal("redacted_thinking"), data: z.string() });
export type RedactedThinkingBlock = z.infer<typeof RedactedThinkingBlock>;

export const ToolUseBlock = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
});
export type ToolUseBlock = z.infer<typeof ToolUseBlock>;

/** What a tool may hand to the model. */
export const ResultContentBlock = z.discriminatedUnion("type", [TextBlock, ImageBlock, DocumentBlock]);
export type ResultContentBlock = z.infer<typeof ResultContentBlock>;

export const ToolResultBlock = z.object({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(ResultContentBlock)]),
  is_error: z.boolean().optional(),
});
export type ToolResultBlock = z.infer<typeof ToolResultBlock>;

export const Block = z.discriminatedUnion("type", [
  TextBlock,
  ImageBlock,
  DocumentBlock,
  ThinkingBlock,
  RedactedThinkingBlock,
  ToolUseBlock,
  ToolResultBlock,
]);
export type Block = z.infer<typeof Block>;

export const StopReasonOfModel = z.enum([
  "end_turn",
  "tool_use",
  "max_tokens",
  "stop_sequence",
  "refusal",
  "pause_turn",
  /** The stream was cut after a tool call had been received whole: what was received stands. */
  "cut",
]);
export type StopReasonOfModel = z.infer<typeof StopReasonOfModel>;

export const Message = z.object({
  uuid: z.string(),
  parentUuid: z.string().nullable(),
  /** ISO 8601. */
  timestamp: z.string(),
  /** Absent for the main agent. */
  agentId: z.string().optional(),
  role: z.enum(["user", "assistant"]),
  content: z.array(Block),
  /** Of an assistant message: what the provider said about it. */
  response: z
    .object({ id: z.string(), model: z.string(), stopReason: StopReasonOfModel, usage: Usage })
    .optional(),
  /** Of a user message: the items of the queue that stand in it. Their presence here is their acknowledgement. */
  queueItems: z.array(z.string()).optional(),
  /** Written by the runtime, not by a person or a tool: repair results, what is told again after compaction. */
  synthetic: z.boolean().optional(),
});
export type Message = z.infer<typeof Message>;
