import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createTempWorkspace, type TempWorkspace } from "../../testing/temp-workspace.ts";
import { createTestWorld } from "../../testing/test-world.ts";
import { parseArguments, UsageError } from "../arguments.ts";
import type { CommandIo } from "../command-io.ts";
import { agentsOptions } from "../options.ts";
import { runAgents } from "./agents.ts";

let workspace: TempWorkspace;
beforeEach(async () => {
  workspace = await createTempWorkspace();
  await workspace.write("home/.cadre/settings.json", "{}");
  await workspace.write("project/.git/HEAD", "ref: refs/heads/main\n");
});
afterEach(() => workspace.remove());

interface Run {
  readonly env?: Record<string, string>;
  readonly columns?: number;
}

async function agents(argv: readonly string[], { env = {}, columns }: Run = {}) {
  const written = { stdout: "", stderr: "" };
  const sink = (name: "stdout" | "stderr") => ({
    isTerminal: false,
    write: async (text: string) => {
      written[name] += text;
    },
    flush: async () => {},
  });
  // Only what the command uses.
  const io = { stdout: sink("stdout"), stderr: sink("stderr") } as unknown as CommandIo;
  const world = createTestWorld({ env, homeFolder: join(workspace.path, "home") });
  const parsed = parseArguments(agentsOptions, [...argv, "--cwd", join(workspace.path, "project")]);
  const code = await runAgents({ ...parsed, io, world, columns });
  return { code, ...written };
}

const agentFile = (name: string, more = "") =>
  `---\nname: ${name}\ndescription: the ${name}\n${more}---\nYou are ${name}.\n`;

describe("cadre agents", () => {
  it("lists names, sources, models and tools, and counts what was replaced and what failed", async () => {
    await workspace.write("home/.cadre/agents/helper.md", agentFile("helper"));
    await workspace.write(
      "project/.cadre/agents/helper.md",
      agentFile("helper", "tools: Read, Grep\nmodel: haiku\n"),
    );
    await workspace.write("project/.cadre/agents/broken.md", "---\ntools: Read\n---\nNo name.\n");
    const { code, stdout } = await agents([]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^NAME +SOURCE +MODEL +TOOLS\n/);
    expect(stdout).toMatch(/^helper +project +haiku +Read, Grep$/m);
    expect(stdout).toMatch(/^general-purpose +built-in +inherit +All tools$/m);
    expect(stdout).toMatch(/\n\n8 agents, 1 replaced, 1 failed.*\(see cadre agents doctor\)\n$/);
  });

  it("fits 60 columns", async () => {
    const { stdout } = await agents([], { columns: 60 });
    expect(stdout.split("\n").filter((line) => line.length > 60)).toEqual([]);
    expect(stdout).toMatch(/^NAME/);
  });

  it("prints everything as JSON", async () => {
    const user = await workspace.write("home/.cadre/agents/helper.md", agentFile("helper"));
    const project = await workspace.write(
      "project/.cadre/agents/helper.md",
      agentFile("helper", "tools: Read\ndisallowedTools: Bash\nmodel: opus\n"),
    );
    const odd = await workspace.write("project/.cadre/agents/odd.md", agentFile("odd", "tools: Nope\n"));
    const broken = await workspace.write(
      "project/.cadre/agents/broken.md",
      "---\ntools: Read\n---\nNo name.\n",
    );
    const { stdout } = await agents(["--json"]);
    const shown = JSON.parse(stdout);
    expect(Object.keys(shown)).toEqual(["activeAgents", "allAgents", "failedFiles", "repairs"]);
    const of = (list: { agentType: string }[]) => list.filter(({ agentType }) => agentType === "helper");
    expect(of(shown.activeAgents)).toEqual([
      {
        agentType: "helper",
        whenToUse: "the helper",
        tools: ["Read"],
        disallowedTools: ["Bash"],
        model: "opus",
        source: "project",
        file: project,
        prompt: expect.stringContaining("You are helper."),
        replacedBy: null,
      },
    ]);
    expect(of(shown.allAgents)).toContainEqual(
      expect.objectContaining({
        file: user,
        tools: null,
        disallowedTools: null,
        model: null,
        replacedBy: `project (${project})`,
      }),
    );
    expect(shown.failedFiles).toEqual([
      { file: broken, line: expect.any(Number), reason: expect.stringContaining("name") },
    ]);
    expect(shown.repairs).toEqual([{ file: odd, line: 4, what: expect.stringContaining("Nope") }]);
    for (const agent of shown.allAgents) expect(typeof agent.prompt).toBe("string");
  });

  it("takes definitions from --agents and gates from --settings", async () => {
    const flag = JSON.stringify({ quick: { description: "d", prompt: "p" } });
    const { stdout } = await agents(["--agents", flag, "--settings", '{"enableExplorePlan":false}']);
    const shown = JSON.parse((await agents(["--json", "--agents", flag])).stdout);
    expect(shown.activeAgents).toContainEqual(expect.objectContaining({ agentType: "quick", file: null }));
    expect(stdout).toMatch(/^quick +flag +inherit +All tools$/m);
    expect(stdout).not.toMatch(/^Explore/m);
  });

  it("keeps definitions of two settings sources apart", async () => {
    const one = { description: "d", prompt: "p", tools: ["Read"] };
    await workspace.write("home/.cadre/settings.json", JSON.stringify({ agents: { mine: one } }));
    const flag = JSON.stringify({ agents: { mine: { description: "other", prompt: "q" } } });
    const { stdout } = await agents(["--settings", flag]);
    expect(stdout).toMatch(/^mine +flag +inherit +All tools$/m);
    expect(stdout).toContain("1 replaced");
  });

  it("takes the folder of a plugin", async () => {
    await workspace.write("tool-kit/plugin.json", '{"name":"tool-kit"}');
    await workspace.write("tool-kit/agents/helper.md", agentFile("helper"));
    const { stdout } = await agents(["--plugin-dir", join(workspace.path, "tool-kit")]);
    expect(stdout).toMatch(/^tool-kit:helper +plugin /m);
  });

  it.each([
    [["lst"], "did you mean list?"],
    [["reviewer"], "cadre agents show reviewer"],
    [["list", "x"], 'takes no argument "x"'],
    [["show"], "needs the name"],
    [["doctor", "--force"], "--force is for cadre agents new"],
    [["--tools", ""], "--tools is for cadre agents new"],
    [["--agents", "{"], "line 1, column 2"],
    [["--plugin-dir", "/does/not/exist"], "does not exist"],
  ])("wrong usage is told as such: %j", async (argv, message) => {
    await expect(agents(argv)).rejects.toThrow(UsageError);
    await expect(agents(argv)).rejects.toThrow(message);
  });
});

describe("cadre agents show", () => {
  it("says of each value where it is from, and ends with the prompt", async () => {
    await workspace.write("home/.cadre/agents/helper.md", agentFile("helper"));
    await workspace.write(
      "project/.cadre/agents/helper.md",
      agentFile("helper", "tools: Read, Edit\ndisallowedTools: Edit\nmaxTurns: 7\n"),
    );
    const { stdout } = await agents(["show", "helper"]);
    expect(stdout).toMatch(/^helper, project \(\.cadre\/agents\/helper\.md\)\n/);
    expect(stdout).toContain(`replaces user (~/.cadre/agents/helper.md)`);
    expect(stdout).toMatch(/^description +file +the helper$/m);
    expect(stdout).toMatch(/^tools +file +Read, Edit$/m);
    expect(stdout).toMatch(/^tools left +file +Read$/m);
    expect(stdout).toMatch(/^model +default +inherit$/m);
    expect(stdout).toMatch(/^maxTurns +file +7$/m);
    expect(stdout.endsWith("\n\nYou are helper.\n")).toBe(true);
  });

  it("says what settings and environment make of an agent that names no model", async () => {
    const model = async (argv: string[], env = {}) =>
      /^model +(.*)$/m.exec((await agents(["show", "general-purpose", ...argv], { env })).stdout)?.[1];
    expect(await model([])).toBe("built-in  inherit");
    expect(await model(["--settings", '{"subagentModel":"x-1"}'])).toBe("settings  x-1");
    expect(await model([], { CADRE_SUBAGENT_MODEL: "y-2" })).toMatch(/^environment +y-2$/);
    expect(await model([], { CADRE_SUBAGENT_MODEL: "haiku", ANTHROPIC_API_KEY: "k" })).toMatch(
      /haiku \(claude-haiku/,
    );
  });

  it("knows flags, and computes prompts", async () => {
    const flag = JSON.stringify({ quick: { description: "d", prompt: "p" } });
    expect((await agents(["show", "quick", "--agents", flag])).stdout).toMatch(/^description +flag +d$/m);
    expect((await agents(["show", "guide", "--agents", flag])).stdout).toContain("- quick (flag): d");
  });

  it("prints JSON", async () => {
    const shown = JSON.parse((await agents(["show", "Explore", "--json"])).stdout);
    expect(shown).toMatchObject({
      agentType: "Explore",
      source: "built-in",
      file: null,
      replaces: [],
      repairs: [],
    });
    expect(shown.fields).toContainEqual({ field: "model", value: "haiku", from: "built-in" });
  });

  it("names those that may have been meant", async () => {
    await expect(agents(["show", "explor"])).rejects.toThrow('no agent "explor"; did you mean Explore?');
    await expect(agents(["show", "zzzzzz"])).rejects.toThrow("there are: Bash, Explore,");
    await workspace.write("project/.cadre/agents/broken.md", "---\ntools: Read\n---\nNo name.\n");
    await expect(agents(["show", "broken"])).rejects.toThrow(
      /\.cadre\/agents\/broken\.md.* could not be loaded/,
    );
  });

  it("finds names with spaces", async () => {
    await workspace.write("project/.cadre/agents/x.md", agentFile("Code Reviewer"));
    expect((await agents(["show", "Code", "Reviewer"])).stdout).toMatch(/^Code Reviewer, project/);
  });
});

describe("cadre agents doctor", () => {
  it("is content with the built-in agents, whatever the provider", async () => {
    const local = {
      model: "local/x",
      providers: { local: { type: "openai", baseUrl: "http://127.0.0.1:1/v1" } },
    };
    expect((await agents(["doctor", "--settings", JSON.stringify(local)])).stdout).toContain(" 0 to look at");
    expect(await agents(["doctor"])).toEqual({
      code: 0,
      stdout: "7 agents, 0 to look at, 0 failed\n",
      stderr: "",
    });
  });

  it("reports failed files, unknown fields, tools and models, and what is replaced", async () => {
    await workspace.write("home/.cadre/agents/helper.md", agentFile("helper"));
    await workspace.write(
      "project/.cadre/agents/helper.md",
      agentFile(
        "helper",
        "tools: Read, Grpe, mcp__x__y\ndisallowedTools: Wirte\nmodel: sonet\nflavour: sweet\n",
      ),
    );
    await workspace.write(
      "project/.cadre/agents/foreign.md",
      agentFile("foreign", "tools: codebase, runCommands\n"),
    );
    await workspace.write("project/.cadre/agents/broken.md", "---\ntools: Read\n---\nNo name.\n");
    const { code, stdout } = await agents(["doctor"]);
    expect(code).toBe(1);
    for (const words of [
      "fail  .cadre/agents/broken.md:",
      'there is no tool "Grpe" (did you mean Grep?)',
      'disallowedTools: there is no tool "Wirte" (did you mean Write?), so nothing is taken away',
      'the model "sonet" is no alias that is known (did you mean sonnet?)',
      "none of its tools exists here",
      "the one of user is replaced by that of project (.cadre/agents/helper.md)",
    ])
      expect(stdout).toContain(words);
    expect(stdout).toMatch(/flavour/);
    expect(stdout).not.toContain("mcp__x__y");
    expect(stdout).toMatch(/\n\n9 agents, 1 replaced, \d+ to look at, 1 failed\n$/);
  });

  it("tells of an agent's tools in one finding, and of a bracket that is not closed", async () => {
    await workspace.write(
      "project/.cadre/agents/a.md",
      agentFile("a", "tools: Read, Grpe, TaskGet, Bash(ls:*\n"),
    );
    const { stdout } = await agents(["doctor"]);
    expect(stdout).toContain('there are no tools "Grpe" (did you mean Grep?), "TaskGet"\n');
    expect(stdout).toContain('the bracket of "Bash(ls:*" is not closed');
    expect(stdout).toContain("8 agents, 2 to look at, 0 failed");
  });

  it("tells of a frontmatter without end once", async () => {
    await workspace.write("project/.cadre/agents/a.md", "---\nname: a\ndescription: d\n");
    const { stdout } = await agents(["doctor"]);
    expect(stdout.match(/never closed/g)).toHaveLength(1);
    expect(stdout).toContain("7 agents, 0 to look at, 1 failed");
  });

  it("prints findings as JSON", async () => {
    const file = await workspace.write("project/.cadre/agents/a.md", agentFile("a", "tools: Nope\n"));
    const { code, stdout } = await agents(["doctor", "--json"]);
    expect(code).toBe(0);
    const shown = JSON.parse(stdout);
    expect(shown).toMatchObject({ ok: true, agents: 8 });
    expect(shown.findings).toContainEqual({
      state: "warn",
      kind: "tool",
      agent: "a",
      file,
      message: 'there is no tool "Nope"',
    });
  });

  it.each([
    ["sonnet", false],
    ["inherit", false],
    ["claude-sonnet-5-5", false],
    ["gpt", true],
    ["nowhere/model", true],
  ])("judges the model %s", async (model, isProblem) => {
    await workspace.write("project/.cadre/agents/a.md", agentFile("a", `model: ${model}\n`));
    const { findings } = JSON.parse((await agents(["doctor", "--json"])).stdout);
    expect(findings.some(({ kind }: { kind: string }) => kind === "model")).toBe(isProblem);
  });
});
