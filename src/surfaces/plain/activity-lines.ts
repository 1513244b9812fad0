/** What a session does as plain lines, in ASCII but for what stands in them. */
import type { BackgroundActivity, LoopEvent } from "../../contracts/event.ts";
import type { Task } from "../../contracts/task.ts";
import { createAgentWatch, type Moment } from "../headless/watch-agents.ts";
import type { TaskMoment } from "../headless/watch-tasks.ts";
import { type AgentLabels, createAgentLabels } from "./agent-labels.ts";
import { createAgentLines } from "./agent-lines.ts";
import { createCallLines } from "./call-lines.ts";
import { stalledLine, taskEndLines } from "./task-lines.ts";

export interface ActivityLines {
  /** An event of a run. */
  at(event: LoopEvent): string[];
  /** What an agent in the background does. */
  beside(activity: BackgroundActivity): string[];
  ofTask(moment: TaskMoment): string[];
  /** The run is over: what it waited for will not be heard of again. */
  endRun(): string[];
  /** Nothing will be heard any more. */
  close(): string[];
}

export function createActivityLines(
  options: {
    maxChars?: number;
    labels?: AgentLabels;
    taskOf?: (id: string) => Task | undefined;
    /** Paths in it are shown without it. */
    folder?: string;
  } = {},
): ActivityLines {
  const { maxChars = 79, labels = createAgentLabels(), taskOf } = options;
  const calls = createCallLines({ maxChars });
  const agents = createAgentLines({ maxChars, labels, folder: options.folder });
  const watch = createAgentWatch({ isBackgrounded: (id) => taskOf?.(id)?.isBackgrounded === true });
  const linesAt = (moment: Moment): string[] => {
    switch (moment.type) {
      case "agent-start":
        return agents.start(moment.agent);
      case "agent-end":
        return agents.end(moment);
      case "agent-leave":
        return agents.leave(moment.agent);
      case "event": {
        const { agent, event, started } = moment;
        const [first] = started;
        if (first !== undefined && event.type === "call-end") return agents.callEnd(first, event);
        return agent === undefined ? calls(event) : agents.event(agent, event);
      }
    }
  };
  return {
    at: (event) => watch.see(event).flatMap(linesAt),
    beside: (activity) => watch.seeBeside(activity).flatMap(linesAt),
    // That something began to go on in the background is said by the call that it answers.
    ofTask: ({ ended, stalled }) => [
      ...(ended ? taskEndLines(ended, maxChars) : []),
      ...(stalled ? [stalledLine(stalled, labels.of(stalled.id), maxChars)] : []),
    ],
    endRun: () => watch.endRun().flatMap(linesAt),
    close: () => watch.close().flatMap(linesAt),
  };
}
