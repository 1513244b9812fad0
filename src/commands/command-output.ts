/** What a forked command came to, as the model reads it: what was run, and what was said in the end. */
import { type CompletedAgent, receiptBlock } from "../agents/agent-result.ts";
import { escapeAttribute, escapeText } from "../base/markup.ts";
import type { TextBlock } from "../contracts/message.ts";
import type { ReceiptSummary } from "../contracts/receipt.ts";

export interface CommandOutput {
  readonly status: "completed" | "failed" | "stopped" | "background";
  /** What its agent says, and what the runtime has to say about that. */
  readonly content: readonly TextBlock[];
  readonly agentId?: string;
  readonly receipt?: ReceiptSummary;
  /** Nobody has waited for it. */
  readonly wasForgotten?: boolean;
}

/** A pair: that it was run, and its output. What comes from the agent is escaped, so that it can neither end it nor add to it. */
export function commandBlocks(
  { name, typed = `/${name}` }: { readonly name: string; readonly typed?: string | undefined },
  output: CommandOutput,
): TextBlock[] {
  const { status, agentId, receipt } = output;
  const said = output.content.map((block) => block.text).join("\n\n");
  const seen = receipt && agentId !== undefined ? receiptBlock(receipt, agentId) : undefined;
  return [
    text(`<system-reminder>\n${escapeText(introduce(typed, output))}\n</system-reminder>`),
    text(
      `<command-output command="${escapeAttribute(`/${name}`)}" status="${status}">\n${escapeText(said)}\n</command-output>`,
    ),
    ...(seen ? [seen] : []),
  ];
}

function introduce(typed: string, { status, wasForgotten }: CommandOutput): string {
  if (wasForgotten)
    return `The command ${typed}, which was started earlier and nobody waited for, has ended. An agent of its own ran it. What it came to follows; no person has typed this.`;
  if (status === "background")
    return `The user ran the command ${typed}. An agent of its own runs it. What it comes to will be told.`;
  return `The user ran the command ${typed}. An agent of its own ran it, and the user has seen what follows. There is nothing to answer, unless the user asks.`;
}

/** Its own last words, and why there are no more of them, if there could have been. */
export function textOfEnd({ content, note, worktree }: CompletedAgent): TextBlock[] {
  return [
    ...content,
    ...(note === undefined ? [] : [text(`(${note})`)]),
    ...(worktree
      ? [text(`Its changes are in the worktree ${worktree.path}, branch ${worktree.branch}.`)]
      : []),
  ];
}

function text(value: string): TextBlock {
  return { type: "text", text: value };
}
