import { everydayPlaybook } from "../everyday-playbook.ts";
import type { KnownTask } from "../known-task.ts";
import { stillRunning } from "../known-tasks.ts";
import type { Asking, Playbook, Task } from "../playbook.ts";
import { ask } from "../tool-calls.ts";
import { namesTasks, tasksMeant } from "./which-tasks.ts";

/** Takes "stop it", "stop the task ID", "stop the tests", "stop everything". */
export const stopTask: Playbook = {
  name: "stop a task",
  acts: true,
  start(task) {
    const known = () => task.known?.() ?? [];
    return everydayPlaybook({
      name: "stop a task",
      needs: ["TaskStop"],
      understand({ text }) {
        const which =
          /^(?:stop|kill|cancel|abort|end|terminate|halt)(?: (?:running|working on))? (.+)$/i.exec(text)?.[1];
        return which !== undefined && namesTasks(which, known()) ? which : undefined;
      },
      play: (_task: Task, which: string) => playStop(which, stillRunning(known())),
    }).start(task);
  },
};

function* playStop(which: string, running: readonly KnownTask[]): Asking<string> {
  const meant = tasksMeant(which, running);
  if (meant.kind === "unclear") return `Nothing was stopped. ${meant.why}`;
  if (meant.ids.length === 0)
    return "Nothing was stopped: nothing that I started in this conversation still runs.";
  const results = yield* ask(meant.ids.map((id) => ({ name: "TaskStop", input: { task_id: id } })));
  return results
    .map(({ text, isError }, index) => (isError ? `${meant.ids[index]} was not stopped: ${text}` : text))
    .join("\n");
}
