/** The command as a real process: a bundle of the sources, a home and a project of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { moduleOptions } from "../../scripts/bundle.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const secretKey = "sk-test-0123456789-secret";

export interface BuiltCommand {
  readonly program: string;
  remove(): void;
}

export async function buildCommand(): Promise<BuiltCommand> {
  // Below the repository, so that packages are found from there.
  const folder = join(
    root,
    "node_modules",
    ".cache",
    `cadre-test-${process.pid}-${Math.random().toString(36).slice(2)}`,
  );
  const options = moduleOptions({ root, version: "1.2.3" });
  await build({ ...options, entryPoints: { cli: "src/cli/main.ts" }, outdir: folder });
  return { program: join(folder, "cli.js"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface Invocation {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string | undefined>;
  /** Absent: no input at all. `pipe`: the test writes. */
  readonly input?: string | Uint8Array | "pipe";
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

export function startCommand({ program, args, cwd, env, input }: Invocation): Running {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  // It may end before it has read everything.
  child.stdin?.on("error", () => {});
  if (input !== "pipe") child.stdin?.end(input);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on("data", (piece: Buffer) => stdout.push(piece));
  child.stderr?.on("data", (piece: Buffer) => stderr.push(piece));
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) =>
      resolve({
        code,
        signal,
        stdout: Buffer.concat(stdout).toString("utf8"),
        stderr: Buffer.concat(stderr).toString("utf8"),
      }),
    );
  });
  return { child, ended };
}

export interface Place {
  readonly home: string;
  readonly project: string;
  remove(): void;
}

export function makePlace(): Place {
  const home = mkdtempSync(join(tmpdir(), "cadre-home-"));
  const project = mkdtempSync(join(tmpdir(), "cadre-project-"));
  return {
    home,
    project,
    remove: () => {
      for (const folder of [home, project]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Every transcript below a home folder, with its whole path. */
export function transcriptsIn(home: string): string[] {
  return readdirSync(home, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".jsonl"))
    .map((path) => join(home, path));
}

/** Processes that work in a folder, by what the system says of them. */
export function processesIn(folder: string): { pid: number; command: string }[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const cwd = readlinkSync(`/proc/${name}/cwd`).replace(/ \(deleted\)$/, "");
      if (cwd !== folder && !cwd.startsWith(`${folder}/`)) return [];
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      // A process that has ended, and whose parent has not looked yet, has no command line.
      return command === "" ? [] : [{ pid: Number(name), command }];
    } catch {
      return [];
    }
  });
}
