/** What the transcript of an agent tells of its latest run, and the text that its output file would have. */
import type { FileSystem } from "../base/world.ts";
import type { Message } from "../contracts/message.ts";
import { textOf, toolUsesOf } from "../contracts/message-content.ts";
import { addUsage, noUsage, type Usage } from "../contracts/usage.ts";
import { textOfMessages } from "../tasks/output-text.ts";
import type { RunEndRecord } from "../transcript/record.ts";
import { type AgentRecords, lookAtAgents } from "./agent-records.ts";
import { promptTextOf } from "./prompt-text.ts";
import type { FoundTask } from "./recorded-tasks.ts";

export interface TaskDetails {
  /** What it was asked last. */
  readonly prompt: string;
  /** The last words that it said. */
  readonly text: string;
  /** So many runs there were, with this one. */
  readonly runs: number;
  readonly startedAt: number | undefined;
  readonly toolUses: number;
  readonly usage: Usage;
  /** Undefined when the run did not end. */
  readonly end: RunEndRecord | undefined;
}

/** Undefined for what has no transcript. `agents`: of its session, for who has looked already. */
export async function readTaskDetails(
  files: FileSystem,
  task: FoundTask,
  agents?: AgentRecords,
): Promise<TaskDetails | undefined> {
  if (task.meta === undefined) return undefined;
  const records = agents ?? (await lookAtAgents(files, task.session.files.subagents));
  let run = newRun();
  let runs = 0;
  for await (const record of records.oldestFirst(task.id)) {
    if (record.type === "run-end") run.end = record;
    if (record.type !== "message") continue;
    if (runs === 0 || run.end !== undefined) {
      run = newRun();
      runs++;
    }
    takeMessage(run, record.message);
  }
  return { ...run, runs };
}

interface Run {
  prompt: string;
  text: string;
  startedAt: number | undefined;
  toolUses: number;
  usage: Usage;
  end: RunEndRecord | undefined;
}

function newRun(): Run {
  return { prompt: "", text: "", startedAt: undefined, toolUses: 0, usage: noUsage, end: undefined };
}

function takeMessage(run: Run, message: Message): void {
  const { role, content, timestamp, response } = message;
  run.startedAt ??= Date.parse(timestamp);
  if (role === "user") {
    // What another agent said stands between tags of the runtime.
    run.prompt ||= promptTextOf(message) ?? textOf(content);
    return;
  }
  run.text = textOf(content) || run.text;
  run.toolUses += toolUsesOf(content).length;
  if (response) run.usage = addUsage(run.usage, response.usage);
}

/** Readable text, message by message: all that an agent was told, said and did. */
export async function* textsOfTranscript(
  files: FileSystem,
  task: FoundTask,
): AsyncGenerator<string, void, undefined> {
  const agents = await lookAtAgents(files, task.session.files.subagents);
  for await (const record of agents.oldestFirst(task.id))
    if (record.type === "message") yield textOfMessages([record.message]);
}
