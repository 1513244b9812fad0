import { forTerminal } from "../../base/markup.ts";
import type { CallReceipt, Receipt } from "../../contracts/receipt.ts";
import { isGoingOn } from "../../contracts/task.ts";
import { totalTokensOf } from "../../contracts/usage.ts";
import { addressOfSession } from "../../runtime/control-path.ts";
import { findTask } from "../../runtime/find-tasks.ts";
import type { FoundTask } from "../../runtime/recorded-tasks.ts";
import { runningSession } from "../../runtime/session-state.ts";
import { readTaskDetails, type TaskDetails } from "../../runtime/task-details.ts";
import { exitCodes } from "../../surfaces/headless/exit-code.ts";
import { layoutTable } from "../text-table.ts";
import {
  durationOf,
  durationText,
  localTime,
  numberText,
  statusText,
  type TasksRequest,
  taskJson,
  typeText,
  withDetails,
} from "./tasks-request.ts";

interface Shown {
  readonly task: FoundTask;
  readonly details: TaskDetails | undefined;
  readonly nowMs: number;
  /** Of the session, while it runs. */
  readonly address: string | undefined;
  readonly resume: string | undefined;
}

/** `cadre tasks show ID` */
export async function showTask(request: TasksRequest, id: string): Promise<number> {
  const { world, io, values } = request;
  const found = await findTask({ ...request.where, id });
  const details = await readTaskDetails(world.files, found);
  const task = withDetails(found, details);
  const running = await runningSession(world, task.session);
  const shown: Shown = {
    task,
    details,
    nowMs: world.clock.now(),
    address: running && addressOfSession(world, task.session.id),
    resume: resumeText(task, running !== undefined),
  };
  await io.stdout.write(values.json ? asJson(shown) : asText(shown, request.columns));
  return exitCodes.success;
}

function resumeText(task: FoundTask, isRunning: boolean): string | undefined {
  if (task.meta === undefined || isGoingOn(task)) return undefined;
  const ask = `say: let the agent ${task.id} go on`;
  return isRunning ? `in its session, ${ask}` : `cadre --resume ${task.session.id}, then ${ask}`;
}

function asJson({ task, details, nowMs, address, resume }: Shown): string {
  const json = {
    ...taskJson(task, nowMs),
    ...(details && {
      prompt: details.prompt,
      text: details.text,
      runs: details.runs,
      endReason: details.end?.reason,
      turns: details.end?.turns,
      costUsd: details.end?.costUsd,
      receipt: details.end?.receipt,
    }),
    address,
    resume,
  };
  return `${JSON.stringify(json, undefined, 2)}\n`;
}

function asText(shown: Shown, columns: number | undefined): string {
  const { details } = shown;
  const rows = [...fieldsOf(shown)].map(([field, value]) => [field, value]);
  const parts = [layoutTable({ header: ["FIELD", "VALUE"], rows, width: columns })];
  const receipt = details?.end?.receipt;
  if (receipt !== undefined && receipt.calls.length > 0) parts.push(receiptText(receipt, columns));
  if (details !== undefined && details.prompt !== "") parts.push(section("Prompt", details.prompt));
  if (details !== undefined && details.text !== "") parts.push(section("Last words", details.text));
  return forTerminal(parts.join("\n"));
}

function* fieldsOf({ task, details, nowMs, address, resume }: Shown): Generator<[string, string]> {
  const { usage, meta, progress, exitCode } = task;
  yield ["id", task.id];
  yield ["status", statusText(task)];
  yield ["type", typeText(task)];
  if (task.name !== undefined) yield ["name", task.name];
  yield ["description", task.description];
  if (task.command !== undefined) yield ["command", task.command];
  if (exitCode !== undefined)
    yield ["exit code", exitCode === null ? "none, a signal ended it" : `${exitCode}`];
  if (task.error !== undefined) yield ["error", task.error];
  yield [
    "started by",
    task.parentAgentId === undefined ? "the main agent" : `the agent ${task.parentAgentId}`,
  ];
  yield ["started", localTime(task.startedAt)];
  if (task.endedAt !== undefined)
    yield [task.status === "interrupted" ? "last heard of" : "ended", localTime(task.endedAt)];
  yield ["duration", durationText(durationOf(task, nowMs))];
  yield ["in the background", task.isBackgrounded ? "yes" : "no"];
  if (details !== undefined && details.runs > 1) yield ["runs", `${details.runs}, this is the last`];
  if (details?.end !== undefined) yield ["end", `${details.end.reason}, after ${details.end.turns} turns`];
  if (task.toolUses !== undefined) yield ["tool calls", numberText(task.toolUses)];
  if (usage !== undefined)
    yield [
      "tokens",
      `${numberText(totalTokensOf(usage))} (${numberText(usage.inputTokens)} in, ${numberText(usage.cacheWriteTokens)} into the cache, ${numberText(usage.cacheReadTokens)} from it, ${numberText(usage.outputTokens)} out)`,
    ];
  if (details?.end?.costUsd !== undefined) yield ["cost", `$${details.end.costUsd.toFixed(4)}`];
  if (progress?.summary !== undefined) yield ["at work on", progress.summary];
  if (progress !== undefined && progress.lastActivities.length > 0)
    yield ["last activities", progress.lastActivities.join("; ")];
  if (meta?.modelId !== undefined) yield ["model", meta.modelId];
  if (meta !== undefined) yield ["folder", meta.cwd];
  if (meta?.worktree !== undefined)
    yield ["worktree", `${meta.worktree.path} (branch ${meta.worktree.branch})`];
  if (task.outputFile !== undefined) yield ["output file", task.outputFile];
  if (task.toolUseId !== undefined) yield ["call", task.toolUseId];
  yield ["session", task.session.id];
  if (address !== undefined) yield ["address", address];
  if (resume !== undefined) yield ["to go on", resume];
}

/** What it did, as it was seen from outside. */
function receiptText({ calls, omittedCalls }: Receipt, columns: number | undefined): string {
  const table = layoutTable({
    header: ["CALL", "OUTCOME", "WHAT"],
    rows: calls.map((call) => [call.tool, call.outcome, deedOf(call)]),
    width: columns,
  });
  return omittedCalls === 0 ? table : `${table}and ${numberText(omittedCalls)} more calls\n`;
}

function deedOf({ path, before, after, command, exitCode, taskId }: CallReceipt): string {
  const parts: string[] = [];
  if (path !== undefined) parts.push(path);
  if (before !== undefined || after !== undefined) parts.push(`${shortHash(before)} -> ${shortHash(after)}`);
  if (command !== undefined) parts.push(command.slice(0, 500));
  if (exitCode !== undefined)
    parts.push(exitCode === null ? "(ended by a signal)" : `(exit code ${exitCode})`);
  if (taskId !== undefined) parts.push(`(goes on as ${taskId})`);
  return parts.join(" ") || "-";
}

function shortHash(hash: string | null | undefined): string {
  return hash === null ? "no file" : (hash?.slice(0, 12) ?? "?");
}

function section(title: string, text: string): string {
  return `${title}:\n${text.trimEnd()}\n`;
}
