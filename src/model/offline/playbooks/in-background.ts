import { withSignature } from "../everyday-playbook.ts";
import type { Play, Playbook, Task } from "../playbook.ts";
import { run } from "../tool-calls.ts";
import { readWording } from "../wording.ts";
import { readings } from "./agent-wording.ts";
import { sendAgent } from "./ask-agent.ts";
import { backgroundWish } from "./background-wording.ts";

/**
 * Takes "map this repository in the background", if one of `playbooks` understands what is to be done: a command
 * goes on as a task, everything else is done by an agent.
 */
export function createInBackground(playbooks: readonly Playbook[]): Playbook {
  return {
    name: "work in the background",
    start(task) {
      const wish = backgroundWish(readWording(task.prompt));
      if (wish === undefined) return undefined;
      if (wish.command !== undefined) return runCommand(task, wish.command);
      for (const prompt of readings(wish.task)) {
        const play = startBeside(playbooks, { ...task, prompt });
        if (play !== undefined) return play;
      }
      return undefined;
    },
  };
}

function startBeside(playbooks: readonly Playbook[], task: Task): Play | undefined {
  for (const playbook of playbooks) {
    const beside = playbook.startBeside?.(task);
    if (beside !== undefined) return beside;
    const own = playbook.start(task);
    const { prompt } = task;
    if (own !== undefined)
      return sendAgent(task, {
        wish: { inBackground: true, task: prompt },
        prompt,
        own,
        acts: playbook.acts === true,
      });
  }
  return undefined;
}

const longestDescription = 60;

function* runCommand(task: Task, command: string): Play {
  if (!task.offers("Bash")) return withSignature("I have no tool to run a command here.");
  const description =
    command.length <= longestDescription ? command : `${command.slice(0, longestDescription).trimEnd()} ...`;
  const { taskId, denied, text, exitCode } = yield* run({ command, description, run_in_background: true });
  const said = text === "" ? "It printed nothing." : text.replace(/^(?=.)/gm, "    ");
  if (taskId !== undefined)
    return withSignature(
      `\`${command}\` runs in the background, as task ${taskId}. What comes of it is told when it has ended; "what is running" looks at it, "stop it" ends it.`,
    );
  if (denied)
    return withSignature(
      `I was not allowed to run \`${command}\`, so nothing was run:\n\n> ${text.split("\n")[0] ?? ""}`,
    );
  return withSignature(
    `\`${command}\` was not run in the background: it has ended already (exit code ${exitCode}).\n\n${said}`,
  );
}
