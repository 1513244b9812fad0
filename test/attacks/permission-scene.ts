/** A project in a temporary folder and an engine that judges calls in it. */
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { createNodeWorld } from "../../src/base/world/node-world.ts";
import type { PermissionDecision, PermissionMode, SourcedRules } from "../../src/contracts/permission.ts";
import {
  createPermissionEngine,
  type PermissionEngine,
  type PermissionQuestion,
} from "../../src/permissions/engine.ts";
import { createTempWorkspace, type TempWorkspace } from "../../src/testing/temp-workspace.ts";

export interface Given {
  readonly allow?: SourcedRules["allow"];
  readonly ask?: SourcedRules["ask"];
  readonly deny?: SourcedRules["deny"];
  readonly mode?: PermissionMode;
  /** Relative to the project. */
  readonly current?: string;
  readonly platform?: NodeJS.Platform;
  readonly question?: Partial<PermissionQuestion>;
  readonly sources?: readonly SourcedRules[];
  readonly policyOnly?: boolean;
}

export interface PermissionScene {
  /** The working folder. */
  readonly root: string;
  readonly home: string;
  /** Beside the working folder. */
  readonly outside: string;
  write(relative: string, text?: string): Promise<string>;
  link(target: string, relative: string): Promise<string>;
  engine(given?: Given): PermissionEngine;
  bash(command: string, given?: Given): Promise<PermissionDecision>;
  call(toolName: string, input: Record<string, unknown>, given?: Given): Promise<PermissionDecision>;
}

/** Set up before the tests of the file and gone after them. */
export function usePermissionScene(): PermissionScene {
  let workspace: TempWorkspace | undefined;
  const at = (...way: string[]) => join(workspace?.path ?? "/nowhere", ...way);
  beforeAll(async () => {
    workspace = await createTempWorkspace();
    await mkdir(at("project", "src"), { recursive: true });
    await mkdir(at("home"));
    await mkdir(at("outside"));
  });
  afterAll(() => workspace?.remove());

  const engine = (given: Given = {}) =>
    createPermissionEngine({
      files: createNodeWorld().files,
      homeFolder: at("home"),
      platform: given.platform ?? "linux",
      rules: [
        { source: "flag", allow: given.allow, ask: given.ask, deny: given.deny },
        ...(given.sources ?? []),
      ],
      ...(given.policyOnly !== undefined && { policyOnly: given.policyOnly }),
    });
  const call: PermissionScene["call"] = (toolName, input, given = {}) =>
    engine(given).decide({
      toolName,
      aliases: [],
      input,
      isReadOnly: false,
      mode: given.mode ?? "default",
      folder: {
        root: at("project"),
        roots: [at("project")],
        current: given.current === undefined ? at("project") : at("project", given.current),
      },
      ...given.question,
    });
  return {
    get root() {
      return at("project");
    },
    get home() {
      return at("home");
    },
    get outside() {
      return at("outside");
    },
    async write(relative, text = "") {
      if (workspace === undefined) throw new Error("only inside a test");
      return await workspace.write(join("project", relative), text);
    },
    async link(target, relative) {
      await mkdir(join(at("project"), relative, ".."), { recursive: true });
      await symlink(target, at("project", relative));
      return at("project", relative);
    },
    engine,
    bash: (command, given) => call("Bash", { command }, given),
    call,
  };
}
