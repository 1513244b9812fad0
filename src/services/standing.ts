/** What an agent is told again when its conversation was shortened: what the runtime knows of how things stand. */
import { neutralizeTags } from "../base/markup.ts";
import { toOneLine } from "../base/one-line.ts";
import type { Block } from "../contracts/message.ts";
import type { Task } from "../contracts/task.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import type { Queue } from "../tasks/queue.ts";
import { hasEnded, type TaskRegistry } from "../tasks/registry.ts";
import type { AgentScope, TodoItem } from "../tools/tool-context.ts";

export interface StandingParts {
  readonly tasks: Pick<TaskRegistry, "list">;
  readonly queue: Pick<Queue, "waiting">;
  /** Which agents it can start, in the words in which it was told before. */
  readonly news: (loop: LoopOptions) => Promise<readonly Block[]>;
  /** Who works with it in a team, one a line. Absent: there are no teams. */
  readonly team?: (agent: AgentScope) => readonly string[];
}

export function createStanding(parts: StandingParts): (loop: LoopOptions) => Promise<readonly Block[]> {
  return async (loop) => {
    const { agent } = loop;
    const sections = [
      ...aboutTasks(parts.tasks.list(), agent),
      ...aboutQueue(parts.queue.waiting(agent.agentId)),
      ...listed("Your team:", parts.team?.(agent) ?? []),
      ...listed("Your todo list:", agent.todos.items.map(todoLine)),
      ...aboutMode(agent),
      ...aboutFiles(agent),
    ];
    if (sections.length === 0) return await parts.news(loop);
    const text = ["How things stand now, as the runtime knows it:", ...sections].join("\n\n");
    const block: Block = {
      type: "text",
      text: `<system-reminder>\n${neutralizeTags(text)}\n</system-reminder>`,
    };
    return [...(await parts.news(loop)), block];
  };
}

const mostRunning = 50;
const mostEnded = 10;
const mostFiles = 20;

/** The main agent hears of all: in the end all of it is told to it. */
function aboutTasks(all: readonly Task[], { agentId }: AgentScope): string[] {
  const own = all.filter(
    (task) => task.isBackgrounded && (agentId === undefined || task.parentAgentId === agentId),
  );
  const running = own.filter((task) => !hasEnded(task));
  const ended = own.filter((task) => hasEnded(task) && task.parentAgentId === agentId).slice(-mostEnded);
  return [
    ...listed(
      "These tasks still run in the background; you will be told when one ends:",
      running.slice(0, mostRunning).map((task) => taskLine(task, agentId)),
      running.length - mostRunning,
    ),
    ...listed(
      "These tasks have ended:",
      ended.map((task) => `${taskLine(task, agentId)} (${task.status})`),
    ),
  ];
}

function taskLine(task: Task, agentId: string | undefined): string {
  const { id, kind, description, agent, command, outputFile, parentAgentId } = task;
  const name = agent?.name === undefined ? "" : ` named ${oneLine(agent.name)}`;
  const what = agent ? `${agent.agentType} agent${name}` : kind === "local_bash" ? "command" : kind;
  return [
    `${id}, ${what}: ${oneLine(command ?? description)}`,
    ...(parentAgentId === agentId ? [] : [`started by the agent ${parentAgentId}`]),
    ...(outputFile === undefined ? [] : [`output in ${outputFile}`]),
  ].join("; ");
}

function aboutQueue(waiting: number): string[] {
  if (waiting === 0) return [];
  return [waiting === 1 ? "One message waits for you." : `${waiting} messages wait for you.`];
}

const boxes = { pending: "[ ]", in_progress: "[>]", completed: "[x]" } as const;

function todoLine({ content, status }: TodoItem): string {
  return `${boxes[status]} ${oneLine(content)}`;
}

function aboutMode({ mode }: AgentScope): string[] {
  if (mode.current !== "plan") return [];
  return [
    "You are planning: read and search, change nothing, and call ExitPlanMode when the plan is complete. A plan that stands above has not been approved.",
  ];
}

function aboutFiles({ fileReads }: AgentScope): string[] {
  const paths = fileReads.paths().toReversed();
  return listed(
    "Files that you have read or written, the latest first. What stands in them is no longer before you: read one again before you change it.",
    paths.slice(0, mostFiles).map(oneLine),
    paths.length - mostFiles,
  );
}

function listed(title: string, lines: readonly string[], more = 0): string[] {
  if (lines.length === 0) return [];
  const all = more > 0 ? [...lines, `and ${more} more`] : lines;
  return [[title, ...all.map((line) => `- ${line}`)].join("\n")];
}

const longestLine = 300;

function oneLine(text: string): string {
  return toOneLine(text.replace(/\s+/g, " ").trim(), longestLine);
}
