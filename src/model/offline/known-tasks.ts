/** Which agents and commands this conversation has started, and which of them are known to have ended. */
import type { ToolUseBlock } from "../../contracts/message.ts";
import type { Exchange } from "./conversation.ts";
import type { KnownTask } from "./known-task.ts";
import type { CallResult } from "./playbook.ts";
import { readNotifications } from "./runtime-words.ts";
import { startedAgentId, startedTaskId, textsIn } from "./started-task.ts";

/** In the order of their starts. */
export function knownTasks(exchanges: readonly Exchange[]): KnownTask[] {
  const known = new Map<string, KnownTask>();
  for (const [index, { texts, answer }] of exchanges.entries()) {
    for (const { taskId, status } of texts.flatMap(readNotifications))
      if (taskId !== undefined) setEnd(known, taskId, status ?? "ended");
    for (const call of answer?.calls ?? []) {
      const result = exchanges[index + 1]?.results.get(call.id);
      if (result !== undefined && !result.isError) learn(known, call, result);
    }
  }
  return [...known.values()];
}

export function stillRunning(tasks: readonly KnownTask[]): KnownTask[] {
  return tasks.filter(({ end }) => end === undefined);
}

function learn(known: Map<string, KnownTask>, { name, input }: ToolUseBlock, result: CallResult): void {
  switch (name) {
    case "Bash": {
      const id = startedTaskId(result);
      const description = wordsIn(input, "description") ?? wordsIn(input, "command") ?? "a command";
      if (id !== undefined) known.set(id, { id, kind: "command", description });
      return;
    }
    case "Agent": {
      const started = startedAgentId(result);
      const id = started ?? endedAgentId(result);
      if (id === undefined) return;
      const agentName = wordsIn(input, "name");
      known.set(id, {
        id,
        kind: "agent",
        description: wordsIn(input, "description") ?? "an agent",
        agentType: wordsIn(input, "subagent_type") ?? "general-purpose",
        ...(agentName === undefined ? {} : { name: agentName }),
        ...(started === undefined ? { end: "completed" } : {}),
      });
      return;
    }
    case "SendMessage": {
      const task = known.get(startedAgentId(result) ?? "");
      if (task !== undefined) known.set(task.id, withEnd(task, undefined));
      return;
    }
    case "TaskOutput": {
      const [facts = ""] = textsIn(result);
      const status = /^status: (completed|failed|killed)\b/m.exec(facts)?.[1];
      const isOver = status ?? (/^It has ended\.$/m.test(facts) ? "ended" : undefined);
      if (isOver !== undefined) setEnd(known, wordsIn(input, "task_id") ?? "", isOver);
    }
  }
}

function endedAgentId(result: CallResult): string | undefined {
  const own = textsIn(result).findLast((text) => !text.startsWith("<task-receipt"));
  return /^agentId: (\S+) \([^\n]*continues it\)/.exec(own ?? "")?.[1];
}

function setEnd(known: Map<string, KnownTask>, id: string, end: string): void {
  const task = known.get(id);
  if (task !== undefined) known.set(id, withEnd(task, end));
}

function withEnd({ end: _, ...task }: KnownTask, end: string | undefined): KnownTask {
  return end === undefined ? task : { ...task, end };
}

function wordsIn(input: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const value = input[field];
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
