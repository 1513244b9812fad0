/** What there is, for a model that named something else. */
import type { Task } from "../contracts/task.ts";
import { hasEnded, type TaskRegistry } from "../tasks/registry.ts";
import type { Sender } from "./address-book.ts";
import type { AgentNames } from "./agent-names.ts";

const mostChoices = 20;
const mostWordsChars = 60;

/** Those in the background: running ones first, then the latest. */
export function listTasks(tasks: readonly Task[]): string {
  const choices = runningFirst(tasks.filter((task) => task.isBackgrounded)).map(
    (task) => `${task.id} (${wordsOf(task)})`,
  );
  return choices.length === 0 ? "There are no tasks in the background." : `Tasks: ${few(choices)}.`;
}

/** Agents that can be written to: running ones first, then the latest. */
export function listRecipients(
  { tasks, names }: { tasks: Pick<TaskRegistry, "list">; names: Pick<AgentNames, "nameOf" | "list"> },
  sender: Sender,
): string {
  const agents = runningFirst(tasks.list()).filter(({ agent, id }) => agent && id !== sender.agentId);
  const known = new Set(agents.map(({ id }) => id));
  // One that was waited for is no task any more once it has ended.
  const gone = names.list().filter(({ agentId }) => !known.has(agentId) && agentId !== sender.agentId);
  const choices = [
    ...(sender.agentId === undefined ? [] : ["main"]),
    ...agents.map((task) => recipient(names.nameOf(task.id), task.id, wordsOf(task))),
    ...gone.reverse().map(({ name, agentId }) => recipient(name, agentId, "ended")),
  ];
  return choices.length === 0 ? "There is no agent to write to." : `You can write to: ${few(choices)}.`;
}

function recipient(name: string | undefined, agentId: string, words: string): string {
  return name === undefined ? `${agentId} (${words})` : `"${name}" (${agentId}, ${words})`;
}

function runningFirst(tasks: readonly Task[]): Task[] {
  const latest = [...tasks].reverse();
  return [...latest.filter((task) => !hasEnded(task)), ...latest.filter(hasEnded)];
}

function wordsOf({ status, description }: Task): string {
  return `${status}: ${shortLine(description)}`;
}

export function shortLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= mostWordsChars ? line : `${[...line].slice(0, mostWordsChars).join("")} ...`;
}

function few(choices: readonly string[]): string {
  const more = choices.length - mostChoices;
  return choices.slice(0, mostChoices).join(", ") + (more > 0 ? `, and ${more} more` : "");
}
