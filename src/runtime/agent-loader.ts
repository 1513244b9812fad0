/** Where the agents of a session come from: what settings and options say, handed to the loader. */
import { basename, isAbsolute, join, resolve } from "node:path";
import { builtInAgents } from "../agents/built-in/built-in-agents.ts";
import { type AgentLoader, createAgentLoader } from "../agents/load-definitions.ts";
import { parseJsonDefinition } from "../agents/parse-definition.ts";
import type { World } from "../base/world.ts";
import type { LoadedSource } from "../config/settings.ts";
import { userSettingsPath } from "../config/settings-sources.ts";
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { Settings } from "../contracts/settings.ts";
import { expandHome } from "../permissions/locate-path.ts";

export interface AgentLoaderOptions {
  readonly world: World;
  readonly cwd: string;
  /** All sources merged. */
  readonly settings: Settings;
  /**
   * The same, one by one: a definition replaces another of its name and is never mixed with it. Absent: what
   * `settings` defines counts as the user's.
   */
  readonly settingsSources?: readonly LoadedSource[];
  /** From `--agents`. */
  readonly flag?: Readonly<Record<string, unknown>>;
  /** From a program. */
  readonly library?: readonly AgentDefinition[];
  /** From `--plugin-dir`, beside those of the settings. Absolute. */
  readonly pluginFolders?: readonly string[];
  readonly toolNames?: ReadonlySet<string>;
}

export function agentLoaderFor(options: AgentLoaderOptions): AgentLoader {
  const { world, cwd, settings, flag, library, toolNames } = options;
  return createAgentLoader({
    world,
    cwd,
    builtIn: builtInAgents({
      explorePlan: settings.enableExplorePlan ?? true,
      verification: settings.enableVerification ?? true,
      guide: (settings.enableGuide ?? true) && !isDrivenBySdk(world.env),
    }),
    settings: definitionsInSettings(options),
    plugins: pluginsOf(options),
    policyFolder: managedFolder(world.platform),
    ...(flag && { flag }),
    ...(library && { library }),
    ...(toolNames && { toolNames }),
  });
}

/**
 * What is wrong with definitions in settings and of a flag, in words for a person. Of settings only what is lost is
 * told: they are read by every run, and `cadre agents doctor` tells the rest.
 */
export function problemsOfDefinitions(
  options: Pick<AgentLoaderOptions, "world" | "settings" | "settingsSources" | "flag">,
): string[] {
  const flag = { source: "flag" as const, file: "--agents", agents: options.flag ?? {} };
  return [...definitionsInSettings(options), flag].flatMap(({ source, file, agents }) =>
    Object.entries(agents).flatMap(([name, entry]) => {
      const { failure, repairs } = parseJsonDefinition(name, entry, { source, file });
      if (failure !== undefined) return [`${file}: ${failure.what}; it is left out`];
      return source === "flag" ? repairs.map(({ what }) => `${file}: ${what}`) : [];
    }),
  );
}

/** What whoever runs the machine has decided: a place that users cannot write, and no variable leads elsewhere. */
export function managedFolder(platform: NodeJS.Platform): string {
  return platform === "darwin" ? "/Library/Application Support/Cadre" : "/etc/cadre";
}

/** A program has no use for a guide to the command. */
function isDrivenBySdk(env: World["env"]): boolean {
  return (env.CADRE_ENTRYPOINT ?? env.CLAUDE_CODE_ENTRYPOINT ?? "").toLowerCase().startsWith("sdk");
}

function definitionsInSettings({
  world,
  settings,
  settingsSources,
}: Pick<AgentLoaderOptions, "world" | "settings" | "settingsSources">) {
  const user = { name: "user" as const, label: userSettingsPath(world.homeFolder), settings };
  return (settingsSources ?? [user]).flatMap(({ name, label, settings: { agents } }) =>
    agents === undefined ? [] : [{ source: name, file: label, agents }],
  );
}

/** The same folder named twice is one plugin. */
function pluginsOf(options: AgentLoaderOptions): { folder: string; trusted: boolean }[] {
  const { world, settings, pluginFolders = [] } = options;
  const absolute = (path: string) => absoluteOf(path, world.homeFolder);
  const named = new Set(settings.trustedPlugins ?? []);
  const trustedFolders = new Set([...named].filter(isPath).map(absolute));
  const configured = (settings.pluginFolders ?? []).map(absolute);
  const trusted = new Map<string, boolean>();
  // The name alone is enough only for folders that the settings list: another folder can have the same name.
  for (const folder of configured)
    trusted.set(folder, named.has(basename(folder)) || trustedFolders.has(folder));
  for (const folder of pluginFolders.map((path) => resolve(path)))
    trusted.set(folder, trusted.get(folder) ?? trustedFolders.has(folder));
  return [...trusted].map(([folder, isTrusted]) => ({ folder, trusted: isTrusted }));
}

function isPath(name: string): boolean {
  return isAbsolute(name) || name.includes("/");
}

/** Relative to the user's settings, never to the current folder: that may be anybody's. */
function absoluteOf(path: string, homeFolder: string): string {
  return resolve(join(homeFolder, ".cadre"), expandHome(path, homeFolder));
}
