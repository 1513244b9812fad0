/** What an agent did, in lines for people and models. */
import { counted } from "../base/counted.ts";
import { groupDigits } from "../base/group-digits.ts";
import { toOneLine } from "../base/one-line.ts";
import type { ReceiptSummary } from "./receipt.ts";

const maxPathChars = 400;
const maxCommandChars = 160;

/**
 * `3 calls, 1 failed`, then `changed PATH` or `created PATH` for every file and `ran COMMAND: exit code 1` for every
 * command, at most `mostOfEach` of both. Each stays one line whatever is in it; for use between tags it must be escaped.
 */
export function describeReceipt(summary: ReceiptSummary, mostOfEach = 10): string[] {
  const files = summary.files.slice(0, mostOfEach);
  const commands = summary.commands.slice(-mostOfEach);
  const moreFiles = summary.files.length - files.length + (summary.omittedFiles ?? 0);
  const moreCommands = summary.commands.length - commands.length + (summary.omittedCommands ?? 0);
  return [
    describeCounts(summary),
    ...files.map(describeFile),
    ...(moreFiles > 0 ? [`changed ${counted(moreFiles, "more file")}`] : []),
    ...commands.map(describeCommand),
    ...(moreCommands > 0 ? [`ran ${counted(moreCommands, "more command")}`] : []),
  ];
}

/** Whether a call of it changed something, or may have. */
export function hadEffects({ files, commands }: ReceiptSummary): boolean {
  return files.length > 0 || commands.length > 0;
}

function describeCounts({ calls, failed, denied }: ReceiptSummary): string {
  const parts = [calls === 0 ? "no calls" : counted(calls, "call")];
  if (failed > 0) parts.push(`${groupDigits(failed)} failed`);
  if (denied > 0) parts.push(`${groupDigits(denied)} denied`);
  return parts.join(", ");
}

function describeFile({ path, before, after }: ReceiptSummary["files"][number]): string {
  const verb = before === null ? "created" : after === null ? "removed" : "changed";
  return `${verb} ${toOneLine(path, maxPathChars)}`;
}

function describeCommand({ command, exitCode, taskId }: ReceiptSummary["commands"][number]): string {
  const shown = toOneLine(command.trim(), maxCommandChars);
  if (taskId !== undefined) return `started ${shown} in the background: task ${toOneLine(taskId, 40)}`;
  return `ran ${shown}: ${exitCode === null ? "did not finish" : `exit code ${exitCode}`}`;
}
