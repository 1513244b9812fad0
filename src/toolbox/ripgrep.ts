/** The search program: the one that comes with the package, else the one on PATH, else none. */
import { throwIfCancelled } from "../base/cancellation.ts";
import { systemCodeOf } from "../base/errors.ts";
import type { ChildProcess } from "../base/world.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";

export interface Ripgrep {
  /** Undefined if no program could be started. Rejects with a `CancelledError` when the call is cancelled. */
  run(options: {
    args: readonly string[];
    cwd: string;
    context: ToolContext;
  }): Promise<RipgrepRun | undefined>;
}

export interface RipgrepRun {
  /** 0: matches, 1: none, 2: errors, with or without matches. Null if it was stopped. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** It had more to say than is kept, and was stopped. */
  readonly isCut: boolean;
}

const maxOutputBytes = 32 * 1024 * 1024;

/** `programs` are tried in their order; the first that starts is kept. */
export function createRipgrep(programs: readonly (() => Promise<string>)[] = knownPrograms): Ripgrep {
  let remaining = programs;
  return {
    async run(options) {
      while (remaining.length > 0) {
        const [candidate] = remaining;
        const program = await candidate?.().catch(() => undefined);
        const finished = program === undefined ? undefined : await runProgram({ ...options, program });
        if (finished !== undefined) return finished;
        remaining = remaining.filter((other) => other !== candidate);
      }
      return undefined;
    },
  };
}

const knownPrograms: readonly (() => Promise<string>)[] = [
  // Throws where no binary exists for the platform.
  async () => (await import("@vscode/ripgrep")).rgPath,
  async () => "rg",
];

const cannotStart = new Set(["ENOENT", "EACCES", "ENOEXEC", "EPERM"]);

async function runProgram(options: {
  program: string;
  args: readonly string[];
  cwd: string;
  context: ToolContext;
}): Promise<RipgrepRun | undefined> {
  const { program, args, cwd, context } = options;
  throwIfCancelled(context.signal);
  // Settings of the user must not change what a search means.
  const child = context.world.processes.spawn(program, ["--no-config", ...args], {
    cwd,
    env: context.agent.toolEnv,
  });
  const onAbort = () => child.kill("SIGKILL");
  context.signal.addEventListener("abort", onAbort, { once: true });
  try {
    const [stdout, stderr, exit] = await Promise.all([
      collect(child, child.stdout),
      collect(child, child.stderr),
      child.exited,
    ]);
    throwIfCancelled(context.signal);
    if (exit.code === null && !stdout.isCut)
      throw new ToolFailure(
        `The search was ended from outside (${exit.signal}). Try again, or narrow it down.`,
      );
    return { code: exit.code, stdout: stdout.text, stderr: stderr.text, isCut: stdout.isCut };
  } catch (error) {
    if (cannotStart.has(systemCodeOf(error) ?? "")) return undefined;
    throw error;
  } finally {
    context.signal.removeEventListener("abort", onAbort);
  }
}

async function collect(
  child: ChildProcess,
  output: AsyncIterable<Uint8Array>,
): Promise<{ text: string; isCut: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of output) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxOutputBytes) {
      child.kill("SIGKILL");
      return { text: Buffer.concat(chunks).toString("utf8"), isCut: true };
    }
  }
  return { text: Buffer.concat(chunks).toString("utf8"), isCut: false };
}
