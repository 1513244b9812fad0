import type { BlockDelta, ModelEvent, StreamedBlock } from "../../contracts/event.ts";
import type { StopReasonOfModel } from "../../contracts/message.ts";
import { wireUsage } from "./wire-usage.ts";

/** A model's event back in the words of the Messages API: the inverse of what its adapter reads. */
export function wireStreamEvents(event: ModelEvent): Record<string, unknown>[] {
  switch (event.type) {
    case "message-start":
      return [
        {
          type: "message_start",
          message: {
            id: event.id,
            type: "message",
            role: "assistant",
            model: event.model,
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: wireUsage(event.usage),
          },
        },
      ];
    case "block-start":
      return [
        { type: "content_block_start", index: event.index, content_block: wireStreamedBlock(event.block) },
      ];
    case "block-delta":
      return [{ type: "content_block_delta", index: event.index, delta: wireDelta(event.delta) }];
    case "block-stop":
      return [{ type: "content_block_stop", index: event.index }];
    case "message-stop":
      return [
        {
          type: "message_delta",
          delta: { stop_reason: wireStopReason(event.stopReason), stop_sequence: null },
          usage: wireUsage(event.usage),
        },
        { type: "message_stop" },
      ];
  }
}

/** `cut` is ours alone: to the outside such a message ended with its last complete tool call. */
export function wireStopReason(reason: StopReasonOfModel): string {
  return reason === "cut" ? "tool_use" : reason;
}

function wireStreamedBlock(block: StreamedBlock): Record<string, unknown> {
  if (block.type === "text") return { ...block, citations: null };
  return block.type === "tool_use" ? { ...block, input: {} } : { ...block };
}

function wireDelta(delta: BlockDelta): Record<string, unknown> {
  switch (delta.type) {
    case "text":
      return { type: "text_delta", text: delta.text };
    case "thinking":
      return { type: "thinking_delta", thinking: delta.thinking };
    case "signature":
      return { type: "signature_delta", signature: delta.signature };
    case "input-json":
      return { type: "input_json_delta", partial_json: delta.json };
  }
}
