/** toolbox/ owns the tools themselves, one per file. It must not know the loop or agents. */
import { join, relative } from "node:path";
import * as z from "zod";
import { CadreError } from "../base/errors.ts";
import type { Clock } from "../base/world.ts";
import { classifyCommand, isReadOnlyCommand } from "../permissions/read-only-command.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import type { ToolContext, WorkingFolder } from "../tools/tool-context.ts";
import { readOnlyEnvironment } from "../workspace/child-environment.ts";
import { createOutputFile, type KeptOutput } from "../workspace/output-file.ts";
import type { OutputEnds } from "../workspace/output-window.ts";
import { runShell, type ShellResult } from "../workspace/shell.ts";
import { isAnswer } from "./exit-code-answer.ts";

const defaultTimeoutMs = 120_000;
const maxTimeoutMs = 600_000;
const maxResultChars = 30_000;
/** Room for exit code and notes within the limit. */
const maxOutputChars = maxResultChars - 1_500;
const maxKeptBytes = 64 * 1024 * 1024;
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

export interface BashOutput {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  /** What the model reads of the output, cut if it was long. */
  readonly text: string;
  readonly totalBytes: number;
  /** The exit code is an answer (`grep` found nothing), not a failure. */
  readonly answer: boolean;
  /** What the model must know besides: the folder moved, or was gone. */
  readonly notes: readonly string[];
  readonly timeoutMs: number;
}

export function createBashTool(): Tool {
  return defineTool({
    name: "Bash",
    description,
    input: Input,
    isReadOnly: ({ command }) => isReadOnlyCommand(command),
    // The folder that `cd` leaves behind is shared, so its order matters although nothing is written.
    isConcurrencySafe: ({ command }) => {
      const judged = classifyCommand(command);
      return judged.readOnly && !judged.movesFolder;
    },
    interruptBehavior: "cancel",
    maxResultChars,
    call: runCommand,
    toResult: describeOutput,
  });
}

async function runCommand(input: z.infer<typeof Input>, context: ToolContext): Promise<BashOutput> {
  const reporter = createReporter(context.world.clock, (text) => context.report?.({ text }));
  try {
    return await runInFolder({ input, context, signal: context.signal, onOutput: reporter.add });
  } finally {
    reporter.stop();
  }
}

async function runInFolder(options: {
  input: z.infer<typeof Input>;
  context: ToolContext;
  signal: AbortSignal;
  onOutput: (chunk: Uint8Array) => void;
}): Promise<BashOutput> {
  const { input, context, signal, onOutput } = options;
  const { world, agent } = context;
  const timeoutMs = input.timeout ?? defaultTimeoutMs;
  const notes: string[] = [];
  const cwd = await enterFolder(context, notes);
  const sink = createOutputFile({
    world,
    folder: agent.results.folder,
    name: "bash",
    shortBytes: maxOutputChars,
    maxBytes: maxKeptBytes,
  });
  let kept: KeptOutput | undefined;
  let result: ShellResult;
  try {
    const { readOnly } = classifyCommand(input.command, { roots: agent.folder.roots });
    const env = readOnly ? readOnlyEnvironment(agent.toolEnv) : agent.toolEnv;
    result = await runShell({ world, command: input.command, cwd, env, timeoutMs, signal, onOutput, sink });
  } catch (error) {
    throw error instanceof CadreError ? new ToolFailure(error.message, { cause: error }) : error;
  } finally {
    kept = await sink.close();
  }
  await followShell({ context, cwdAfter: result.cwdAfter, cwd, notes });
  const text = describeText(result.output, kept);
  const { exitCode, timedOut } = result;
  return {
    exitCode,
    signal: result.signal,
    timedOut,
    text,
    totalBytes: result.output.totalBytes,
    answer: exitCode !== null && !timedOut && isAnswer({ command: input.command, exitCode, output: text }),
    notes,
    timeoutMs,
  };
}

async function enterFolder({ world, agent }: ToolContext, notes: string[]): Promise<string> {
  const { folder } = agent;
  if (await isFolder(world, folder.current)) return folder.current;
  if (!(await isFolder(world, folder.root)))
    throw new ToolFailure(
      `The working folder ${folder.root} does not exist any more, so no command can run in it.`,
    );
  notes.push(`The folder ${folder.current} does not exist any more; the command ran in ${folder.root}.`);
  folder.current = folder.root;
  return folder.root;
}

async function isFolder(world: ToolContext["world"], path: string): Promise<boolean> {
  const info = await world.files.stat(path).catch(() => undefined);
  return info?.kind === "folder";
}

/** The shell tells real paths; a folder below the root keeps the name that the root goes by. */
async function followShell(options: {
  context: ToolContext;
  cwdAfter: string | undefined;
  cwd: string;
  notes: string[];
}): Promise<void> {
  const { context, cwdAfter, cwd, notes } = options;
  const { world, agent } = context;
  const realCwd = await world.files.realPath(cwd).catch(() => cwd);
  if (cwdAfter === undefined || cwdAfter === realCwd) return;
  agent.folder.current = await nameBelowRoot(world, agent.folder, cwdAfter);
  notes.push(`The working folder is now ${agent.folder.current}`);
}

async function nameBelowRoot(
  world: ToolContext["world"],
  folder: WorkingFolder,
  realPath: string,
): Promise<string> {
  const realRoot = await world.files.realPath(folder.root).catch(() => folder.root);
  const rest = relative(realRoot, realPath);
  return rest === ".." || rest.startsWith("../") ? realPath : join(folder.root, rest);
}

function describeText(output: OutputEnds, kept: KeptOutput | undefined): string {
  const whole = output.head + output.tail;
  if (output.omittedBytes === 0 && whole.length <= maxOutputChars) return whole;
  // What a command says last matters most, what it says first comes next.
  const half = Math.floor(maxOutputChars / 2);
  const head = whole.slice(0, Math.min(half, output.head.length)).replace(/[\ud800-\udbff]$/, "");
  const tail = whole.slice(-half).replace(/^[\udc00-\udfff]/, "");
  return `${head}\n[... ${output.totalBytes.toLocaleString("en-US")} bytes in all, the middle is left out here. ${describeKept(kept)}]\n${tail}`;
}

function describeKept(kept: KeptOutput | undefined): string {
  if (kept === undefined) return "";
  if (!kept.kept) return `The whole could not be kept: ${kept.why}`;
  const what = kept.whole ? "The whole is" : `The first ${maxKeptBytes / 1024 / 1024} MB are`;
  return `${what} in ${kept.path}; read it in parts with Read, or search it with Grep.`;
}

function describeOutput(output: BashOutput) {
  const failed = output.timedOut || (output.exitCode !== 0 && !output.answer);
  const lines = [output.text.trimEnd(), describeEnd(output), ...output.notes].filter((line) => line !== "");
  return { content: lines.join("\n"), isError: failed, failsSiblings: failed };
}

function describeEnd({ timedOut, timeoutMs, exitCode, signal, answer }: BashOutput): string {
  if (timedOut)
    return `The command was stopped because it took longer than ${timeoutMs / 1000} s. Above is what it wrote until then. Give it a longer timeout, or less to do.`;
  if (exitCode === null) return `The command was ended by ${signal ?? "a signal"}`;
  if (exitCode === 0) return "";
  return answer ? `Exit code ${exitCode} (an answer, not a failure)` : `Exit code ${exitCode}`;
}

/** The last lines of the output, no more often than a person can read. */
function createReporter(clock: Clock, report: (text: string) => void) {
  let recent = Buffer.alloc(0);
  let lastMs = Number.NEGATIVE_INFINITY;
  let timer: { cancel(): void } | undefined;
  const send = () => {
    timer = undefined;
    lastMs = clock.monotonicMs();
    const text = lastLines(recent.toString("utf8"));
    if (text !== "") report(text);
  };
  return {
    add(chunk: Uint8Array) {
      recent = Buffer.concat([recent, chunk.subarray(-2_048)]).subarray(-2_048);
      if (timer !== undefined) return;
      const waitMs = lastMs + progressIntervalMs - clock.monotonicMs();
      if (waitMs <= 0) send();
      else timer = clock.setTimer(waitMs, send, { unref: true });
    },
    stop: () => timer?.cancel(),
  };
}

function lastLines(text: string): string {
  const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== "");
  return lines.slice(-3).join("\n");
}
