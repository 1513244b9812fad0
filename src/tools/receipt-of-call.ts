import type { ToolUseBlock } from "../contracts/message.ts";
import type { CallFacts, CallReceipt } from "../contracts/receipt.ts";
import type { Tool } from "./tool.ts";

/** What is known of a call that has ended, whatever became of it. */
export function receiptOf(ended: {
  readonly call: ToolUseBlock;
  readonly tool: Tool | undefined;
  readonly outcome: CallReceipt["outcome"];
  readonly facts: CallFacts | undefined;
}): CallReceipt {
  const { call, tool, outcome, facts } = ended;
  return { toolUseId: call.id, tool: tool?.name ?? call.name, outcome, ...(facts && checked(facts)) };
}

/**
 * Tools come from anywhere, and what does not fit would make a record on disk unreadable. By hand: every run comes by
 * here, and most need the schemas for nothing else.
 */
function checked({ path, before, after, command, exitCode, taskId }: CallFacts): CallFacts {
  return {
    ...(isText(path) && { path }),
    ...(isTextOrNull(before) && { before }),
    ...(isTextOrNull(after) && { after }),
    ...(isText(command) && { command }),
    ...((exitCode === null || Number.isInteger(exitCode)) && { exitCode }),
    ...(isText(taskId) && { taskId }),
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}
