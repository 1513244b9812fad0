/**
 * Summaries of agents cost a request each, and a list is only a glance. So they are made for who looks again and again:
 * from the second look within a minute until a minute has passed without one.
 */

import type { Clock, Timer } from "../../base/world.ts";
import { isGoingOn } from "../../contracts/task.ts";
import type { Session } from "../../runtime/session.ts";

export interface AgentLook {
  /** The person looks at the list of tasks. */
  look(session: Pick<Session, "tasks" | "watchAgents">): void;
  /** Nobody looks any more. */
  leave(): void;
}

const attentionMs = 60_000;

export function createAgentLook(clock: Pick<Clock, "setTimer">): AgentLook {
  let attention: Timer | undefined;
  let stopWatching: (() => void) | undefined;
  const leave = () => {
    attention?.cancel();
    attention = undefined;
    stopWatching?.();
    stopWatching = undefined;
  };
  return {
    look({ tasks, watchAgents }) {
      if (!tasks.list().some((task) => task.agent !== undefined && isGoingOn(task))) return leave();
      if (attention !== undefined) stopWatching ??= watchAgents();
      attention?.cancel();
      attention = clock.setTimer(attentionMs, leave, { unref: true });
    },
    leave,
  };
}
