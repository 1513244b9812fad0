import type { ChildProcess as NodeChild } from "node:child_process";
import { existsSync } from "node:fs";
import type { ChildProcess, Clock, ProcessExit, Processes, SpawnOptions } from "../world.ts";
import { createNodeClock } from "./node-clock.ts";
import { identityOf } from "./process-identity.ts";
import { createProcessOutput, type ProcessOutput } from "./process-output.ts";

export function createNodeProcesses(clock: Clock = createNodeClock()): Processes {
  return {
    pid: process.pid,
    spawn: (command, args, options) => spawnChild({ command, args, clock, ...options }),
    isAlive,
    identityOf,
  };
}

function isAlive(pid: number): boolean {
  // Zero and negative ids would ask about process groups.
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  return canSignal(pid);
}

interface Start extends SpawnOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly clock: Clock;
}

function spawnChild(options: Start): ChildProcess {
  const { command, args, clock } = options;
  // Loaded at the first use: most runs of the command never start a process.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const { ownGroup = true, outlives = false } = options;
  const said = outlives ? "ignore" : "pipe";
  let child: NodeChild;
  try {
    child = spawn(command, args, {
      cwd: options.cwd,
      env: withoutUndefined(options.env),
      stdio: [options.input === undefined ? "ignore" : "pipe", said, said],
      detached: ownGroup && process.platform !== "win32",
      windowsHide: true,
    });
  } catch (error) {
    // An argument list that is too long, or one with a NUL in it, throws here instead of reporting.
    return failedChild(error, clock);
  }
  const stdout = createProcessOutput(child.stdout, clock);
  const stderr = createProcessOutput(child.stderr, clock);
  const target = createSignalTarget(child.pid, ownGroup && process.platform !== "win32");
  if (outlives) child.unref();
  else takeAlong(target, child);
  const exited = exitOf({ child, command, cwd: options.cwd, outputs: [stdout, stderr], target });
  feedInput(child, options.input);
  return {
    pid: child.pid,
    stdout: stdout.chunks,
    stderr: stderr.chunks,
    exited,
    write: (data) => writeInput(child, data),
    closeInput: () => child.stdin?.end(),
    kill: target.signal,
    isAlive: target.isAlive,
  };
}

function withoutUndefined(env: SpawnOptions["env"]): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}

interface SignalTarget {
  signal(signal: NodeJS.Signals): void;
  isAlive(): boolean;
  /** The process itself has ended; what it left behind in its group can still be signalled. */
  leaderExited(): void;
}

/** Of this process: what still runs when it exits is ended with it, whoever started it and whyever it exits. */
const running = new Set<SignalTarget>();

function takeAlong(target: SignalTarget, child: NodeChild): void {
  if (child.pid === undefined) return;
  if (!process.listeners("exit").includes(endRunning)) process.on("exit", endRunning);
  running.add(target);
  child.once("exit", () => running.delete(target));
}

function endRunning(): void {
  for (const target of running) target.signal("SIGKILL");
}

/** Once nobody is left, the id is never signalled again: the system may have given it to a stranger. */
function createSignalTarget(pid: number | undefined, group: boolean): SignalTarget {
  const id = pid === undefined ? undefined : group ? -pid : pid;
  let gone = id === undefined;
  return {
    signal(signal) {
      if (gone || id === undefined) return;
      try {
        process.kill(id, signal);
      } catch {
        gone = !canSignal(id);
      }
    },
    isAlive() {
      if (!gone && id !== undefined) gone = !canSignal(id);
      return !gone;
    },
    leaderExited() {
      gone = !group || id === undefined || !canSignal(id);
    },
  };
}

function canSignal(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    // EPERM: there is one, but it is not ours.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function exitOf(options: {
  child: NodeChild;
  command: string;
  cwd: string;
  outputs: readonly ProcessOutput[];
  target: SignalTarget;
}): Promise<ProcessExit> {
  const { child, outputs, target } = options;
  const exited = new Promise<ProcessExit>((resolve, reject) => {
    child.once("exit", (code, signal) => {
      target.leaderExited();
      for (const output of outputs) output.endWhenQuiet();
      void Promise.all(outputs.map((output) => output.ended)).then(() => resolve({ code, signal }));
    });
    child.once("error", (error) => {
      if (child.pid !== undefined) return;
      child.stdout?.destroy();
      child.stderr?.destroy();
      reject(explainStart(error, options));
    });
  });
  // Those who only read the output need not look at the exit; a failed start must not end the program.
  exited.catch(() => {});
  return exited;
}

/** The system says ENOENT both for a missing program and for a missing folder to start it in. */
function explainStart(error: NodeJS.ErrnoException, where: { command: string; cwd: string }): Error {
  if (error.code !== "ENOENT") return error;
  const what = existsSync(where.cwd)
    ? `The program ${where.command} was not found.`
    : `The folder ${where.cwd}, in which ${where.command} should be started, does not exist.`;
  return Object.assign(new Error(what, { cause: error }), { code: error.code, syscall: error.syscall });
}

function feedInput(child: NodeChild, input: SpawnOptions["input"]): void {
  // A child that closes its input early is normal; those who write themselves learn it from `write`.
  child.stdin?.on("error", () => {});
  if (input !== undefined && input !== "pipe") child.stdin?.end(input);
}

function writeInput(child: NodeChild, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    if (child.stdin === null || child.stdin === undefined)
      reject(new Error("The process has no input pipe."));
    else child.stdin.write(data, (error) => (error ? reject(error) : resolve()));
  });
}

function failedChild(error: unknown, clock: Clock): ChildProcess {
  const exited = Promise.reject(error);
  exited.catch(() => {});
  const nothing = createProcessOutput(null, clock).chunks;
  return {
    pid: undefined,
    stdout: nothing,
    stderr: nothing,
    exited,
    write: () => Promise.reject(new Error("The process could not be started.")),
    closeInput() {},
    kill() {},
    isAlive: () => false,
  };
}
