/** A command that runs beside the turn from its start. */
import { messageOf } from "../base/errors.ts";
import { ToolFailure } from "../tools/tool.ts";
import { createOutputSwitch } from "../workspace/output-switch.ts";
import { type ShellOptions, startShell } from "../workspace/shell.ts";
import type { BashStarted } from "./bash-output.ts";
import {
  followInBackground,
  type ShellBackground,
  type ShellCall,
  shellTaskOf,
  stoppable,
} from "./bash-task.ts";

/** Only the end is told. */
const window = { headBytes: 0, tailBytes: 16_384 };

/** Answers when its file is there and its record on disk: what has been promised then is kept. */
export async function startInBackground(options: {
  call: ShellCall;
  shells: ShellBackground;
  start: Pick<ShellOptions, "world" | "command" | "cwd" | "env" | "timeoutMs" | "onProblem">;
  notes: readonly string[];
}): Promise<BashStarted> {
  const { call, shells, notes } = options;
  const { signal } = call.context;
  const output = createOutputSwitch();
  const shell = stoppable(
    await startShell({ ...options.start, signal, sink: output, window, isLasting: true }),
  );
  // An interrupt of the turn may keep it from starting, and does not end it (TA-4).
  shell.letGo();
  const run = shells.tasks.register(shellTaskOf(call, true), { stop: shell.stopFor, endsWithStarter: true });
  const file = await shells.background.adopt(run).catch(async (error: unknown) => {
    shell.stop();
    await output.leadTo({ add() {} });
    await shell.ended.catch(() => {});
    run.end({ status: "killed" });
    shells.tasks.remove(run.task.id);
    throw new ToolFailure(`The command could not be run in the background: ${messageOf(error)}`, {
      cause: error,
    });
  });
  const { task } = run;
  await followInBackground({ call, shell, output, task, file, remind: shells.remind });
  return { status: "background", taskId: task.id, outputFile: file.outputFile, notes };
}
