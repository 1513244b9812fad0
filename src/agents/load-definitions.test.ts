import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FileSystem } from "../base/world.ts";
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { type AgentLoaderOptions, createAgentLoader } from "./load-definitions.ts";

let workspace: TempWorkspace;
const world = createTestWorld();
const { files } = world;
const at = (path: string) => join(workspace.path, path);

beforeEach(async () => {
  workspace = await createTempWorkspace();
  await workspace.write("project/.git/HEAD", "");
});
afterEach(() => workspace.remove());

const agent = (name: string, prompt = name) => `---\nname: ${name}\ndescription: d\n---\n${prompt}\n`;
const write = (path: string, name: string, prompt = path) => workspace.write(path, agent(name, prompt));

function loaderFor(options: Partial<AgentLoaderOptions> = {}) {
  return createAgentLoader({
    world: { ...world, homeFolder: at("home") },
    cwd: at("project"),
    builtIn: [],
    ...options,
  });
}

const loaded = (options?: Partial<AgentLoaderOptions>) => loaderFor(options).load();

/** `name: prompt` of those that count. */
async function active(options?: Partial<AgentLoaderOptions>): Promise<string[]> {
  return (await loaded(options)).activeAgents.map(({ agentType, prompt }) => `${agentType}: ${prompt}`);
}

const builtIn = (agentType: string): AgentDefinition => ({
  agentType,
  whenToUse: "d",
  prompt: "built in",
  source: "built-in",
});

describe("sources (AD-5)", () => {
  it("replace each other from the built-in ones to the policy", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const json = (from: number, prompt: string) =>
      Object.fromEntries(names.slice(from).map((name) => [name, { description: "d", prompt }]));
    for (const name of names.slice(1)) await write(`home/.claude/agents/${name}.md`, name, "user");
    for (const name of names.slice(2)) await write(`project/.claude/agents/${name}.md`, name, "project");
    await write("policy/agents/f.md", "f", "policy");
    const { activeAgents, allAgents } = await loaded({
      builtIn: names.map(builtIn),
      settings: [
        { source: "user", file: "user.json", agents: json(1, "user settings") },
        { source: "project", file: "project.json", agents: json(3, "project settings") },
      ],
      flag: json(4, "flag"),
      policyFolder: at("policy"),
    });
    expect(
      activeAgents.map(({ agentType, source, prompt }) => `${agentType} ${source} ${String(prompt)}`),
    ).toEqual([
      "a built-in built in",
      "b user user",
      "c project project",
      "d project project",
      "e flag flag",
      "f policy policy",
    ]);
    const ofB = allAgents.filter(({ definition }) => definition.agentType === "b");
    expect(ofB.map(({ definition, replacedBy }) => [definition.prompt, replacedBy?.prompt])).toEqual([
      ["built in", "user"],
      ["user settings", "user"],
      ["user", undefined],
    ]);
  });

  it("prefer .cadre to .claude, and the nearest folder", async () => {
    await write("home/.claude/agents/a.md", "a", "claude");
    await write("home/.cadre/agents/a.md", "a", "cadre");
    await write("project/.cadre/agents/b.md", "b", "root");
    await write("project/deep/.claude/agents/b.md", "b", "near");
    await write("project/deep/.claude/agents/c.md", "c", "claude");
    await write("project/deep/.cadre/agents/c.md", "c", "cadre");
    expect(await active({ cwd: at("project/deep/er") })).toEqual(["a: cadre", "b: near", "c: cadre"]);
  });

  it("end at the root of the repository, and without one at the current folder", async () => {
    await write(".claude/agents/out.md", "out");
    await write("loose/.claude/agents/up.md", "up");
    await write("loose/in/.claude/agents/in.md", "in", "in");
    expect(await active({ cwd: at("project/src") })).toEqual([]);
    expect(await active({ cwd: at("loose/in") })).toEqual(["in: in"]);
  });

  it("count once when one folder is both the user's and the project's", async () => {
    await write("home/.claude/agents/a.md", "a", "x");
    const { allAgents } = await loaded({ cwd: at("home") });
    expect(allAgents.map(({ definition }) => definition.source)).toEqual(["user"]);
  });

  it("are read recursively, and subfolders are no part of the name", async () => {
    await write("project/.claude/agents/x/y/a.md", "a", "deep");
    await write("project/.claude/agents/b.md", "b", "flat");
    await write("project/.claude/agents/x/b.md", "b", "deep");
    await write("project/.claude/agents/.hidden/c.md", "c");
    await workspace.write("project/.claude/agents/notes.txt", "not an agent");
    expect(await active()).toEqual(["a: deep", "b: flat"]);
  });

  it("of a program count as flags", async () => {
    const { activeAgents } = await loaded({
      library: [builtIn("a")],
      flag: { a: { description: "d", prompt: "flag" } },
    });
    expect(activeAgents).toMatchObject([{ agentType: "a", source: "flag", prompt: "built in" }]);
  });

  it("stand in an order that does not depend on the disk", async () => {
    for (const name of ["b", "Z", "ä", "a"]) await write(`project/.claude/agents/${name}1.md`, name, "p");
    await write("home/.claude/agents/z.md", "z", "u");
    expect(await active({ builtIn: [builtIn("y"), builtIn("x")] })).toEqual([
      "x: built in",
      "y: built in",
      "z: u",
      "Z: p",
      "a: p",
      "b: p",
      "ä: p",
    ]);
  });
});

describe("what is broken", () => {
  it("stops nothing else", async () => {
    await workspace.write("project/.claude/agents/README.md", "# About\n");
    await workspace.write("project/.claude/agents/big.md", agent("big", "x".repeat(1024 * 1024)));
    await workspace.write("project/.claude/agents/bytes.md", new Uint8Array([0, 255, 254, 10]));
    await write("project/.claude/agents/good.md", "good", "g");
    const { activeAgents, failedFiles } = await loaded({
      flag: { bad: 5, fine: { description: "d", prompt: "p" } },
    });
    expect(activeAgents.map(({ agentType }) => agentType)).toEqual(["good", "fine"]);
    expect(failedFiles).toEqual([
      { file: "--agents", line: 1, reason: expect.stringContaining("agents.bad") },
      {
        file: at("project/.claude/agents/README.md"),
        line: 1,
        reason: expect.stringContaining("no frontmatter"),
      },
      { file: at("project/.claude/agents/big.md"), line: 1, reason: expect.stringContaining("1 MB") },
      {
        file: at("project/.claude/agents/bytes.md"),
        line: 1,
        reason: expect.stringContaining("no frontmatter"),
      },
    ]);
  });

  it("and mended is told with file and line (rule 9)", async () => {
    const file = await workspace.write(
      "project/.claude/agents/a.md",
      "---\nname: a\ndescription: b: c\n---\n",
    );
    expect((await loaded()).repairs).toContainEqual({
      file,
      line: 3,
      what: expect.stringContaining("`description`"),
    });
  });

  it("as a folder is reported", async () => {
    const blocked: FileSystem = {
      ...files,
      readFolder: (path) =>
        path.endsWith("closed")
          ? Promise.reject(Object.assign(new Error("no"), { code: "EACCES" }))
          : files.readFolder(path),
    };
    await write("project/.claude/agents/closed/a.md", "a");
    await write("project/.claude/agents/b.md", "b");
    await workspace.write("home/.claude/agents", "not a folder");
    const { activeAgents, failedFiles } = await loaded({
      world: { ...world, homeFolder: at("home"), files: blocked },
    });
    expect(activeAgents.map(({ agentType }) => agentType)).toEqual(["b"]);
    expect(failedFiles.map(({ file }) => file)).toEqual([
      at("home/.claude/agents"),
      at("project/.claude/agents/closed"),
    ]);
  });

  it("as a link is reported, and links in circles end", async () => {
    await write("project/.claude/agents/sub/a.md", "a", "x");
    await files.symlink("..", at("project/.claude/agents/sub/up"));
    await files.symlink("loop.md", at("project/.claude/agents/loop.md"));
    await files.symlink("nowhere.md", at("project/.claude/agents/gone.md"));
    await files.symlink("sub/a.md", at("project/.claude/agents/same.md"));
    const { allAgents, failedFiles } = await loaded();
    expect(allAgents).toHaveLength(1);
    expect(failedFiles.map(({ file }) => file)).toEqual([
      at("project/.claude/agents/gone.md"),
      at("project/.claude/agents/loop.md"),
    ]);
  });

  it("leaves a link to a shared folder working", async () => {
    await write("shared/a.md", "a", "x");
    await files.makeFolder(at("home/.claude"), { recursive: true });
    await files.symlink(at("shared"), at("home/.claude/agents"));
    expect(await active()).toEqual(["a: x"]);
  });
});

describe("a loader that is asked again (AD-6)", () => {
  it("sees what was added, changed, replaced and removed", async () => {
    const loader = loaderFor();
    const now = async () => (await loader.load()).activeAgents.map(({ prompt }) => prompt);
    expect(await now()).toEqual([]);
    await write("project/.claude/agents/a.md", "a", "one");
    expect(await now()).toEqual(["one"]);
    await write("project/.claude/agents/a.md", "a", "two");
    expect(await now()).toEqual(["two"]);
    await write("project/.claude/agents/other.md", "a", "six");
    await files.rename(at("project/.claude/agents/other.md"), at("project/.claude/agents/a.md"));
    expect(await now()).toEqual(["six"]);
    await workspace.write("project/.claude/agents/a.md", "broken");
    expect(await now()).toEqual([]);
    await write("project/.claude/agents/b/c.md", "c", "ten");
    expect(await now()).toEqual(["ten"]);
    await files.remove(at("project/.claude"), { recursive: true });
    expect(await now()).toEqual([]);
  });

  it("sees a change without a clock too", async () => {
    await write("project/.claude/agents/a.md", "a", "one");
    const loader = loaderFor({ world: { homeFolder: at("home"), files } });
    await loader.load();
    await write("project/.claude/agents/a.md", "a", "another");
    expect((await loader.load()).activeAgents).toMatchObject([{ prompt: "another" }]);
  });

  it("gives the same answer, and reads nothing, while nothing changes", async () => {
    const path = await write("project/.claude/agents/a.md", "a");
    const { mtimeMs } = await files.stat(path);
    let opened = 0;
    const counting: FileSystem = {
      ...files,
      open(...given) {
        opened++;
        return files.open(...given);
      },
    };
    // Long after the file was written.
    const clock = { ...world.clock, now: () => mtimeMs + 60_000 };
    const loader = loaderFor({ world: { homeFolder: at("home"), files: counting, clock } });
    const first = await loader.load();
    expect(await loader.load()).toBe(first);
    expect(opened).toBe(1);
  });

  it("sees a change that left size and time as they were, just after the file was written", async () => {
    const path = await write("project/.claude/agents/a.md", "a", "one");
    const { mtimeMs } = await files.stat(path);
    // A disk whose clock stands still.
    const coarse: FileSystem = {
      ...files,
      async stat(of) {
        return { ...(await files.stat(of)), mtimeMs };
      },
      async open(...given) {
        const handle = await files.open(...given);
        return { ...handle, stat: async () => ({ ...(await handle.stat()), mtimeMs }) };
      },
    };
    const clock = { ...world.clock, now: () => mtimeMs + 5 };
    const loader = loaderFor({ world: { homeFolder: at("home"), files: coarse, clock } });
    const first = await loader.load();
    expect(await loader.load()).toBe(first);
    await write("project/.claude/agents/a.md", "a", "two");
    expect((await loader.load()).activeAgents).toMatchObject([{ prompt: "two" }]);
  });

  it("shares one look among all who ask at one moment, and never one that began before", async () => {
    let looks = 0;
    const counting: FileSystem = {
      ...files,
      readFolder(path) {
        looks++;
        return files.readFolder(path);
      },
    };
    await write("project/.claude/agents/a.md", "a", "one");
    const loader = loaderFor({ world: { homeFolder: at("home"), files: counting } });
    const answers = await Promise.all(Array.from({ length: 100 }, () => loader.load()));
    expect(new Set(answers).size).toBe(1);
    expect(looks).toBe(1);
    const before = loader.load();
    await Promise.resolve();
    await write("project/.claude/agents/b.md", "b", "two");
    expect((await loader.load()).activeAgents).toHaveLength(2);
    await before;
  });
});

describe("a plugin (AD-7, EX-8)", () => {
  const plugin = (folder = "plugin", trusted = false) => ({ plugins: [{ folder: at(folder), trusted }] });
  const manifest = (content: object, path = "plugin/plugin.json") =>
    workspace.write(path, JSON.stringify(content));

  it("has agents in its folder, with subfolders in their names, and those of its manifest, each once", async () => {
    await manifest(
      { name: "kit", agents: ["./agents/review/deep/b.md", "./more", "extra.md", "./agents"] },
      "plugin/.claude-plugin/plugin.json",
    );
    await write("plugin/agents/a.md", "a", "1");
    await write("plugin/agents/review/deep/b.md", "b", "2");
    await write("plugin/more/sub/c.md", "c", "3");
    await write("plugin/extra.md", "d", "4");
    expect(await active(plugin())).toEqual(["kit:a: 1", "kit:d: 4", "kit:review:deep:b: 2", "kit:sub:c: 3"]);
    expect((await loaded(plugin())).failedFiles).toEqual([]);
  });

  it("names its agents by their files, and may name one path", async () => {
    await manifest({ name: "kit", agents: "./one.md" });
    await workspace.write("plugin/one.md", "---\nmodel: haiku\n---\nx");
    expect((await loaded(plugin())).activeAgents).toMatchObject([
      { agentType: "kit:one", source: "plugin", plugin: "kit", file: at("plugin/one.md") },
    ]);
  });

  it("cannot be left, neither by dots nor by links", async () => {
    await write("secret/x.md", "x");
    await manifest({ name: "kit", agents: ["../secret/x.md", at("secret"), "./linked.md", "./gone.md", 5] });
    await write("plugin/agents/ok.md", "ok", "1");
    await files.symlink(at("secret/x.md"), at("plugin/linked.md"));
    await files.symlink(at("secret"), at("plugin/agents/out"));
    await files.symlink(at("secret/x.md"), at("plugin/agents/y.md"));
    const { activeAgents, failedFiles } = await loaded(plugin());
    expect(activeAgents.map(({ agentType }) => agentType)).toEqual(["kit:ok"]);
    expect(failedFiles.map(({ reason }) => reason)).toEqual([
      "it leads out of the plugin",
      "it leads out of the plugin",
      '"agents" should be a path or a list of paths',
      'agents: "../secret/x.md" leads out of the plugin',
      `agents: "${at("secret")}" leads out of the plugin`,
      'agents: "./linked.md" leads out of the plugin',
      'agents: "./gone.md" does not exist',
    ]);
  });

  it("may be reached by a link itself", async () => {
    await manifest({ name: "kit" });
    await write("plugin/agents/a.md", "a", "1");
    await files.symlink(at("plugin"), at("link"));
    expect(await active(plugin("link"))).toEqual(["kit:a: 1"]);
  });

  it.each([
    ["is not there", undefined, "no such plugin"],
    ["has no manifest", { "plugin/agents/a.md": agent("a") }, "no plugin.json"],
    ["has a manifest that is no JSON", { "plugin/plugin.json": "{" }, "not valid JSON"],
    ["has no name", { "plugin/plugin.json": "{}" }, "name"],
    ["has a name with a colon", { "plugin/plugin.json": '{"name":"a:b"}' }, "parts names"],
  ])("that %s is told, and breaks nothing else", async (_, content, reason) => {
    for (const [path, text] of Object.entries(content ?? {})) await workspace.write(path, text);
    await manifest({ name: "good" }, "good/plugin.json");
    await write("good/agents/a.md", "a", "1");
    const plugins = ["plugin", "good"].map((folder) => ({ folder: at(folder), trusted: false }));
    const { activeAgents, failedFiles } = await loaded({ plugins });
    expect(activeAgents.map(({ agentType }) => agentType)).toEqual(["good:a"]);
    expect(failedFiles).toMatchObject([{ reason: expect.stringContaining(reason) }]);
  });

  it("brings hooks only with the user's trust, and a changed manifest is seen", async () => {
    await manifest({ name: "kit" });
    await workspace.write("plugin/agents/a.md", "---\nname: a\nhooks: { Stop: [] }\n---\nx");
    expect((await loaded(plugin())).activeAgents[0]).not.toHaveProperty("hooks");
    const loader = loaderFor(plugin("plugin", true));
    expect((await loader.load()).activeAgents[0]).toHaveProperty("hooks");
    await manifest({ name: "renamed" });
    expect((await loader.load()).activeAgents).toMatchObject([{ agentType: "renamed:a" }]);
  });
});
