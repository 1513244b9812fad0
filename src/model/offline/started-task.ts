/** Whether a call was answered while its work goes on, and as which task. */
import type { CallResult } from "./playbook.ts";

/** Only the runtime's own words count: those of an agent stand in other blocks, or before them. */
export function startedAgentId(result: CallResult): string | undefined {
  return /^agentId: (\S+)\noutput_file: /m.exec(textsIn(result).at(-1) ?? "")?.[1];
}

/** Of a command. */
export function startedTaskId({ text, isError }: CallResult): string | undefined {
  if (isError) return undefined;
  return /^The command runs in the background\.\ntask_id: (\S+)\noutput_file: /.exec(text)?.[1];
}

export function textsIn({ blocks }: CallResult): string[] {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
}
