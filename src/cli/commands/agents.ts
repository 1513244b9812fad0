/** `cadre agents`: which agents there are, where they come from, what is wrong with them, and a new one. */
import { resolve } from "node:path";
import { createNodeWorld } from "../../base/world/node-world.ts";
import type { World } from "../../base/world.ts";
import { loadSettings } from "../../config/settings.ts";
import { agentLoaderFor } from "../../runtime/agent-loader.ts";
import { readAgentsFlag } from "../agents-flag.ts";
import { UsageError } from "../arguments.ts";
import type { CommandIo } from "../command-io.ts";
import { nearest } from "../nearest.ts";
import { type AgentsValues, agentsOptions } from "../options.ts";
import { currentFolder } from "../run-request.ts";
import type { AgentsRequest, TerminalStreams } from "./agents-request.ts";

const actions = ["list", "show", "doctor", "new"] as const;
type Action = (typeof actions)[number];

export async function runAgents(options: {
  values: AgentsValues;
  positionals: readonly string[];
  io: CommandIo;
  /** The process's own, unless a test has others. */
  world?: World;
  columns?: number;
  terminal?: TerminalStreams;
}): Promise<number> {
  const { values, io } = options;
  const { action, names } = readAction(options.positionals);
  assertFits(action, values);
  const request = await openRequest(options);
  for (const warning of request.warnings) await io.stderr.write(`cadre: warning: ${warning}\n`);
  switch (action) {
    case "list": {
      const { listAgents } = await import("./agents-list.ts");
      return await listAgents(request);
    }
    case "show": {
      const { showAgent } = await import("./agents-show.ts");
      return await showAgent(request, names);
    }
    case "doctor": {
      const { checkAgents } = await import("./agents-doctor.ts");
      return await checkAgents(request);
    }
    case "new": {
      const { newAgent } = await import("./agents-new.ts");
      return await newAgent(request, names[0]);
    }
  }
}

function readAction(positionals: readonly string[]): { action: Action; names: readonly string[] } {
  const [word = "list", ...names] = positionals;
  const action = actions.find((each) => each === word);
  if (action === undefined) {
    const close = nearest(word, actions);
    const hint =
      close === undefined ? `; to see an agent: cadre agents show ${word}` : ` (did you mean ${close}?)`;
    throw new UsageError(`agents can not "${word}", only ${actions.join(", ")}${hint}`);
  }
  const most = action === "show" ? Number.POSITIVE_INFINITY : action === "new" ? 1 : 0;
  if (names.length > most) throw new UsageError(`agents ${action} takes no argument "${names[most]}"`);
  if (action === "show" && names.length === 0)
    throw new UsageError("agents show needs the name of an agent; cadre agents lists them");
  return { action, names };
}

/** An option that would be ignored is a misunderstanding. */
function assertFits(action: Action, values: AgentsValues): void {
  if (action === "new") return;
  const first = agentsOptions.findIndex(({ name }) => name === "name");
  for (const { name } of agentsOptions.slice(first)) {
    const value = values[name];
    if (name !== "help" && value !== undefined && value !== false)
      throw new UsageError(`--${name} is for cadre agents new, not for ${action}`);
  }
}

async function openRequest(options: Parameters<typeof runAgents>[0]): Promise<AgentsRequest> {
  const { values, io } = options;
  const world = options.world ?? createNodeWorld();
  const startFolder = currentFolder();
  const cwd = resolve(startFolder, values.cwd ?? ".");
  await assertFolder({ world, option: "--cwd", path: cwd });
  const pluginFolders = values["plugin-dir"].map((path) => resolve(startFolder, path));
  for (const path of pluginFolders) await assertFolder({ world, option: "--plugin-dir", path });
  const flag = values.agents === undefined ? undefined : readAgentsFlag(values.agents);
  const { settings, sources, warnings } = await loadSettings({
    world,
    cwd: startFolder,
    flag: values.settings,
  });
  return {
    world,
    io,
    values,
    startFolder,
    cwd,
    settings,
    warnings,
    columns: options.columns ?? (io.stdout.isTerminal ? process.stdout.columns : undefined),
    terminal: options.terminal ?? processTerminal(),
    load: (toolNames) =>
      agentLoaderFor({
        world,
        cwd,
        settings,
        settingsSources: sources,
        flag,
        pluginFolders,
        toolNames,
      }).load(),
  };
}

async function assertFolder(options: { world: World; option: string; path: string }): Promise<void> {
  const info = await options.world.files.stat(options.path).catch(() => undefined);
  if (info?.kind === "folder") return;
  throw new UsageError(
    `${options.option}: ${options.path} ${info === undefined ? "does not exist" : "is not a folder"}`,
  );
}

function processTerminal(): TerminalStreams | undefined {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  return isTerminal ? { input: process.stdin, output: process.stdout } : undefined;
}
