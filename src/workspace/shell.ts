/**
 * workspace/ owns what commands and agents work in: the shell, its environment, folders, git. It must not know
 * tools or permissions.
 */
import { delimiter, isAbsolute, join } from "node:path";
import { throwIfCancelled } from "../base/cancellation.ts";
import { CadreError, messageOf, systemCodeOf } from "../base/errors.ts";
import type { ChildProcess, World } from "../base/world.ts";
import type { Environment } from "./child-environment.ts";
import type { OutputSink } from "./output-file.ts";
import { createOutputWindow, type OutputEnds } from "./output-window.ts";
import { reaperOf } from "./reaper.ts";
import { createEnding, type Ending } from "./shell-ending.ts";

export interface ShellOptions {
  readonly world: World;
  readonly command: string;
  /** Must exist. */
  readonly cwd: string;
  readonly env: Environment;
  /** Absent: it may take as long as it likes. */
  readonly timeoutMs?: number | undefined;
  /** Absent: nothing ends it from here. */
  readonly signal?: AbortSignal | undefined;
  /** It is meant to run for long: it is given to the reaper at once. */
  readonly isLasting?: boolean;
  /** Sees every chunk of output as it comes. */
  readonly onOutput?: (chunk: Uint8Array) => void;
  /** Gets the whole output, while memory only holds its two ends. */
  readonly sink?: OutputSink;
  /** How much memory holds. */
  readonly window?: { readonly headBytes: number; readonly tailBytes: number };
  /** Something went wrong that does not hold up the command. */
  readonly onProblem?: ((message: string) => void) | undefined;
}

export interface ShellResult {
  /** Null when a signal ended the shell. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  /** Where the shell stood at the end, links resolved; undefined when it could not tell. */
  readonly cwdAfter: string | undefined;
  /** Standard output and error in the order they were written. */
  readonly output: OutputEnds;
}

export interface RunningShell {
  /**
   * When it settles, the shell and everything that is still in its process group are gone. Rejects with a
   * `CancelledError` when the signal has fired.
   */
  readonly ended: Promise<ShellResult>;
  /** Asks all of it to end, and makes it a moment later. Who outlives the shell itself has this moment, too. */
  stop(): void;
  /** From now on it does not end with the signal. */
  letGo(): void;
  /** From now on it may take as long as it likes. */
  liftTimeout(): void;
}

/** A command that takes longer is given to the reaper. Most are over by then. */
const lastingMs = 1_000;
const defaultWindow = { headBytes: 100_000, tailBytes: 100_000 };

/** Runs `command` to its end, as `startShell` starts it. */
export async function runShell(options: ShellOptions): Promise<ShellResult> {
  const shell = await startShell(options);
  return await shell.ended;
}

/**
 * Starts `command` in a shell of its own, without start-up files and with empty input. Throws `CancelledError` when
 * `signal` has fired before that, and `shell-unavailable` when no shell could be started.
 */
export async function startShell(options: ShellOptions): Promise<RunningShell> {
  const { world, signal, command, onProblem } = options;
  if (signal) throwIfCancelled(signal);
  const shell = await findShell(world, options.env);
  if (signal) throwIfCancelled(signal);
  const reaper = reaperOf(world);
  if (options.isLasting) reaper.start(onProblem);
  const { BASH_ENV: _, ENV: __, ...env } = options.env;
  const child = world.processes.spawn(shell.path, ["-c", wrapperFor(shell), shell.name, command], {
    cwd: options.cwd,
    env: { ...env, ...reaper.mark },
  });
  const { pid } = child;
  if (pid === undefined) throw await startFailure(child, command);
  const giveToReaper = () => reaper.add(pid, onProblem);
  const lasting = options.isLasting
    ? undefined
    : world.clock.setTimer(lastingMs, giveToReaper, { unref: true });
  if (options.isLasting) giveToReaper();
  const ending = createEnding(child, { ...options, clock: world.clock });
  const ended = followShell(child, options, ending).finally(() => {
    lasting?.cancel();
    reaper.remove(pid);
  });
  // Those who look at it later are told; a failure must not end the program before.
  ended.catch(() => {});
  return { ended, stop: ending.stop, letGo: ending.letGo, liftTimeout: ending.liftTimeout };
}

async function followShell(child: ChildProcess, options: ShellOptions, ending: Ending): Promise<ShellResult> {
  const window = createOutputWindow(options.window ?? defaultWindow);
  try {
    const [exit, cwdAfter] = await Promise.all([
      child.exited,
      readReport(child.stderr),
      readOutput(child.stdout, async (chunk) => {
        window.add(chunk);
        options.onOutput?.(chunk);
        await options.sink?.write(chunk);
      }),
    ]);
    await ending.over();
    if (ending.cancelled !== undefined) throw ending.cancelled;
    return {
      exitCode: exit.code,
      signal: exit.signal,
      timedOut: ending.timedOut,
      cwdAfter,
      output: window.read(),
    };
  } finally {
    ending.release();
    // Whatever the command left running in the background.
    child.kill("SIGKILL");
  }
}

interface Shell {
  readonly name: "bash" | "sh";
  readonly path: string;
}

async function findShell(world: World, env: Environment): Promise<Shell> {
  const searched = (env.PATH ?? "").split(delimiter).filter(isAbsolute);
  for (const folder of ["/bin", "/usr/bin", ...searched]) {
    const path = join(folder, "bash");
    const info = await world.files.stat(path).catch(() => undefined);
    if (info?.kind === "file" && (info.mode & 0o111) !== 0) return { name: "bash", path };
  }
  return { name: "sh", path: "/bin/sh" };
}

/**
 * The shell's own standard error becomes the channel on which it tells where it stands at the end, and 2>&1
 * keeps the order of the output. The command is an argument, so that no quote in it can break out of this text;
 * the space before it keeps a leading dash from being an option of eval. All on one line, so that line numbers
 * in error messages are those of the command.
 *
 * `exit`, and failures under `set -e`, report through the trap; a command that sets a trap of its own replaces
 * ours and reports after eval. The trap on TERM makes the shell wait for its command, which was signalled too
 * and may have something to clean up.
 */
function wrapperFor(shell: Shell): string {
  // Commands lock files on low descriptors; only bash knows numbers above 9.
  const fd = shell.name === "bash" ? 187 : 9;
  const report = `set +x; command pwd -P && command printf "\\0"; } 2>/dev/null >&${fd}`;
  return [
    `exec ${fd}>&2 2>&1`,
    `trap '{ ${report}' EXIT`,
    "trap 'exit 143' TERM",
    "cadre_command=$1",
    "shift",
    'eval " $cadre_command"',
    `{ cadre_status=$?; ${report}`,
    "exit $cadre_status",
  ].join("; ");
}

async function startFailure(child: ChildProcess, command: string): Promise<CadreError> {
  const error = await child.exited.then(
    () => new Error("it has no process"),
    (error: unknown) => error,
  );
  const why =
    systemCodeOf(error) === "E2BIG"
      ? `The command is too long for one call (${command.length} characters): put the text into a file first.`
      : `The shell could not be started: ${messageOf(error)}`;
  return new CadreError({ code: "shell-unavailable", message: why, cause: error });
}

async function readOutput(
  chunks: AsyncIterable<Uint8Array>,
  onChunk: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  for await (const chunk of chunks) await onChunk(chunk);
}

const reportBytes = 16_384;

/** The last complete report counts: a command may have written to the channel, too. */
async function readReport(chunks: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  let text = Buffer.alloc(0);
  for await (const chunk of chunks) text = Buffer.concat([text, chunk]).subarray(-reportBytes);
  const report = text.toString("utf8").split("\0").at(-2);
  // pwd ends its line.
  return report !== undefined && isAbsolute(report) ? report.replace(/\n$/, "") : undefined;
}
