/** toolbox/ owns the tools themselves, one per file. It must not know the loop or agents. */
import * as z from "zod";
import { CadreError } from "../base/errors.ts";
import type { Clock, Timer } from "../base/world.ts";
import { classifyCommand, isReadOnlyCommand } from "../permissions/read-only-command.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { readOnlyEnvironment } from "../workspace/child-environment.ts";
import { createOutputFile } from "../workspace/output-file.ts";
import { createOutputSwitch } from "../workspace/output-switch.ts";
import { type ShellOptions, type ShellResult, startShell } from "../workspace/shell.ts";
import { startInBackground } from "./bash-background.ts";
import { enterFolder, followShell } from "./bash-folder.ts";
import { makeMovable } from "./bash-movable.ts";
import {
  type BashEnded,
  type BashOutput,
  describeOutput,
  describeText,
  factsOf,
  maxKeptBytes,
  maxOutputChars,
  maxResultChars,
} from "./bash-output.ts";
import { type ShellBackground, settled, shellOutcome, stoppable } from "./bash-task.ts";
import { isAnswer } from "./exit-code-answer.ts";

const defaultTimeoutMs = 120_000;
const maxTimeoutMs = 600_000;
const progressIntervalMs = 500;

const description = `Runs a command in bash and answers with what it wrote (standard output and error together).

- The working folder stays for the next call; variables, functions and background processes do not. Prefer absolute paths over cd.
- There is nobody to answer a prompt and no terminal: input is empty, editors and pagers are switched off. Pass flags such as -y or -m instead.
- Whatever still runs when the command ends is stopped. A command that takes longer than its timeout (${defaultTimeoutMs / 1000} s unless given, ${maxTimeoutMs / 1000} s at most) is stopped, too.
- Use Read, Grep, Glob, Edit and Write for files rather than cat, grep, find, sed and echo: their results are clearer and they are checked.
- Quote paths with spaces. Join commands that depend on each other with &&; send independent ones as separate calls.
- If a command fails, the shell commands after it in the same message are not run.`;

const Input = z.object({
  command: z.string().min(1).describe("The command to run"),
  timeout: z
    .number()
    .int()
    .positive()
    .max(maxTimeoutMs)
    .optional()
    .describe(`Time limit in milliseconds, at most ${maxTimeoutMs}`),
  description: z
    .string()
    .optional()
    .describe("What the command does, in five to ten words, for the person watching"),
});

const backgroundDescription = `${description}
- With run_in_background the command goes on beside your work, without a time limit unless a timeout is given: for servers, watchers and builds that take long. The answer comes at once, with the id of its task and the file that its output goes to; a notification comes when it ends. Do not wait for it with sleep, and do not put & at its end.`;

const BackgroundInput = Input.extend({
  run_in_background: z
    .boolean()
    .optional()
    .describe("Let the command go on beside your work; a notification comes when it ends"),
});
type Input = z.infer<typeof BackgroundInput>;

export interface BashOptions {
  /** Absent: whoever calls waits for the command. */
  readonly background?: ShellBackground | undefined;
  /** Something went wrong that does not hold up the command: in words for a person. */
  readonly onProblem?: ((message: string) => void) | undefined;
}

export function createBashTool(options: BashOptions = {}): Tool {
  const { background } = options;
  return defineTool<z.ZodType<Input>, BashOutput>({
    name: "Bash",
    description: background ? backgroundDescription : description,
    input: background ? BackgroundInput : Input,
    isReadOnly: ({ command }) => isReadOnlyCommand(command),
    // The folder that `cd` leaves behind is shared, so its order matters although nothing is written. In the
    // background it leaves none, and whoever starts it there expects other things to happen meanwhile.
    isConcurrencySafe: ({ command, run_in_background }) => {
      if (run_in_background) return true;
      const judged = classifyCommand(command);
      return judged.readOnly && !judged.movesFolder;
    },
    interruptBehavior: "cancel",
    maxResultChars,
    call: (input, context) => runCommand(input, context, options),
    facts: factsOf,
    subject: ({ command }) => ({ command }),
    toResult: describeOutput,
  });
}

async function runCommand(input: Input, context: ToolContext, options: BashOptions): Promise<BashOutput> {
  const { world, agent } = context;
  const { command, run_in_background, timeout } = input;
  const notes: string[] = [];
  const cwd = await enterFolder(context, notes);
  const { readOnly } = classifyCommand(command, { roots: agent.folder.roots });
  const env = readOnly ? readOnlyEnvironment(agent.toolEnv) : agent.toolEnv;
  const { onProblem } = options;
  // What is known to change nothing leaves nothing behind that could outlive us.
  const start = { world, command, cwd, env, timeoutMs: timeout, isLasting: !readOnly, onProblem };
  const { background: shells } = options;
  try {
    return run_in_background && shells
      ? await startInBackground({ call: { ...input, context }, shells, start, notes })
      : await runInForeground({ input, context, options, start, notes });
  } catch (error) {
    throw error instanceof CadreError && !(error instanceof ToolFailure)
      ? new ToolFailure(error.message, { cause: error })
      : error;
  }
}

async function runInForeground({
  input,
  context,
  options,
  start,
  notes,
}: {
  input: Input;
  context: ToolContext;
  options: BashOptions;
  start: ShellOptions;
  notes: string[];
}): Promise<BashOutput> {
  const { world, agent, signal, early } = context;
  const timeoutMs = input.timeout ?? defaultTimeoutMs;
  const reporter = createReporter(world.clock, (text) => context.report?.({ text }));
  const file = createOutputFile({
    world,
    folder: agent.results.folder,
    name: "bash",
    shortBytes: maxOutputChars,
    maxBytes: maxKeptBytes,
  });
  const output = createOutputSwitch(file);
  try {
    const shell = stoppable(
      await startShell({ ...start, timeoutMs, signal, onOutput: reporter.add, sink: output }),
    );
    const call = { ...input, context };
    const { background: shells, onProblem } = options;
    const movable = shells && early && makeMovable({ call, shell, output, shells, early, onProblem });
    const result = await settled(shell.ended);
    const { stopped } = shell;
    const moved = await movable?.ended(() => shellOutcome(result, { ...call, stopped, text: "" }));
    if (moved !== undefined) return moved;
    if (result instanceof Error) throw result;
    await followShell({ context, cwdAfter: result.cwdAfter, cwd: start.cwd, notes });
    const text = describeText(result.output, await file.close());
    return endedOf({ command: input.command, result, text, stopped, notes, timeoutMs });
  } finally {
    reporter.stop();
    await file.close();
  }
}

function endedOf(options: {
  command: string;
  result: ShellResult;
  text: string;
  stopped: string | undefined;
  notes: readonly string[];
  timeoutMs: number;
}): BashEnded {
  const { command, result, text, stopped, notes, timeoutMs } = options;
  const { exitCode, signal, timedOut } = result;
  const endedItself = exitCode !== null && !timedOut && stopped === undefined;
  return {
    status: "ended",
    exitCode,
    signal,
    timedOut,
    ...(stopped !== undefined && { stopped }),
    text,
    totalBytes: result.output.totalBytes,
    answer: endedItself && isAnswer({ command, exitCode, output: text }),
    notes,
    timeoutMs,
  };
}

/** The last lines of the output, no more often than a person can read. */
function createReporter(clock: Clock, report: (text: string) => void) {
  let recent = Buffer.alloc(0);
  let lastMs = Number.NEGATIVE_INFINITY;
  let timer: Timer | undefined;
  let isStopped = false;
  const send = () => {
    timer = undefined;
    lastMs = clock.monotonicMs();
    const text = lastLines(recent.toString("utf8"));
    if (text !== "") report(text);
  };
  return {
    add(chunk: Uint8Array) {
      if (isStopped) return;
      recent = Buffer.concat([recent, chunk.subarray(-2_048)]).subarray(-2_048);
      if (timer !== undefined) return;
      const waitMs = lastMs + progressIntervalMs - clock.monotonicMs();
      if (waitMs <= 0) send();
      else timer = clock.setTimer(waitMs, send, { unref: true });
    },
    stop() {
      isStopped = true;
      timer?.cancel();
    },
  };
}

function lastLines(text: string): string {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  return lines.slice(-3).join("\n");
}
