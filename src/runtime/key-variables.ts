import type { Settings } from "../contracts/settings.ts";

/** The variables that settings name as holders of keys: children of tools do not see them (PE-11). */
export function keyVariables(settings: Settings): string[] {
  const named = [
    ...Object.values(settings.providers ?? {}).map((provider) => provider.keyEnv),
    settings.webSearch?.keyEnv,
  ];
  return named.filter((name) => name !== undefined);
}
