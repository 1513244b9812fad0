/** `cadre [PROMPT]`: from arguments to a session on a surface. */

import { unlessCancelled } from "../../base/cancellation.ts";
import { isCancelled } from "../../base/errors.ts";
import { createNodeWorld } from "../../base/world/node-world.ts";
import type { World } from "../../base/world.ts";
import { loadSettings } from "../../config/settings.ts";
import type { Settings } from "../../contracts/settings.ts";
import type { Model } from "../../model/model.ts";
import { problemsOfDefinitions } from "../../runtime/agent-loader.ts";
import { isCleanUpDue } from "../../runtime/clean-up-due.ts";
import { createSession } from "../../runtime/create-session.ts";
import { createModelSource } from "../../runtime/model-source.ts";
import type { RestoredSession } from "../../runtime/restore-session.ts";
import type { Session, SessionOptions, Surface } from "../../runtime/session.ts";
import type { Patience, TimeLimit } from "../../surfaces/headless/await-work.ts";
import type { SessionChoices } from "../../surfaces/headless/control.ts";
import { toJsonLine } from "../../surfaces/headless/json-lines.ts";
import { createReporter, type Reporter } from "../../surfaces/headless/reporter.ts";
import { runHeadless } from "../../surfaces/headless/run-headless.ts";
import type { WireContext, WireMessage } from "../../surfaces/headless/wire-messages.ts";
import type { CommandIo } from "../command-io.ts";
import { type DebugLog, withDebugLog, withRunLog } from "../debug-log.ts";
import type { RunValues } from "../options.ts";
import { readPrompt, singlePrompt } from "../read-prompt.ts";
import { assertNoPrompt, type RunRequest, readRunRequest } from "../run-request.ts";

interface Start {
  readonly world: World;
  readonly request: RunRequest;
  readonly values: RunValues;
  readonly io: CommandIo;
  readonly log: DebugLog | undefined;
}

export async function runPrompt(options: {
  values: RunValues;
  positionals: readonly string[];
  io: CommandIo;
}): Promise<number> {
  const { values, positionals, io } = options;
  const log: DebugLog | undefined = values.debug
    ? (line) => void io.stderr.write(`debug: ${line}\n`)
    : undefined;
  const realWorld = createNodeWorld();
  const world = log === undefined ? realWorld : withDebugLog(realWorld, log);
  const request = await readRunRequest({ values, world });
  const start: Start = { world, request, values, io, log };
  io.interruption.listen();
  const opener = createOpener(start);
  const code = await runOnSurface(start, opener, positionals);
  await opener.cleanUp();
  return code;
}

async function runOnSurface(start: Start, opener: Opener, positionals: readonly string[]): Promise<number> {
  const { values, io, request, world } = start;
  if (values["input-format"] === "stream-json") return await streamInput(start, opener, positionals);
  if (isConversation(values)) return await converse(start, opener, singlePrompt(positionals));

  const reading = readPrompt({
    positionals,
    promptFile: values["prompt-file"],
    stdin: process.stdin,
    folder: request.startFolder,
    world,
    warn: (message) => io.stderr.write(`cadre: ${message}\n`),
  });
  const prompt = await unlessCancelled(reading, io.interruption.signal).catch((error: unknown) => {
    if (!isCancelled(error)) throw error;
  });
  if (prompt === undefined) return io.interruption.exitCode();
  return await runHeadless({
    open: () => opener.open({}),
    prompt,
    reporter: reporterFor(start, opener),
    interruption: io.interruption,
    wantsStructuredOutput: request.outputSchema !== undefined,
    patience: patienceOf(start, opener),
  });
}

function isConversation(values: RunValues): boolean {
  const headless =
    values.print || values["output-format"] !== undefined || values["prompt-file"] !== undefined;
  return !headless && process.stdin.isTTY === true && process.stdout.isTTY === true;
}

async function converse(start: Start, opener: Opener, firstPrompt: string): Promise<number> {
  const { runPlain } = await import("../../surfaces/plain/run-plain.ts");
  return await runPlain({
    open: (surface) => opener.open({}, surface),
    openOther: (surface, sessionId) => opener.open({}, surface, sessionId),
    settings: () => opener.settings,
    firstPrompt: firstPrompt === "" ? undefined : firstPrompt,
    input: process.stdin,
    output: process.stdout,
    terminal: true,
    interruption: start.io.interruption,
    clock: start.world.clock,
    version: start.io.version,
  });
}

async function streamInput(start: Start, opener: Opener, positionals: readonly string[]): Promise<number> {
  assertNoPrompt(start.values, positionals);
  const { runStream } = await import("../../surfaces/headless/run-stream.ts");
  const { createPermissionBridge } = await import("../../surfaces/headless/permission-bridge.ts");
  const { io, values, request } = start;
  const emit = (message: WireMessage) => io.stdout.write(toJsonLine(message));
  const permissions =
    values["permission-prompt-tool"] === undefined ? undefined : createPermissionBridge({ emit });
  return await runStream({
    open: (choices) => opener.open(choices),
    input: process.stdin,
    emit,
    context: wireContext(start),
    reporter: reporterFor(start, opener),
    interruption: io.interruption,
    wantsStructuredOutput: request.outputSchema !== undefined,
    permissions,
    patience: patienceOf(start, opener),
  });
}

function patienceOf({ values, world }: Start, opener: Opener): Patience {
  return { noWait: values["no-wait"], clock: world.clock, timeLimit: () => opener.timeLimit };
}

/** Who shows what went wrong beside everything else. Absent: it goes to standard error. */
type Problems = Pick<SessionOptions, "onProblem">;

interface Opener {
  /** `otherId`: of a session to go on with, whatever was asked for at the start. */
  open(choices: SessionChoices, surface?: Surface & Problems, otherId?: string): Promise<Session>;
  readonly model: Model | undefined;
  /** Empty until they are loaded. */
  readonly settings: Settings;
  readonly timeLimit: TimeLimit | undefined;
  /** When the session is closed: old ones may go. */
  cleanUp(): Promise<void>;
}

/** Settings, model, session, in this order: each can fail with a message of its own. */
function createOpener({ world, request, values, io, log }: Start): Opener {
  let model: Model | undefined;
  let settings: Settings = {};
  let timeLimit: TimeLimit | undefined;
  return {
    get model() {
      return model;
    },
    get settings() {
      return settings;
    },
    get timeLimit() {
      return timeLimit;
    },
    async cleanUp() {
      // Without a model no session was opened.
      const due = { world, days: settings.cleanupPeriodDays };
      if (model === undefined || values["no-session-persistence"] || !(await isCleanUpDue(due))) return;
      const { cleanUpSessions } = await import("../../runtime/clean-up-sessions.ts");
      await cleanUpSessions(due);
    },
    async open(choices, surface, otherId) {
      const loaded = await loadSettings({ world, cwd: request.startFolder, flag: values.settings });
      for (const warning of loaded.warnings) await io.stderr.write(`cadre: warning: ${warning}\n`);
      settings = choices.onSuggestion ? withSuggestions(loaded.settings) : loaded.settings;
      const models = createModelSource({ world, settings });
      model = await models.model(choices.model ?? values.model);
      log?.(`model ${model.provider}/${model.id}`);
      const minutes = values["max-minutes"] ?? settings.budgets?.session?.minutes;
      if (minutes !== undefined)
        timeLimit = { minutes, endsAtMs: world.clock.monotonicMs() + minutes * 60_000 };
      const resumed = otherId === undefined ? request.resumed : { id: otherId, fork: false };
      const restored = await restore({ world, request: { ...request, resumed } });
      for (const note of restored?.notes ?? []) await io.stderr.write(`cadre: ${note}\n`);
      const session = await createOrLetGo(restored, {
        world,
        cwd: request.cwd,
        additionalFolders: request.additionalFolders,
        model,
        settings,
        systemPrompt: choices.systemPrompt ?? request.systemPrompt,
        appendSystemPrompt: choices.appendSystemPrompt ?? values["append-system-prompt"],
        allowedTools: values["allowed-tools"],
        disallowedTools: values["disallowed-tools"],
        permissionMode: choices.permissionMode ?? values["permission-mode"],
        dangerouslySkipPermissions: values["dangerously-skip-permissions"],
        maxTurns: values["max-turns"],
        maxCostUsd: values["max-cost"],
        maxTokens: values["max-tokens"],
        maxMinutes: values["max-minutes"],
        sessionId: request.sessionId,
        outputSchema: choices.outputSchema ?? request.outputSchema,
        keepTranscript: !values["no-session-persistence"],
        restored,
        agents: { ...choices.agents, ...request.agents },
        settingsSources: loaded.sources,
        pluginFolders: request.pluginFolders,
        modelNamed: models.model,
        onProblem: surface?.onProblem ?? ((message) => void io.stderr.write(`cadre: warning: ${message}\n`)),
        surface: surface ?? (choices.onSuggestion && { onSuggestion: choices.onSuggestion }),
        // Only a conversation at a terminal has a surface of its own.
        isWatched: surface !== undefined,
      });
      const ofAgents = problemsOfDefinitions({
        world,
        settings,
        settingsSources: loaded.sources,
        ...(request.agents && { flag: request.agents }),
      });
      for (const warning of [...session.permissions.warnings, ...ofAgents])
        await io.stderr.write(`cadre: warning: ${warning}\n`);
      log?.(`session ${session.id}, transcript ${session.transcriptPath ?? "not kept"}`);
      return log === undefined ? session : withRunLog(session, log);
    },
  };
}

/** Whoever asks for them gets them, unless the settings say something else. */
function withSuggestions(settings: Settings): Settings {
  const given = settings.services?.suggest ?? true;
  const suggest = typeof given === "object" ? { enabled: true, ...given } : given;
  return { ...settings, services: { ...settings.services, suggest } };
}

async function restore(options: { world: World; request: RunRequest }): Promise<RestoredSession | undefined> {
  const { cwd, resumed, sessionId } = options.request;
  if (resumed === undefined) return undefined;
  const { restoreSession } = await import("../../runtime/restore-session.ts");
  const fork = resumed.fork ? { newId: sessionId } : undefined;
  return await restoreSession({ world: options.world, cwd, which: { id: resumed.id }, fork });
}

/** A session that does not come to be must not stay locked. */
async function createOrLetGo(
  restored: RestoredSession | undefined,
  options: SessionOptions,
): Promise<Session> {
  try {
    return createSession(options);
  } catch (error) {
    await restored?.lock.release();
    throw error;
  }
}

function wireContext({ world, request, values }: Start): WireContext {
  return {
    sessionId: request.sessionId,
    uuid: () => world.random.uuid(),
    now: () => world.clock.now(),
    includePartialMessages: values["include-partial-messages"],
  };
}

function reporterFor(start: Start, opener: Opener): Reporter {
  return createReporter({
    format: start.values["output-format"] ?? "text",
    stdout: start.io.stdout,
    stderr: start.io.stderr,
    verbose: start.values.verbose,
    context: wireContext(start),
    clock: start.world.clock,
    version: start.io.version,
    apiKeySource: () => (opener.model?.provider === "anthropic" ? "user" : "none"),
  });
}
