/** What a person can say to Cadre itself, during a run as well. */

import { counted } from "../../base/counted.ts";
import type { Settings } from "../../contracts/settings.ts";
import type { Task } from "../../contracts/task.ts";
import { isGoingOn } from "../../contracts/task.ts";
import type { Session } from "../../runtime/session.ts";
import { serviceCostLines, serviceLines } from "./service-lines.ts";
import { describeCost } from "./session-totals.ts";
import { taskListLines } from "./task-lines.ts";

const help = `Type what you want done, and Enter. A line that ends in \\ goes on in the next.
  /tasks       what goes on and what has ended, with ids
  /stop ID     stop a task; /stop all stops everything in the background
  /background  send what the run waits for to the background (also Ctrl+B)
  /fork        branch the conversation: a copy to go on with elsewhere; /fork --go
               goes on in the copy here
  /compact     replace the conversation by a summary; what you add says what matters
  /btw         ask something beside the conversation, also during a run
  /yes         send what was suggested last: (next? ...)
  /cost        tokens and cost so far, and what the prompt cache saved
  /services    what Cadre does by itself, and what that has cost
  /model       the model in use
  /help        this text
  /exit        leave (also Ctrl+D)
Ctrl+C interrupts a run; what is in the background goes on. What you type during
a run reaches the model at its next step. When something in the background ends,
the model hears of it and goes on by itself.`;

/** So many that have ended are listed. */
const mostEnded = 10;

/** Undefined: it is no command. */
export function answerCommand(
  typed: string,
  { session, now, settings }: { session: Session | undefined; now: number; settings: Settings },
): string | undefined {
  const [, command, argument = ""] = /^(\/[a-z]+)(?:\s+(.*))?$/s.exec(typed) ?? [];
  if (command === undefined) return undefined;
  if (command === "/help") return help;
  if (!known.has(command)) return `Unknown command ${command}. /help shows what there is.`;
  if (session === undefined) return "Nothing yet.";
  switch (command) {
    case "/cost":
      return [describeCost(session.totals), ...serviceCostLines(session.serviceCosts)].join("\n");
    case "/services":
      return serviceLines(session, settings).join("\n");
    case "/tasks":
      return listTasks(session.tasks.list(), now);
    case "/stop":
      return stopTask(session, argument.trim());
    case "/background":
      return sendToBackground(session);
    default:
      return session.modelId;
  }
}

const known = new Set(["/cost", "/services", "/model", "/tasks", "/stop", "/background"]);

/** Everything that the main agent waits for; what that waits for in turn goes with it. */
export function sendToBackground({ tasks }: Pick<Session, "tasks">): string {
  const sent = tasks
    .list()
    .filter(({ id, parentAgentId }) => parentAgentId === undefined && tasks.toBackground(id));
  return sent.length === 0 ? "(nothing that could go to the background)" : "(to the background ...)";
}

function listTasks(tasks: readonly Task[], now: number): string {
  const ended = tasks.filter((task) => !isGoingOn(task)).slice(-mostEnded);
  const shown = tasks.filter((task) => isShown(task) || ended.includes(task));
  return taskListLines(shown, { now, maxChars: 79 }).join("\n");
}

/** What an agent waits for is a part of its work. */
function isShown(task: Task): boolean {
  return isGoingOn(task) && (task.isBackgrounded || task.parentAgentId === undefined);
}

function stopTask({ tasks }: Session, which: string): string {
  if (which === "") return "Which one? /stop ID, or /stop all. /tasks lists them.";
  if (which === "all") {
    const count = tasks.stopAll("stopped by the user");
    return count === 0 ? "(nothing goes on in the background)" : `(stopping ${counted(count, "task")})`;
  }
  // The beginning of an id will do, where it means one task.
  const meant = tasks.list().filter((task) => task.id.startsWith(which) && isGoingOn(task));
  const exact = meant.find(({ id }) => id === which) ?? (meant.length === 1 ? meant[0] : undefined);
  if (exact !== undefined && tasks.stop(exact.id, "stopped by the user")) return `(stopping ${exact.id})`;
  return meant.length > 1
    ? `${which} may be ${meant.map(({ id }) => id).join(" or ")}.`
    : `No task ${which} is at work. /tasks lists them.`;
}
