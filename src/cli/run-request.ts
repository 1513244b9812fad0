/** What the options of a run mean, once files and folders were looked at. */
import { resolve } from "node:path";
import { messageOf, systemCodeOf } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import { readAgentsFlag } from "./agents-flag.ts";
import { UsageError } from "./arguments.ts";
import type { RunValues } from "./options.ts";
import { readNamedFile } from "./read-prompt.ts";

export interface RunRequest {
  /** Where the command was started: relative paths of options begin here. */
  readonly startFolder: string;
  /** Where the session works. */
  readonly cwd: string;
  readonly additionalFolders: readonly string[];
  readonly sessionId: string;
  /** The session that is gone on with: `sessionId` is its id, or that of its copy. */
  readonly resumed: ResumeRequest | undefined;
  readonly systemPrompt: string | undefined;
  readonly outputSchema: Record<string, unknown> | undefined;
  /** From `--agents`. */
  readonly agents: Record<string, unknown> | undefined;
  readonly pluginFolders: readonly string[];
}

export interface ResumeRequest {
  readonly id: string;
  readonly fork: boolean;
}

export async function readRunRequest(options: { values: RunValues; world: World }): Promise<RunRequest> {
  const { values, world } = options;
  assertFits(values);
  const startFolder = currentFolder();
  const folder = (option: string, path: string) =>
    assertFolder({ world, option, path: resolve(startFolder, path) });
  const cwd = await folder(
    values.cwd === undefined ? "the current folder" : "--cwd",
    values.cwd ?? startFolder,
  );
  const resumed = await resumeRequest({ values, world, cwd });
  const sessionId = sessionIdOf(values["session-id"]) ?? world.random.uuid();
  return {
    startFolder,
    cwd,
    additionalFolders: await Promise.all(values["add-dir"].map((path) => folder("--add-dir", path))),
    sessionId: resumed === undefined || resumed.fork ? sessionId : resumed.id,
    resumed,
    systemPrompt:
      values["system-prompt-file"] === undefined
        ? values["system-prompt"]
        : await readNamedFile({
            world,
            folder: startFolder,
            option: "--system-prompt-file",
            path: values["system-prompt-file"],
          }),
    agents: values.agents === undefined ? undefined : readAgentsFlag(values.agents),
    pluginFolders: await Promise.all(values["plugin-dir"].map((path) => folder("--plugin-dir", path))),
    outputSchema: await readSchema({ world, folder: startFolder, given: values["json-schema"] }),
  };
}

/** With messages on standard input there is no other prompt. */
export function assertNoPrompt(values: RunValues, positionals: readonly string[]): void {
  if (positionals.length > 0 || values["prompt-file"] !== undefined)
    throw new UsageError(
      "with --input-format stream-json the prompts come on standard input, not as an argument",
    );
}

function assertFits(values: RunValues): void {
  const output = values["output-format"] ?? "text";
  if (values["input-format"] === "stream-json" && output !== "stream-json")
    throw new UsageError("--input-format stream-json needs --output-format stream-json");
  if (values["include-partial-messages"] && output !== "stream-json")
    throw new UsageError("--include-partial-messages needs --output-format stream-json");
  if (values["permission-prompt-tool"] !== undefined && values["input-format"] !== "stream-json")
    throw new UsageError("--permission-prompt-tool stdio needs --input-format stream-json");
  if (values["system-prompt"] !== undefined && values["system-prompt-file"] !== undefined)
    throw new UsageError("--system-prompt and --system-prompt-file exclude each other");
  assertResumeFits(values);
}

function assertResumeFits(values: RunValues): void {
  const resumes = values.continue || values.resume !== undefined;
  if (values.continue && values.resume !== undefined)
    throw new UsageError("--continue and --resume exclude each other");
  if (values["fork-session"] && !resumes) throw new UsageError("--fork-session needs --continue or --resume");
  if (resumes && values["session-id"] !== undefined && !values["fork-session"])
    throw new UsageError(
      "--session-id names a new session: with --continue or --resume it needs --fork-session",
    );
  if (resumes && values["no-session-persistence"])
    throw new UsageError("a session that is gone on with is kept: leave out --no-session-persistence");
}

async function resumeRequest(options: {
  values: RunValues;
  world: World;
  cwd: string;
}): Promise<ResumeRequest | undefined> {
  const { values, world, cwd } = options;
  if (!values.continue && values.resume === undefined) return undefined;
  const fork = values["fork-session"];
  if (values.resume === "") {
    const { chooseSession } = await import("./choose-session.ts");
    return { id: await chooseSession({ world, cwd }), fork };
  }
  const { findSession } = await import("../runtime/find-sessions.ts");
  const which = values.resume === undefined ? "latest" : { id: values.resume };
  return { id: (await findSession({ world, cwd, which })).id, fork };
}

/** A shell can stand in a folder that somebody removed. */
export function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new UsageError(`the current folder is gone (${messageOf(error)}): change to one that exists`);
  }
}

async function assertFolder(options: { world: World; option: string; path: string }): Promise<string> {
  try {
    if ((await options.world.files.stat(options.path)).kind === "folder") return options.path;
  } catch (error) {
    const why = systemCodeOf(error) === "ENOENT" ? "does not exist" : `cannot be used: ${messageOf(error)}`;
    throw new UsageError(`${options.option}: ${options.path} ${why}`);
  }
  throw new UsageError(`${options.option}: ${options.path} is not a folder`);
}

function sessionIdOf(given: string | undefined): string | undefined {
  if (given === undefined || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(given))
    return given?.toLowerCase();
  throw new UsageError(`--session-id must be a UUID, not "${given}"`);
}

async function readSchema(options: {
  world: World;
  folder: string;
  given: string | undefined;
}): Promise<Record<string, unknown> | undefined> {
  const { given } = options;
  if (given === undefined) return undefined;
  const inline = given.trimStart().startsWith("{");
  const text = inline ? given : await readNamedFile({ ...options, option: "--json-schema", path: given });
  const where = inline ? "--json-schema" : `--json-schema ${given}`;
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${where} is not valid JSON: ${messageOf(error)}`);
  }
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw new UsageError(`${where} must hold a JSON object`);
  return { ...schema };
}
