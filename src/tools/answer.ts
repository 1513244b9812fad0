/** From what a call came to, to what the model reads. */
import { CadreError, messageOf } from "../base/errors.ts";
import type { ToolResultBlock, ToolUseBlock } from "../contracts/message.ts";
import { limitResult } from "./result-store.ts";
import { type Tool, ToolFailure, type ToolOutcome } from "./tool.ts";
import type { ToolContext } from "./tool-context.ts";

export async function answerOf(options: {
  call: ToolUseBlock;
  tool: Tool | undefined;
  outcome: ToolOutcome;
  context: ToolContext;
}): Promise<ToolResultBlock> {
  const { call, tool, outcome, context } = options;
  const limit = (text: string) =>
    limitResult({
      text,
      maxChars: tool?.maxResultChars ?? Number.POSITIVE_INFINITY,
      store: context.agent.results,
      name: call.name,
    });
  const content =
    typeof outcome.content === "string"
      ? await limit(outcome.content)
      : await Promise.all(
          outcome.content.map(async (block) =>
            block.type === "text" ? { ...block, text: await limit(block.text) } : block,
          ),
        );
  return {
    type: "tool_result",
    tool_use_id: call.id,
    content: isEmpty(content) ? "(no output)" : content,
    ...(outcome.isError && { is_error: true }),
  };
}

export function errorResult(call: ToolUseBlock, text: string): ToolResultBlock {
  return { type: "tool_result", tool_use_id: call.id, content: text, is_error: true };
}

/** A `ToolFailure` was written for the model. Anything else is told as what it is: a fault of the tool. */
export function failureText(error: unknown): string {
  if (error instanceof ToolFailure) return error.message;
  if (error instanceof CadreError) return `${error.message} (${error.code})`;
  return `The tool failed unexpectedly: ${messageOf(error)}`;
}

function isEmpty(content: string | readonly unknown[]): boolean {
  return content.length === 0;
}
