/** Tasks in the background as lines: how each ended, what it did, and the list of all. */

import { counted } from "../../base/counted.ts";
import { groupDigits } from "../../base/group-digits.ts";
import type { ReceiptSummary } from "../../contracts/receipt.ts";
import type { Task } from "../../contracts/task.ts";
import { isGoingOn } from "../../contracts/task.ts";
import { cut, oneLine } from "./describe-call.ts";

/** Of each kind; the transcript has all. */
const mostFacts = 3;

/** What an agent changed and ran: nothing of it comes from its own words. */
export function receiptLines(
  receipt: ReceiptSummary | undefined,
  { maxChars, folder }: { maxChars: number; folder: string | undefined },
): string[] {
  if (receipt === undefined) return [];
  const changed = receipt.files.filter(({ before, after }) => before !== after);
  return [
    ...few(
      changed.map(({ path, before, after }) => {
        const word = before === null ? "wrote" : after === null ? "removed" : "changed";
        return `  ${word} ${keepEnd(oneLine(within(path, folder)), maxChars - word.length - 3)}`;
      }),
      "file",
    ),
    ...few(
      receipt.commands.map(({ command, exitCode }) => {
        const exit = exitCode === null ? ": ended by a signal" : `: exit ${exitCode}`;
        return `  ran ${cut(oneLine(command), maxChars - exit.length - "  ran ".length)}${exit}`;
      }),
      "command",
    ),
  ];
}

/** `* Bash npm test (background): exit 1 (12.3 s)` */
export function taskEndLines(task: Task, maxChars: number): string[] {
  const { startedAt, endedAt, error } = task;
  const took = endedAt === undefined ? "" : ` (${durationOf(endedAt - startedAt)})`;
  const tail = ` (background): ${outcomeOf(task)}${took}`;
  const sign = task.status === "completed" ? "* " : "! ";
  const line = sign + cut(nameOf(task), maxChars - tail.length - sign.length) + tail;
  // An exit code says it all.
  if (error === undefined || typeof task.exitCode === "number") return [line];
  return [line, `  ${cut(oneLine(error), maxChars - 2)}`];
}

/** Told once of an agent in which nothing happens any more. */
export function stalledLine({ id, agent }: Task, label: string | undefined, maxChars: number): string {
  const tail = `: nothing has happened in it for a while (/stop ${id} ends it)`;
  const who = `! Agent ${label ?? agent?.agentType ?? id}`;
  return cut(who, maxChars - tail.length) + tail;
}

/** The list of `/tasks`: one line for each, and one for what an agent at work says of itself. */
export function taskListLines(
  tasks: readonly Task[],
  { now, maxChars }: { now: number; maxChars: number },
): string[] {
  if (tasks.length === 0) return ["No tasks."];
  const width = Math.max(...tasks.map(({ id }) => id.length));
  return tasks.flatMap((task) => {
    const { agent } = task;
    const facts = [
      stateOf(task),
      ...(task.isBackgrounded || !isGoingOn(task) ? [] : ["in the foreground"]),
      durationOf((task.endedAt ?? now) - task.startedAt),
      ...(agent === undefined ? [] : [counted(agent.progress.toolUses, "call")]),
    ];
    const head = `${task.id.padEnd(width)}  `;
    const tail = ` (${facts.join(", ")})`;
    const line = head + cut(nameOf(task), Math.max(20, maxChars - head.length - tail.length)) + tail;
    const summary = isGoingOn(task) ? agent?.progress.summary : undefined;
    if (summary === undefined) return [line];
    const indent = " ".repeat(head.length);
    return [line, indent + cut(oneLine(summary), Math.max(20, maxChars - indent.length))];
  });
}

function stateOf(task: Task): string {
  if (!isGoingOn(task)) return outcomeOf(task);
  return task.agent?.progress.state === "stalled" ? "stalled" : "at work";
}

function nameOf({ kind, agent, command, description }: Task): string {
  if (agent !== undefined) return `Agent ${agent.name ?? agent.agentType}: ${oneLine(description)}`;
  if (command !== undefined) return `Bash ${oneLine(command)}`;
  return `${kind} ${oneLine(description)}`;
}

const endWords = { completed: "done", failed: "failed", killed: "stopped" } as const;

function outcomeOf({ status, exitCode }: Task): string {
  if (status === "pending" || status === "running") return "at work";
  return typeof exitCode === "number" && status !== "killed" ? `exit ${exitCode}` : endWords[status];
}

export function durationOf(durationMs: number): string {
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  return `${groupDigits(Math.floor(seconds / 60))} min ${seconds % 60} s`;
}

function few(lines: readonly string[], noun: string): string[] {
  if (lines.length <= mostFacts) return [...lines];
  return [...lines.slice(0, mostFacts), `  and ${counted(lines.length - mostFacts, `more ${noun}`)}`];
}

function within(path: string, folder: string | undefined): string {
  return folder !== undefined && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

/** Of a path the end says most. */
function keepEnd(path: string, maxChars: number): string {
  return path.length <= maxChars ? path : `...${path.slice(3 - maxChars)}`;
}
