/** What a run does as plain lines, in ASCII but for what stands in them. */
import type { LoopEvent } from "../../contracts/event.ts";
import { createAgentWatch, type Moment } from "../headless/watch-agents.ts";
import { type AgentLabels, createAgentLabels } from "./agent-labels.ts";
import { createAgentLines } from "./agent-lines.ts";
import { createCallLines } from "./call-lines.ts";

export interface ActivityLines {
  at(event: LoopEvent): string[];
  /** The run is over: what is still open will not be heard of again. */
  close(): string[];
}

export function createActivityLines(
  options: { maxChars?: number; labels?: AgentLabels } = {},
): ActivityLines {
  const { maxChars = 79, labels = createAgentLabels() } = options;
  const calls = createCallLines({ maxChars });
  const agents = createAgentLines({ maxChars, labels });
  const watch = createAgentWatch();
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
    close: () => watch.close().flatMap(linesAt),
  };
}
