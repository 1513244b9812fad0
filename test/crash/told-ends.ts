/** What the agents of a session have heard of the ends of what they started, read from their messages. */
import { expect } from "vitest";
import type { World } from "../../src/base/world.ts";
import type { Message, ToolResultBlock, ToolUseBlock } from "../../src/contracts/message.ts";
import { textOf, toolUsesOf } from "../../src/contracts/message-content.ts";
import { createAgentTranscripts } from "../../src/transcript/agent-transcripts.ts";
import type { SessionFiles } from "../../src/transcript/location.ts";
import { loadTranscript } from "../../src/transcript/reader.ts";
import { expectPaired } from "./invariants.ts";

export interface ToldEnds {
  /** That started something. */
  readonly calls: number;
  /** The call itself was answered with the end, or with an error. */
  readonly byCall: number;
  readonly byNotification: number;
  /** By a call that waited for it. */
  readonly byWaiting: number;
}

export const nothingTold: ToldEnds = { calls: 0, byCall: 0, byNotification: 0, byWaiting: 0 };

interface Subject {
  runs: number;
  readonly reports: string[];
}

/**
 * Expects of a session that is at rest that nothing waits, and that there is exactly one report for each run. A run is
 * begun by a call, or by a message to one that has ended.
 */
export async function expectEachToldOnce(world: World, files: SessionFiles): Promise<ToldEnds> {
  const main = await loadTranscript({ world, path: files.transcript });
  expectPaired(main.messages, { whole: true });
  const transcripts = createAgentTranscripts({ world, folder: files.subagents });
  const agents = await transcripts.list();
  const subjects = new Map<string, Subject>();
  const subjectOf = (id: string): Subject => {
    const subject = subjects.get(id) ?? { runs: 0, reports: [] };
    subjects.set(id, subject);
    return subject;
  };
  const idByCall = new Map([
    ...main.tasks.map(({ toolUseId, id }) => [toolUseId, id] as const),
    ...agents.map(({ meta }) => [meta.toolUseId, meta.agentId] as const),
  ]);
  const calls = countReports(main.messages, { idByCall, subjectOf });
  const items = main.messages.flatMap(({ queueItems = [] }) => queueItems);
  const waiting = new Set(main.waiting.map(({ uuid }) => uuid));
  for (const { meta, status } of agents) {
    const loaded = await transcripts.read(meta.agentId);
    // What would be made up for it when it goes on, nobody has heard yet.
    const messages = loaded?.messages.slice(0, loaded.messages.length - loaded.added.length) ?? [];
    countReports(messages, { idByCall, subjectOf });
    subjectOf(meta.agentId).runs += messages.filter(isWakeUp).length;
    items.push(...messages.flatMap(({ queueItems = [] }) => queueItems));
    // For one that was cut off it waits until that goes on.
    if (status === "interrupted")
      for (const { uuid, target } of main.waiting) if (target === meta.agentId) waiting.delete(uuid);
  }
  await transcripts.close();
  for (const item of items) waiting.delete(item);
  expect([...waiting], "nothing waits any more").toEqual([]);
  expect(new Set(items).size, "nothing is taken from the queue twice").toBe(items.length);
  for (const { meta } of agents) expect(subjects.get(meta.agentId)?.runs).toBeGreaterThan(0);
  for (const [id, { runs, reports }] of subjects)
    expect(reports.length, `${id} ran ${runs} times: ${reports.join("; ")}`).toBe(runs);
  const all = [...subjects.values()].flatMap(({ reports }) => reports);
  const by = (way: string) => all.filter((report) => report.startsWith(way)).length;
  return { calls, byCall: by("call"), byNotification: by("notification"), byWaiting: by("waited") };
}

/** Answers with how many calls there were that start something. */
function countReports(
  messages: readonly Message[],
  options: { idByCall: ReadonlyMap<string | undefined, string>; subjectOf: (id: string) => Subject },
): number {
  const { idByCall, subjectOf } = options;
  const results = new Map(messages.flatMap(({ content }) => content.flatMap(resultEntry)));
  // One without an answer is the last word of an agent that was cut off: it counts if it had started something.
  const calls = messages
    .flatMap(({ content }) => toolUsesOf(content))
    .filter(({ id }) => results.has(id) || idByCall.has(id));
  const starts = calls.filter(startsSomething);
  for (const call of starts) {
    const text = textOfResult(results.get(call.id));
    const launched = /^(?:agentId|task_id): (\w+)$/m.exec(text)?.[1];
    const resumed = typeof call.input.resume === "string" ? call.input.resume : undefined;
    const id = resumed ?? launched ?? idByCall.get(call.id) ?? call.id;
    subjectOf(id).runs += 1;
    // That nothing is known of a call tells nothing of the task that it had started by then.
    const isTold = launched === undefined && (id === call.id || !saysNothing.test(text));
    if (isTold && results.has(call.id)) subjectOf(id).reports.push(`call: ${text.slice(0, 80)}`);
  }
  for (const { taskId, summary } of messages.flatMap(notificationsIn))
    subjectOf(taskId).reports.push(`notification: ${summary}`);
  for (const { id, name, input } of calls)
    if (name === "TaskOutput" && /^status: (completed|failed|killed)/m.test(textOfResult(results.get(id))))
      subjectOf(String(input.task_id)).reports.push("waited");
  return starts.length;
}

const saysNothing = /Its outcome is unknown|before this call gave a result/;

function startsSomething({ name, input }: ToolUseBlock): boolean {
  return name === "Agent" || (name === "Bash" && input.run_in_background === true);
}

/** In the stories here nobody is written to at the very moment of its last word: that would go on with the same run. */
function isWakeUp({ role, content, queueItems }: Message): boolean {
  return role === "user" && queueItems !== undefined && !content.some(({ type }) => type === "tool_result");
}

function resultEntry(block: Message["content"][number]): [string, ToolResultBlock][] {
  return block.type === "tool_result" ? [[block.tool_use_id, block]] : [];
}

function textOfResult(result: ToolResultBlock | undefined): string {
  const content = result?.content ?? "";
  return typeof content === "string" ? content : textOf(content);
}

function notificationsIn({ role, content }: Message): { taskId: string; summary: string }[] {
  if (role !== "user") return [];
  const found = textOf(content).match(/<task-notification>[\s\S]*?<\/task-notification>/g) ?? [];
  const part = (text: string, name: string) => new RegExp(`<${name}>([^<]*)<`).exec(text)?.[1] ?? "";
  return found.map((text) => ({ taskId: part(text, "task-id"), summary: part(text, "summary") }));
}
