import type { LoopEnd } from "../contracts/event.ts";
import type { TaskEndStatus } from "../contracts/task.ts";

/**
 * What the end of an agent's run counts as. Completed is only who came to an end of its own and said something: a
 * limit, an error or silence is not passed off as success.
 */
export function statusOfRun(reason: LoopEnd["reason"] | string, saidSomething: boolean): TaskEndStatus {
  if (reason === "aborted") return "killed";
  const ended = reason === "completed" || reason === "hook_stopped";
  return ended && saidSomething ? "completed" : "failed";
}
