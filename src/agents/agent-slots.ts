import { ToolFailure } from "../tools/tool.ts";

/** How many agents of a session may be at work at once, and how many it may start in all. */
export interface AgentSlots {
  /** Before anything else of an agent exists. Throws when a cap is reached. */
  take(): AgentSlot;
  readonly live: number;
  readonly started: number;
}

export interface AgentSlot {
  /** As soon as the agent has ended. The second time does nothing. */
  readonly free: () => void;
}

export function createAgentSlots({ maxLive, maxStarts }: { maxLive: number; maxStarts: number }): AgentSlots {
  let live = 0;
  let started = 0;
  return {
    take() {
      if (started >= maxStarts) throw allStarted(maxStarts);
      if (live >= maxLive) throw allAtWork(maxLive);
      live += 1;
      started += 1;
      let held = true;
      return {
        free() {
          if (held) live -= 1;
          held = false;
        },
      };
    },
    get live() {
      return live;
    },
    get started() {
      return started;
    },
  };
}

function allStarted(maxStarts: number): ToolFailure {
  return new ToolFailure(
    `The agent was not started: this session has started ${maxStarts}, and that is all it may start. Do the rest without agents; the user can raise the setting maxAgentStarts.`,
    { code: "agent-starts-used-up" },
  );
}

function allAtWork(maxLive: number): ToolFailure {
  return new ToolFailure(
    `The agent was not started: ${maxLive} are at work, and no more may be at once. Start it when one of them has ended; the user can raise the setting maxLiveAgents.`,
    { code: "agent-slots-taken" },
  );
}
