import type { World } from "../base/world.ts";
import type { Settings } from "../contracts/settings.ts";
import { readFlagSettings, readUserSettings, type SettingsSource } from "./settings-sources.ts";

export interface LoadedSettings {
  readonly settings: Settings;
  /** Those that were found, weakest first, each with what it says itself. */
  readonly sources: readonly LoadedSource[];
  readonly warnings: readonly string[];
}

export interface LoadedSource extends SettingsSource {
  readonly settings: Settings;
}

/**
 * Later sources win: the user's file, then `--settings`. A project's settings are not read: nobody has
 * said yet that the project is trusted.
 */
export async function loadSettings(options: {
  world: Pick<World, "files" | "homeFolder">;
  /** Where a relative `flag` starts. */
  cwd: string;
  flag?: string;
}): Promise<LoadedSettings> {
  const { world, cwd, flag } = options;
  const user = await readUserSettings(world);
  const fromFlag = flag === undefined ? undefined : await readFlagSettings({ files: world.files, cwd, flag });
  const found = [user, fromFlag].filter((source) => source !== undefined);
  return {
    settings: found.reduce<Settings>((merged, { content }) => mergeSettings(merged, content.settings), {}),
    sources: found.map(({ source, content }) => ({ ...source, settings: content.settings })),
    warnings: found.flatMap(({ content }) => content.warnings),
  };
}

/** Objects merge key by key, lists add up, anything else is replaced. */
export function mergeSettings(weaker: Settings, stronger: Settings): Settings {
  // Both were checked alone, and merging the same keys keeps every key's type.
  return mergeValues(weaker, stronger) as Settings;
}

function mergeValues(weaker: unknown, stronger: unknown): unknown {
  if (Array.isArray(weaker) && Array.isArray(stronger)) return [...new Set([...weaker, ...stronger])];
  if (!isRecord(weaker) || !isRecord(stronger)) return stronger === undefined ? weaker : stronger;
  const keys = new Set([...Object.keys(weaker), ...Object.keys(stronger)]);
  // From entries, not by assignment: a key named `__proto__` must stay a key.
  return Object.fromEntries(
    [...keys].map((key) => [key, mergeValues(own(weaker, key), own(stronger, key))] as const),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
