/** From options and settings to the rules and the mode a session starts with. */
import { CadreError } from "../base/errors.ts";
import type { PermissionMode } from "../contracts/permission.ts";
import { problemOfAllowRule, type Rules } from "../permissions/decide.ts";
import type { SessionOptions } from "./session.ts";

export interface PermissionSetup {
  readonly rules: Rules;
  readonly mode: PermissionMode;
  /** Denied as a whole: the model is not shown them. */
  readonly hiddenTools: ReadonlySet<string>;
  /** `bypassPermissions` is for those who asked for it when they started, and for nobody else. */
  assertAllowed(mode: PermissionMode): void;
}

export function permissionSetup(options: SessionOptions): PermissionSetup {
  const { permissions } = options.settings;
  const allowed = options.allowedTools ?? [];
  const problems = allowed.map(problemOfAllowRule).filter((problem) => problem !== undefined);
  if (problems.length > 0) {
    throw new CadreError({ code: "rule-not-understood", message: problems.join("\n") });
  }
  // Rules of a settings file that are not understood grant nothing; the file may be meant for a later version.
  const fromSettings = (permissions?.allow ?? []).filter((rule) => problemOfAllowRule(rule) === undefined);
  const deny = [...(options.disallowedTools ?? []), ...(permissions?.deny ?? [])];

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
  return {
    rules: { allow: [...allowed, ...fromSettings], deny },
    mode,
    hiddenTools: new Set(deny.filter((rule) => !rule.includes("("))),
    assertAllowed,
  };
}
