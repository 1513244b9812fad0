/** `cadre permissions check`: what the engine would decide on a call, without making it. */
import { resolve } from "node:path";
import { createNodeWorld } from "../../base/world/node-world.ts";
import type { World } from "../../base/world.ts";
import { loadSettings } from "../../config/settings.ts";
import type { PermissionDecision, RuleProblem } from "../../contracts/permission.ts";
import type { Settings } from "../../contracts/settings.ts";
import { createPermissionEngine, type PermissionQuestion } from "../../permissions/engine.ts";
import { exitCodes } from "../../surfaces/headless/exit-code.ts";
import { type OptionValues, UsageError } from "../arguments.ts";
import type { CommandIo } from "../command-io.ts";
import type { permissionsOptions } from "../options.ts";
import { currentFolder } from "../run-request.ts";

type Values = OptionValues<typeof permissionsOptions>;

export async function runPermissions(options: {
  values: Values;
  positionals: readonly string[];
  io: CommandIo;
}): Promise<number> {
  const { values, io } = options;
  const call = readCall(options.positionals);
  const world = createNodeWorld();
  const settings = values["no-settings"]
    ? {}
    : (await loadSettings({ world, cwd: currentFolder(), ...(values.settings && { flag: values.settings }) }))
        .settings;
  const engine = createPermissionEngine({
    files: world.files,
    homeFolder: world.homeFolder,
    platform: world.platform,
    rules: [
      { source: "flag", allow: values.allow, ask: values.ask, deny: values.deny },
      { source: "user", ...settings.permissions },
    ],
  });
  const question = await readQuestion({ call, values, settings, world });
  const decision = await engine.decide(question);
  await print({ decision, problems: engine.problems, question, json: values.json, io });
  return exitCodes.success;
}

interface Call {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
}

function readCall(positionals: readonly string[]): Call {
  const [action, toolName, json, ...rest] = positionals;
  if (action !== "check")
    throw new UsageError(
      action === undefined
        ? 'permissions needs to know what to do: "cadre permissions check TOOL INPUT-JSON"'
        : `permissions can not "${action}"; it can check`,
    );
  if (toolName === undefined || json === undefined)
    throw new UsageError(
      `permissions check needs a tool and its input, such as: Bash '{"command":"git status"}'`,
    );
  if (rest.length > 0)
    throw new UsageError(`permissions check takes two arguments, but got "${rest[0]}" as well`);
  return { toolName, input: readInput(json) };
}

function readInput(json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new UsageError(`the input is not JSON: ${json.slice(0, 80)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError('the input must be a JSON object, such as {"file_path":"a.txt"}');
  return { ...value };
}

async function readQuestion(options: {
  call: Call;
  values: Values;
  settings: Settings;
  world: World;
}): Promise<PermissionQuestion> {
  const { call, values, settings, world } = options;
  const root = resolve(currentFolder(), values.cwd ?? ".");
  const added = [...values["add-dir"], ...(settings.permissions?.additionalDirectories ?? [])];
  const roots = [root, ...added.map((folder) => resolve(root, folder))];
  for (const folder of roots) {
    const info = await world.files.stat(folder).catch(() => undefined);
    if (info?.kind !== "folder") throw new UsageError(`${folder} is not a folder`);
  }
  // A file can not turn the questions off.
  const configured = settings.permissions?.defaultMode;
  const mode = values.mode ?? (configured === "bypassPermissions" ? undefined : configured) ?? "default";
  return { ...call, aliases: [], isReadOnly: false, mode, folder: { root, roots, current: root } };
}

async function print(options: {
  decision: PermissionDecision;
  problems: readonly RuleProblem[];
  question: PermissionQuestion;
  json: boolean;
  io: CommandIo;
}): Promise<void> {
  const { decision, problems, question, io } = options;
  if (options.json) {
    const { decision: word, reason, ...more } = decision;
    const shown = {
      decision: word,
      reason,
      ...more,
      mode: question.mode,
      ...(problems.length > 0 && { problems }),
    };
    await io.stdout.write(`${JSON.stringify(shown)}\n`);
    return;
  }
  for (const { behavior, rule, source, problem } of problems)
    await io.stderr.write(`cadre: warning: the ${behavior} rule ${rule} (${source}): ${problem}\n`);
  const lines = [
    `${decision.decision}: ${decision.reason}`,
    ...(decision.part === undefined ? [] : [`  part: ${decision.part}`]),
    ...(decision.rule === undefined ? [] : [`  rule: ${decision.rule.rule} (${decision.rule.source})`]),
    ...(decision.protected ? ["  protected: only a person's own yes to this call allows it"] : []),
    ...(decision.suggestions ?? []).map((rule) => `  would be allowed by: ${rule}`),
  ];
  await io.stdout.write(`${lines.join("\n")}\n`);
}
