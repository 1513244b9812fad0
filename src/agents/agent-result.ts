/** What a call of `Agent` came to, and what the parent's model reads of it: kept apart (SP-22). */
import { escapeAttribute, escapeText } from "../base/markup.ts";
import { describeReceipt, hadEffects } from "../contracts/describe-receipt.ts";
import type { TextBlock } from "../contracts/message.ts";
import type { ReceiptSummary } from "../contracts/receipt.ts";
import type { Usage } from "../contracts/usage.ts";
import type { ToolOutcome } from "../tools/tool-outcome.ts";

export type AgentToolOutput = CompletedAgent | LaunchedAgent | SpawnedTeammate | LaunchedRemote;

export interface CompletedAgent {
  readonly status: "completed";
  readonly agentId: string;
  readonly agentType: string;
  readonly prompt: string;
  readonly content: readonly TextBlock[];
  /** Of the agent and all below it. */
  readonly totalTokens: number;
  readonly totalToolUseCount: number;
  readonly totalDurationMs: number;
  readonly usage: Usage;
  /** Why this is not its own last word: a limit, an error. */
  readonly note?: string;
  /** What of its definition could not be followed. */
  readonly warnings?: readonly string[];
  /** Asked once and not continued: no id, no hint, no usage for the model (AD-10). */
  readonly oneShot?: boolean;
  readonly worktree?: { readonly path: string; readonly branch: string };
  /** What it did, as the runtime saw it. Absent: it called no tool. */
  readonly receipt?: ReceiptSummary;
}

export interface LaunchedAgent {
  readonly status: "async_launched";
  readonly agentId: string;
  readonly description: string;
  readonly prompt: string;
  readonly outputFile: string;
  /** Whether the parent has a tool that can read it. */
  readonly canReadOutputFile: boolean;
}

export interface SpawnedTeammate {
  readonly status: "teammate_spawned";
  readonly teammate_id: string;
  readonly name: string;
  readonly team_name: string;
  readonly backend: string;
}

export interface LaunchedRemote {
  readonly status: "remote_launched";
  readonly taskId: string;
  readonly sessionUrl: string;
  readonly outputFile: string;
  readonly description: string;
}

export interface AgentResult extends Pick<ToolOutcome, "isError" | "fromRuntime"> {
  readonly content: TextBlock[];
}

export function toAgentResult(output: AgentToolOutput, options: { sendMessage: boolean }): AgentResult {
  const receipt = output.status === "completed" ? receiptOfResult(output) : undefined;
  const content = blocksOf(output, options);
  return { content, isError: false, ...(receipt && { fromRuntime: [receipt] }) };
}

/**
 * What an agent did, to be read next to what it says: undefined if there is nothing to compare. Every line is escaped,
 * so that no name of a file and no command can end it or pose as another.
 */
export function receiptBlock(summary: ReceiptSummary, taskId: string): TextBlock | undefined {
  const { failed, denied } = summary;
  if (!hadEffects(summary) && failed === 0 && denied === 0) return undefined;
  const lines = describeReceipt(summary).map(escapeText).join("\n");
  return text(
    `<task-receipt task-id="${escapeAttribute(taskId)}">\nSeen by the runtime, not told by the agent: ${lines}\n</task-receipt>`,
  );
}

/** One that is asked once has a short answer: only what it should not have done, or what went wrong, is worth more. */
function receiptOfResult({ receipt, oneShot, agentId }: CompletedAgent): TextBlock | undefined {
  if (receipt === undefined) return undefined;
  const { files, commands, failed } = receipt;
  const commandFailed =
    failed > 0 && commands.some(({ exitCode, taskId }) => taskId === undefined && exitCode !== 0);
  return oneShot && files.length === 0 && !commandFailed ? undefined : receiptBlock(receipt, agentId);
}

function blocksOf(output: AgentToolOutput, options: { sendMessage: boolean }): TextBlock[] {
  switch (output.status) {
    case "completed":
      return completedBlocks(output, options);
    case "async_launched":
      return [text(launchedText(output))];
    case "teammate_spawned":
      return [
        text(
          `${output.name} is running as a member of the team ${output.team_name} (teammate_id: ${output.teammate_id}). It reads its mailbox: SendMessage reaches it by its name.`,
        ),
      ];
    case "remote_launched":
      return [
        text(
          `It runs on another machine: ${output.sessionUrl}\ntask_id: ${output.taskId}\noutput_file: ${output.outputFile}\nA notification will come when it has ended.`,
        ),
      ];
  }
}

/** The agent's words and the runtime's stand in blocks of their own, so that one cannot pass for the other. */
function completedBlocks(output: CompletedAgent, options: { sendMessage: boolean }): TextBlock[] {
  const { note, agentId, worktree } = output;
  const blocks = output.content.map((block) => ({ ...block }));
  if (note !== undefined) blocks.push(text(`(${note})`));
  if (worktree)
    blocks.push(text(`Its changes are in the worktree ${worktree.path}, branch ${worktree.branch}.`));
  if (output.oneShot) return blocks;
  const next = options.sendMessage ? `SendMessage to "${agentId}"` : `Agent with resume: "${agentId}"`;
  blocks.push(
    text(
      `agentId: ${agentId} (${next} continues it)\n<usage>total_tokens: ${output.totalTokens}, tool_uses: ${output.totalToolUseCount}, duration_ms: ${Math.round(output.totalDurationMs)}</usage>`,
    ),
  );
  return blocks;
}

function launchedText({ agentId, outputFile, canReadOutputFile }: LaunchedAgent): string {
  const look = canReadOutputFile ? " What it has done so far can be read in the output file." : "";
  return `It runs in the background. Do not do its work yourself meanwhile; a notification will come when it has ended.${look}\nagentId: ${agentId}\noutput_file: ${outputFile}`;
}

function text(value: string): TextBlock {
  return { type: "text", text: value };
}
