/** A shell command as a task: what it is called, what becomes of its output, and how its end is told. */
import { isCancelled, messageOf } from "../base/errors.ts";
import { escapeText } from "../base/markup.ts";
import { toOneLine } from "../base/one-line.ts";
import type { Task } from "../contracts/task.ts";
import type { BackgroundTask, BackgroundTasks } from "../tasks/background.ts";
import type { NewTask, TaskOutcome, TaskRegistry } from "../tasks/registry.ts";
import { newTaskId } from "../tasks/registry.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { OutputSwitch } from "../workspace/output-switch.ts";
import type { RunningShell, ShellResult } from "../workspace/shell.ts";
import { createShellLog } from "../workspace/shell-log.ts";
import { promptSilenceMs, watchForPrompt } from "../workspace/watch-for-prompt.ts";
import { isAnswer } from "./exit-code-answer.ts";

/** What Bash needs to run commands beside the turn. */
export interface ShellBackground {
  readonly tasks: Pick<TaskRegistry, "register" | "remove">;
  readonly background: Pick<BackgroundTasks, "adopt">;
  /**
   * To the agent that started the task, through the queue, as it is: the words are the runtime's own, and what is not
   * is escaped. Absent: nobody is reminded of a command that waits for an answer.
   */
  readonly remind?: ((reminder: ShellReminder) => void) | undefined;
}

export interface ShellReminder {
  readonly task: Task;
  readonly text: string;
}

export interface ShellCall {
  readonly command: string;
  readonly description?: string | undefined;
  readonly context: ToolContext;
}

const maxDescriptionChars = 80;

export function shellTaskOf(call: ShellCall, isBackgrounded: boolean): NewTask {
  const { command, description, context } = call;
  const { agentId } = context.agent;
  return {
    id: newTaskId("local_bash", context.world.random),
    kind: "local_bash",
    description: toOneLine((description?.trim() || command).trim(), maxDescriptionChars),
    command,
    toolUseId: context.toolUseId,
    ...(agentId !== undefined && { parentAgentId: agentId }),
    isBackgrounded,
  };
}

/** A running command that can be stopped by whoever is told of it. */
export interface StoppableShell extends RunningShell {
  /** Why it was stopped, by others than its own limits. */
  readonly stopped: string | undefined;
  stopFor(reason: string): void;
}

export function stoppable(shell: RunningShell): StoppableShell {
  let stopped: string | undefined;
  return {
    ...shell,
    get stopped() {
      return stopped;
    },
    stopFor(reason) {
      stopped ??= reason;
      shell.stop();
    },
  };
}

/**
 * Leads all output of the command into the file of its task, and tells its end when that comes. Resolves when what
 * it has written so far is on its way; never rejects.
 */
export async function followInBackground(options: {
  call: ShellCall;
  shell: StoppableShell;
  output: OutputSwitch;
  task: Task;
  file: BackgroundTask;
  remind: ShellBackground["remind"];
}): Promise<void> {
  const { call, shell, task, file } = options;
  const { world, agent } = call.context;
  const redact = (text: string) => agent.redactor?.redact(text) ?? text;
  const log = createShellLog({ clock: world.clock, redactor: agent.redactor, write: file.write });
  const watch = watchForPrompt({
    clock: world.clock,
    onPrompt: (lastLine) => options.remind?.({ task, text: promptReminder(task, redact(lastLine)) }),
  });
  await options.output.leadTo({
    add(chunk) {
      log.add(chunk);
      watch.add(chunk);
    },
  });
  const tell = async (result: ShellResult | Error) => {
    watch.stop();
    log.end();
    const text = result instanceof Error ? "" : redact(result.output.head + result.output.tail);
    const { how, ...outcome } = shellOutcome(result, { ...call, stopped: shell.stopped, text });
    await file.end(outcome, {
      summary: `Background command "${task.description}" ${how}`,
      result: lastPart(text) || outcome.error || "(no output)",
    });
  };
  // Owned by the registry: its end is a notification.
  void settled(shell.ended).then(tell);
}

export async function settled<T>(work: Promise<T>): Promise<T | Error> {
  try {
    return await work;
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error), { cause: error });
  }
}

/** Of a command that has ended, and in words after its description. */
export function shellOutcome(
  result: ShellResult | Error,
  { command, stopped, text }: { command: string; stopped: string | undefined; text: string },
): TaskOutcome & { readonly how: string } {
  if (result instanceof Error) {
    if (isCancelled(result)) return { status: "killed", error: result.reason, how: "was stopped" };
    return { status: "failed", error: result.message, how: "failed" };
  }
  const { exitCode, signal, timedOut } = result;
  if (stopped !== undefined) return { status: "killed", error: stopped, exitCode, how: "was stopped" };
  if (timedOut)
    return { status: "failed", error: "Its time was over", exitCode, how: "failed (its time was over)" };
  const end = exitCode === null ? `ended by ${signal ?? "a signal"}` : `exit code ${exitCode}`;
  const isFine = exitCode === 0 || (exitCode !== null && isAnswer({ command, exitCode, output: text }));
  if (isFine) return { status: "completed", exitCode, how: `completed (${end})` };
  return { status: "failed", error: end.replace(/^e/, "E"), exitCode, how: `failed (${end})` };
}

const maxLastChars = 2_000;

/** Whole lines, as long as they are not longer than all there is room for. */
function lastPart(text: string): string {
  const whole = text.trimEnd();
  if (whole.length <= maxLastChars) return whole;
  const last = whole.slice(-maxLastChars).replace(/^[\udc00-\udfff]/, "");
  const lineEnd = last.indexOf("\n");
  return `[...]\n${lineEnd < 0 ? last : last.slice(lineEnd + 1)}`;
}

function promptReminder({ id, description }: Task, lastLine: string): string {
  const seconds = promptSilenceMs / 1000;
  return `<system-reminder>
The background command "${escapeText(description)}" (task ${id}) has written nothing for ${seconds} s, and its last line has no end, as if it waited for an answer:
${escapeText(toOneLine(lastLine.trim(), 300))}
Nobody can answer it. If it waits, stop it with TaskStop and start it again so that it need not ask: with a flag such as -y, or with its input from a pipe or a file. If it is only slow, leave it.
</system-reminder>`;
}
