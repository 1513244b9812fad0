/** An agent never does more than the one that started it could, whatever its file says and whatever it is sent. */
import { mkdir, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { createChildMode } from "../../src/agents/child-mode.ts";
import { selectTools } from "../../src/agents/select-tools.ts";
import type { AgentDefinition } from "../../src/contracts/agent-definition.ts";
import { PermissionMode } from "../../src/contracts/permission.ts";
import type { AgentLimits } from "../../src/permissions/agent-limits.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { type Given, usePermissionScene } from "./permission-scene.ts";

const scene = usePermissionScene();

const pool = [
  "Read",
  "Write",
  "Edit",
  "Grep",
  "Bash",
  "WebFetch",
  "AskUserQuestion",
  "ExitPlanMode",
  "Agent",
].map((name) =>
  defineTool({
    name,
    description: "",
    input: z.object({}),
    call: async () => "",
    toResult: (text) => text,
  }),
);

type File = Partial<Pick<AgentDefinition, "tools" | "disallowedTools" | "permissionMode">>;

/** What a file of a project makes of an agent that is started below a session in this mode. */
function agentOf(file: File, parent: PermissionMode) {
  const mode = createChildMode({ wish: file.permissionMode, parent: { current: parent } }).current;
  const { tools, within, denied } = selectTools({
    pool,
    definition: { ...file, source: "project" },
    isBackground: false,
    mode,
    mayStartAgents: true,
    sendMessage: false,
    isHidden: () => false,
  });
  const limits: AgentLimits = { within, denied };
  const call = async (tool: string, input: Record<string, unknown>, given: Given = {}) =>
    tools.some(({ name }) => name === tool)
      ? (await scene.call(tool, input, { ...given, mode, question: { limits } })).decision
      : "deny";
  return { mode, call, bash: (command: string, given?: Given) => call("Bash", { command }, given) };
}

const calls = fc.constantFrom<[string, Record<string, unknown>]>(
  ["Read", { file_path: "src/a" }],
  ["Read", { file_path: "../outside/a" }],
  ["Write", { file_path: "src/a" }],
  ["Edit", { file_path: ".cadre/settings.json" }],
  ["Bash", { command: "ls" }],
  ["Bash", { command: "git diff && npm test" }],
  ["Bash", { command: "echo x > src/a" }],
  ["Bash", { command: "rm -rf src" }],
  ["WebFetch", { url: "https://a.org/" }],
  ["Agent", { subagent_type: "Explore" }],
);
const entries = fc.constantFrom(
  "*",
  "Bash",
  "bash(*)",
  "Bash(git diff:*)",
  "Bash(rm:*)",
  "Edit(./src/**)",
  "Read",
  "Write",
  "WebFetch(domain:a.org)",
  "Agent(Explore)",
  "Bash(",
  "ExitPlanMode",
  "__proto__",
);
const list = fc.option(fc.array(entries, { maxLength: 5 }), { nil: undefined });
const modes = fc.constantFrom(...PermissionMode.options);

describe("what the file of an agent says", () => {
  test("rows 55, 56: never lets a call through that its parent could not make", async () => {
    const given = { allow: ["Bash(npm:*)", "Edit(./src/**)"], ask: ["Agent(Explore)"], deny: ["Bash(rm:*)"] };
    const file = fc.record({
      tools: list,
      disallowedTools: list,
      permissionMode: fc.option(modes, { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(file, modes, calls, async (wishes, parent, [tool, input]) => {
        const above = (await scene.call(tool, input, { ...given, mode: parent })).decision;
        const below = await agentOf(wishes, parent).call(tool, input, given);
        if (below === "allow") expect(above).toBe("allow");
      }),
      { numRuns: 300 },
    );
  });

  test("row 56: below one who plans, a file that bypasses permissions writes nothing", async () => {
    const agent = agentOf({ permissionMode: "bypassPermissions", tools: ["*"] }, "plan");
    const given = { allow: ["Bash", "Edit", "Write"] };
    expect(await agent.call("Write", { file_path: "src/a" }, given)).toBe("deny");
    for (const command of ["echo x > a", "npm test", "bash -c 'touch a'", "touch a &"])
      expect(await agent.bash(command, given), command).toBe("deny");
  });

  test.each(["default", "bubble", "dontAsk"] as const)(
    "row 56: no file raises %s to what accepts or bypasses",
    async (parent) => {
      for (const permissionMode of ["acceptEdits", "bypassPermissions"] as const) {
        const agent = agentOf({ permissionMode }, parent);
        expect(agent.mode).toBe(parent);
        expect(await agent.call("Edit", { file_path: "src/a" })).not.toBe("allow");
      }
    },
  );

  test("a list of tools grants nothing: what would ask still asks, what is silent is refused", async () => {
    const tools = ["Bash(npm test)", "WebFetch(domain:a.org)", "Edit(./src/**)"];
    for (const [mode, decision] of [
      ["default", "ask"],
      ["dontAsk", "deny"],
    ] as const) {
      const agent = agentOf({ tools, permissionMode: mode }, "default");
      expect(await agent.bash("npm test")).toBe(decision);
      expect(await agent.call("WebFetch", { url: "https://a.org" })).toBe(decision);
      expect(await agent.call("Edit", { file_path: "src/a" })).toBe(decision);
    }
  });

  test("row 11: what it denies is found behind wrappers, in other cases and in pieces of a script", async () => {
    const agent = agentOf({ disallowedTools: ["bash(rm:*)"] }, "bypassPermissions");
    for (const command of [
      "rm x",
      "/bin/rm x",
      "env rm x",
      "ls | xargs rm",
      "bash -c 'ls; rm x'",
      "'rm' x",
      "a=$(rm x)",
    ])
      expect(await agent.bash(command), command).toBe("deny");
  });

  test("rows 1, 8, 9: what it narrows is not widened by what hides in a covered command", async () => {
    const agent = agentOf({ tools: ["Bash(git log:*)"] }, "bypassPermissions");
    for (const command of [
      "git log;id",
      "git log\nid",
      'git log --grep="$(id)"',
      "git log `id`",
      "git log & id",
      "GIT_PAGER=id git log",
      "git log > ~/.bashrc",
      "$(echo id)",
      "git   status",
      "function git() { id; }; git log",
      "alias git=id; git log",
    ])
      expect(await agent.bash(command), command).toBe("deny");
  });
});

describe("the folder of an agent", () => {
  const write = (path: string, ownFolders: readonly string[], given: Given = {}) =>
    scene.call("Write", { file_path: path }, { ...given, question: { limits: { ownFolders } } });

  test.each(["../../src", "../../.git/hooks", "../.."])(
    "rows 16, 17: a link to %s that a project brings in its place opens nothing",
    async (target) => {
      const memory = join(scene.root, ".cadre/agent-memory");
      await mkdir(join(scene.root, ".git/hooks"), { recursive: true });
      await mkdir(memory, { recursive: true });
      await rm(join(memory, "reviewer"), { force: true, recursive: true });
      await symlink(target, join(memory, "reviewer"));
      const own = [join(memory, "reviewer")];
      for (const name of ["pre-commit", "settings.json", "a.ts"])
        expect((await write(join(memory, "reviewer", name), own)).decision, name).toBe("ask");
      expect((await write(join(scene.root, "src/a.ts"), own)).decision).toBe("ask");
    },
  );

  test("row 19: a link above it in the project opens nothing either", async () => {
    await mkdir(join(scene.outside, "memory/reviewer"), { recursive: true });
    await scene.link(join(scene.outside, "memory"), "linked/memory");
    const own = [join(scene.root, "linked/memory/reviewer")];
    expect((await write(join(scene.root, "linked/memory/reviewer/a"), own)).decision).toBe("ask");
  });

  test("rows 16, 18: links inside lead nowhere, and a folder that was exchanged keeps no permission", async () => {
    const above = join(scene.outside, "above");
    const scratch = join(above, "scratch");
    await mkdir(scratch, { recursive: true });
    await symlink(scene.root, join(scratch, "project"));
    await symlink(join(scene.root, ".git/hooks/pre-push"), join(scratch, "hook"));
    const engine = scene.engine();
    const ownFolders = [scratch];
    const decide = async (path: string) =>
      (
        await engine.decide({
          toolName: "Write",
          aliases: [],
          input: { file_path: path },
          isReadOnly: false,
          mode: "default",
          folder: { root: scene.root, roots: [scene.root], current: scene.root },
          limits: { ownFolders },
        })
      ).decision;
    expect(await decide(join(scratch, "a"))).toBe("allow");
    expect(await decide(join(scratch, "project/a"))).toBe("ask");
    expect(await decide(join(scratch, "hook"))).toBe("ask");
    await rename(scratch, join(scene.outside, "old"));
    await symlink(scene.root, scratch);
    expect(await decide(join(scratch, "a"))).toBe("ask");
    await rename(above, join(scene.outside, "older"));
    await symlink(scene.root, above);
    expect(await decide(join(scratch, "a"))).toBe("ask");
  });

  test("row 15: a folder whose name begins the same is another folder", async () => {
    const own = [join(scene.outside, "own")];
    expect((await write(join(scene.outside, "own/a"), own)).decision).toBe("allow");
    expect((await write(join(scene.outside, "own-evil/a"), own)).decision).toBe("ask");
  });
});
