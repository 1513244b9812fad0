/** One answer of the model: streamed to whoever watches, assembled, its calls handed on as they complete. */
import { isCancelled } from "../base/errors.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { Block, StopReasonOfModel, ToolUseBlock } from "../contracts/message.ts";
import { noUsage, type Usage } from "../contracts/usage.ts";
import { createAssembler } from "../model/assemble-message.ts";
import type { Model, ModelRequest } from "../model/model.ts";
import { ModelError } from "../model/model-error.ts";

export interface Response {
  readonly id: string;
  readonly model: string;
  /** Complete blocks. After an interrupt also the text that had arrived of the last one. */
  readonly content: Block[];
  readonly stopReason: StopReasonOfModel;
  readonly usage: Usage;
  /** Set when the stream did not come to its end: what broke it. */
  readonly brokenBy: unknown;
}

/** Whoever follows an answer while it streams. */
export interface AnswerWatcher {
  answerEvent(event: LoopEvent): void;
  /** Nothing more will come. */
  answerEnd(): void;
  /** Ids that repeat are replaced before anybody sees them. */
  claimCallId(id: string): string;
  /**
   * A call is complete. `content`: the blocks up to and including it; it grows as more of them come. `problem`: its
   * input could not be read.
   */
  callReceived(
    call: ToolUseBlock,
    received: { problem: string | undefined; content: readonly Block[] },
  ): void;
}

export async function receiveResponse(
  asked: Model,
  request: ModelRequest,
  watcher: AnswerWatcher,
): Promise<Response> {
  const assembler = createAssembler();
  const content: Block[] = [];
  let id = "";
  let model = asked.id;
  let usage = noUsage;
  let stopReason: StopReasonOfModel = "cut";
  let brokenBy: unknown;
  let ended = false;
  try {
    for await (const event of asked.stream(request)) {
      if (event.type === "message-start") ({ id, model, usage } = event);
      else if (event.type === "message-stop") {
        ({ stopReason, usage } = event);
        ended = true;
      }
      watcher.answerEvent({ type: "model-event", event });
      const completed = assembler.accept(event);
      if (completed === undefined || isEmptyText(completed.block)) continue;
      const block = withUniqueId(completed.block, watcher);
      content.push(block);
      if (block.type !== "tool_use") continue;
      watcher.callReceived(block, { problem: completed.problem, content });
    }
    // Half an answer must not pass for a whole one.
    if (!ended)
      throw new ModelError({ kind: "cut", message: "The model's answer ended before the message did." });
  } catch (error) {
    brokenBy = error;
    const unfinished = isCancelled(error) ? assembler.unfinishedText() : "";
    if (unfinished !== "") content.push({ type: "text", text: unfinished });
  }
  watcher.answerEnd();
  return { id, model, content, stopReason, usage, brokenBy };
}

/** Providers reject empty text. */
function isEmptyText(block: Block): boolean {
  return block.type === "text" && block.text === "";
}

function withUniqueId(block: Block, watcher: AnswerWatcher): Block {
  if (block.type !== "tool_use") return block;
  const id = watcher.claimCallId(block.id);
  return id === block.id ? block : { ...block, id };
}
