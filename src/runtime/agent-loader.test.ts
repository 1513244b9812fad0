import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LoadedAgents } from "../contracts/agent-definition.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTestWorld } from "../testing/test-world.ts";
import {
  type AgentLoaderOptions,
  agentLoaderFor,
  managedFolder,
  problemsOfDefinitions,
} from "./agent-loader.ts";

let workspace: TempWorkspace;
beforeAll(async () => {
  workspace = await createTempWorkspace();
  await workspace.write("project/README.md", "");
  await workspace.write("home/.cadre/x", "");
});
afterAll(() => workspace.remove());

async function load(
  more: Partial<AgentLoaderOptions> = {},
  env: Record<string, string> = {},
): Promise<LoadedAgents> {
  const world = createTestWorld({ env, homeFolder: join(workspace.path, "home") });
  return await agentLoaderFor({ world, cwd: join(workspace.path, "project"), settings: {}, ...more }).load();
}

const namesIn = ({ activeAgents }: LoadedAgents) => activeAgents.map(({ agentType }) => agentType);
const definition = (prompt: string) => ({ description: `does ${prompt}`, prompt });

describe("agentLoaderFor", () => {
  it("has all built-in agents, unless settings switch them off", async () => {
    const all = namesIn(await load());
    for (const name of ["general-purpose", "Explore", "Plan", "Bash", "Verification", "guide"])
      expect(all).toContain(name);
    const settings = { enableExplorePlan: false, enableVerification: false, enableGuide: false };
    const left = namesIn(await load({ settings }));
    expect(all.filter((name) => !left.includes(name)).sort()).toEqual([
      "Explore",
      "Plan",
      "Verification",
      "guide",
    ]);
  });

  it.each([
    [{ CADRE_ENTRYPOINT: "sdk-ts" }, false],
    [{ CLAUDE_CODE_ENTRYPOINT: "sdk-py" }, false],
    [{ CADRE_ENTRYPOINT: "cli" }, true],
    [{}, true],
  ])("leaves the guide out when an SDK drives: %j", async (env, hasGuide) => {
    expect(namesIn(await load({}, env)).includes("guide")).toBe(hasGuide);
  });

  it("takes definitions from settings and from the flag; the flag wins", async () => {
    const settings = { agents: { mine: definition("user"), other: definition("other") } };
    const loaded = await load({ settings, flag: { mine: definition("flag") } });
    const found = (name: string) => loaded.activeAgents.find(({ agentType }) => agentType === name);
    expect(found("mine")).toMatchObject({ prompt: "flag", source: "flag" });
    expect(found("other")).toMatchObject({ prompt: "other", source: "user" });
    expect(found("other")?.file).toBe(join(workspace.path, "home/.cadre/settings.json"));
  });

  it("replaces a definition of a weaker source as a whole, and mixes no two", async () => {
    const user = { agents: { mine: { ...definition("user"), tools: ["Read"] } } };
    const flag = { agents: { mine: definition("flag") } };
    const loaded = await load({
      settings: { agents: { mine: { ...user.agents.mine, ...flag.agents.mine } } },
      settingsSources: [
        { name: "user", path: "/u", label: "/u", settings: user },
        { name: "flag", path: undefined, label: "--settings", settings: flag },
      ],
    });
    const mine = loaded.activeAgents.find(({ agentType }) => agentType === "mine");
    expect(mine).toMatchObject({ prompt: "flag", source: "flag" });
    expect(mine?.tools).toBeUndefined();
  });

  it("finds plugins beside the user's settings, at home, and where a flag says; trust goes by folder", async () => {
    const agentFile = "---\nname: helper\ndescription: helps\npermissionMode: acceptEdits\n---\nYou help.\n";
    for (const folder of ["home/.cadre/plugins/near", "home/far", "elsewhere/near"])
      await workspace.write(`${folder}/plugin.json`, JSON.stringify({ name: folder.split("/").at(-1) }));
    await workspace.write("home/.cadre/plugins/near/agents/helper.md", agentFile);
    await workspace.write("home/far/agents/helper.md", agentFile);
    await workspace.write("elsewhere/near/agents/other.md", agentFile.replace("helper", "other"));
    const loaded = await load({
      settings: { pluginFolders: ["plugins/near", "~/far"], trustedPlugins: ["near"] },
      pluginFolders: [join(workspace.path, "elsewhere/near")],
    });
    const modes = loaded.activeAgents
      .filter(({ source }) => source === "plugin")
      .map(({ agentType, permissionMode }) => [agentType, permissionMode]);
    expect(modes.sort()).toEqual([
      ["far:helper", undefined],
      ["near:helper", "acceptEdits"],
      ["near:other", undefined],
    ]);
  });
});

describe("problemsOfDefinitions", () => {
  it("tells what settings and the flag lose, by name, and of the flag also what was not taken as written", () => {
    const agents = {
      good: definition("x"),
      lost: { prompt: "p" },
      odd: { ...definition("y"), maxTurns: -1 },
    };
    const world = createTestWorld({ homeFolder: "/home/me" });
    const problems = problemsOfDefinitions({ world, settings: { agents }, flag: agents });
    expect(problems).toEqual([
      expect.stringMatching(/^\/home\/me\/.cadre\/settings.json: agents.lost: .*; it is left out$/),
      expect.stringMatching(/^--agents: agents.lost: .*; it is left out$/),
      expect.stringMatching(/^--agents: agents.odd: `maxTurns` should be/),
    ]);
    expect(problemsOfDefinitions({ world, settings: {} })).toEqual([]);
  });
});

it("reads what is managed from a place that no user can choose", () => {
  expect(managedFolder("linux")).toBe("/etc/cadre");
  expect(managedFolder("darwin")).toBe("/Library/Application Support/Cadre");
});
