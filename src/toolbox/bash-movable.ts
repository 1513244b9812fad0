/**
 * A command that somebody waits for. When it has run for a while it becomes a task, so that it can be moved to the
 * background: the same run goes on, and the call that waits for it is answered.
 */
import { messageOf } from "../base/errors.ts";
import type { TaskOutcome, TaskRun } from "../tasks/registry.ts";
import type { EarlyAnswer } from "../tools/tool-context.ts";
import type { OutputSwitch } from "../workspace/output-switch.ts";
import { type BashStarted, describeOutput, factsOf } from "./bash-output.ts";
import {
  followInBackground,
  type ShellBackground,
  type ShellCall,
  type StoppableShell,
  shellTaskOf,
} from "./bash-task.ts";

export interface MovableShell {
  /** The command has ended. What it goes by if it was moved; otherwise it is no task any more. */
  ended(outcome: () => TaskOutcome): Promise<BashStarted | undefined>;
}

/** Most commands are over by then. */
const becomesTaskMs = 300;

export function makeMovable(options: {
  call: ShellCall;
  shell: StoppableShell;
  output: OutputSwitch;
  shells: ShellBackground;
  early: EarlyAnswer;
  onProblem: ((message: string) => void) | undefined;
}): MovableShell {
  const { call, shell, shells, output } = options;
  let run: TaskRun | undefined;
  let moving: Promise<BashStarted | undefined> | undefined;

  const { clock } = call.context.world;
  const startedAt = clock.now();
  const timer = clock.setTimer(becomesTaskMs, register, { unref: true });

  function register(): void {
    // Whoever hears of it may move it there and then.
    let wanted = false;
    const task = { ...shellTaskOf(call, false), startedAt };
    run = shells.tasks.register(task, {
      stop: shell.stopFor,
      toBackground() {
        if (run === undefined) wanted = true;
        else moving ??= move(run);
      },
      endsWithStarter: true,
    });
    if (wanted) moving ??= move(run);
  }

  /** If it can not be moved, the call waits on. */
  async function move(run: TaskRun): Promise<BashStarted | undefined> {
    try {
      const file = await shells.background.adopt(run);
      shell.letGo();
      shell.liftTimeout();
      const { task } = run;
      await followInBackground({ call, shell, output, task, file, remind: shells.remind });
      const started = {
        status: "background",
        taskId: task.id,
        outputFile: file.outputFile,
        notes: [],
      } as const;
      options.early.answer({ ...describeOutput(started), output: started, facts: factsOf(started, call) });
      return started;
    } catch (error) {
      options.onProblem?.(`The command could not be moved to the background: ${messageOf(error)}`);
      moving = undefined;
      return undefined;
    }
  }

  return {
    async ended(outcome) {
      timer.cancel();
      const started = moving && (await moving);
      if (started !== undefined || run === undefined) return started;
      run.end(outcome());
      shells.tasks.remove(run.task.id);
      return undefined;
    },
  };
}
