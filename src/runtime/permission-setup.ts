/** From options and settings to the rules and the mode a session starts with. */
import { CadreError } from "../base/errors.ts";
import type { PermissionMode, RuleProblem, SourcedRules } from "../contracts/permission.ts";
import { createPermissionEngine, type PermissionEngine } from "../permissions/engine.ts";
import type { SessionOptions } from "./session.ts";

export interface PermissionSetup {
  readonly engine: PermissionEngine;
  readonly mode: PermissionMode;
  /** `bypassPermissions` is for those who asked for it when they started, and for nobody else. */
  assertAllowed(mode: PermissionMode): void;
}

export function permissionSetup(options: SessionOptions): PermissionSetup {
  const { world } = options;
  const { permissions } = options.settings;
  // A project's settings are not read: nobody has said yet that the project is trusted.
  const rules: SourcedRules[] = [
    { source: "flag", allow: options.allowedTools, deny: options.disallowedTools },
    { source: "user", allow: permissions?.allow, ask: permissions?.ask, deny: permissions?.deny },
  ];
  const assertAllowed = (mode: PermissionMode) => {
    if (mode !== "bypassPermissions" || options.dangerouslySkipPermissions) return;
    throw new CadreError({
      code: "bypass-refused",
      message: "The mode bypassPermissions needs --dangerously-skip-permissions at the start.",
    });
  };
  const wanted =
    options.permissionMode ?? (options.dangerouslySkipPermissions ? "bypassPermissions" : undefined);
  const mode = wanted ?? permissions?.defaultMode ?? "default";
  assertAllowed(mode);
  const { files, homeFolder, platform } = world;
  return {
    engine: createPermissionEngine({ files, homeFolder, platform, rules }),
    mode,
    assertAllowed,
  };
}

/** One line for a person. */
export function describeRuleProblem({ source, behavior, rule, problem }: RuleProblem): string {
  return `the ${behavior} rule ${JSON.stringify(rule)} (${source}) is not understood: ${problem}`;
}
