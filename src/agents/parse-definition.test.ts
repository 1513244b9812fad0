import { describe, expect, it } from "vitest";
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import {
  type DefinitionOrigin,
  type PluginOrigin,
  parseAgentFile,
  parseJsonDefinition,
} from "./parse-definition.ts";

const origin: DefinitionOrigin = { source: "user", file: "/agents/a.md" };

async function parse(frontmatter: string, given: Partial<DefinitionOrigin> = {}) {
  const parsed = await parseAgentFile(`---\n${frontmatter}\n---\nThe prompt.\n`, { ...origin, ...given });
  return { ...parsed, messages: parsed.repairs.map(({ line, what }) => `${line}: ${what}`) };
}

/** With a name and a description in lines 2 and 3. */
const parseField = (field: string, given?: Partial<DefinitionOrigin>) =>
  parse(`name: a\ndescription: b\n${field}`, given);

const plugin: PluginOrigin = { name: "tools", trusted: false, folders: [], defaultName: "the-file" };

describe("a definition in a file", () => {
  it("has all that the table names", async () => {
    const { definition, repairs } = await parse(`name: reviewer
description: When code is to be reviewed
tools: Read, Bash(git diff:*), Agent(Explore, Plan)
disallowedTools: [Write, Edit]
model: claude-opus-4-1
effort: high
permissionMode: acceptEdits
background: true
isolation: worktree
maxTurns: 12
budget: { turns: 5, tokens: 1000, usd: 0.5, minutes: 2.5 }
color: "#8B5CF6"
memory: project
mcpServers: [github, { name: own, command: run }, { other: { url: "http://x" } }]
requiredMcpServers: git*
hooks:
  Stop:
    - command: echo
skills: one, two
initialPrompt: Begin.
criticalSystemReminder: Only read.`);
    expect(repairs).toEqual([]);
    expect(definition).toEqual({
      agentType: "reviewer",
      whenToUse: "When code is to be reviewed",
      prompt: "The prompt.",
      tools: ["Read", "Bash(git diff:*)", "Agent(Explore, Plan)"],
      disallowedTools: ["Write", "Edit"],
      model: "claude-opus-4-1",
      effort: "high",
      permissionMode: "acceptEdits",
      background: true,
      isolation: "worktree",
      maxTurns: 12,
      budget: { turns: 5, tokens: 1000, usd: 0.5, minutes: 2.5 },
      color: "#8B5CF6",
      memory: "project",
      mcpServers: ["github", { name: "own", command: "run" }, { name: "other", url: "http://x" }],
      requiredMcpServers: ["git*"],
      hooks: { Stop: [{ command: "echo" }] },
      skills: ["one", "two"],
      initialPrompt: "Begin.",
      criticalReminder: "Only read.",
      source: "user",
      file: "/agents/a.md",
    } satisfies AgentDefinition);
  });

  it("holds nothing that was not said", async () => {
    const { definition } = await parse("name: a\nwhen-to-use: b");
    expect(Object.keys(definition ?? {})).toEqual(["agentType", "whenToUse", "prompt", "source", "file"]);
  });

  it.each([
    ["a map by name", "mcpServers: { github: null, own: { command: run } }"],
    ["a list of one-key maps", "mcpServers:\n  - github\n  - own: { command: run }"],
  ])("takes its servers from %s", async (_, field) => {
    expect((await parseField(field)).definition?.mcpServers).toEqual([
      "github",
      { name: "own", command: "run" },
    ]);
  });

  it("that goes on with the conversation keeps the model of it", async () => {
    const { definition, messages } = await parseField("model: haiku\nforkContext: true");
    expect(definition).toMatchObject({ model: "inherit", forkContext: true });
    expect(messages).toEqual([expect.stringMatching(/^4: .*inherit/)]);
  });
});

describe("tools (rule 5)", () => {
  it.each([
    ["absent", ""],
    ["null", "tools:"],
    ["a star", "tools: *"],
    ["a star in quotes", 'tools: "*"'],
    ["a star in a list", 'tools: ["*"]'],
  ])("are all if %s", async (_, field) => {
    const { definition } = await parseField(field);
    expect(definition?.agentType).toBe("a");
    expect(definition?.tools).toBeUndefined();
  });

  it.each([
    ["an empty list", "tools: []", []],
    ["an empty text", 'tools: ""', []],
    ["a row of words", "tools: Read Grep mcp__x__y", ["Read", "Grep", "mcp__x__y"]],
    ["lines", "tools: |\n  Read\n  Grep", ["Read", "Grep"]],
    ["a list that is not closed", "tools: [Read, Grep", ["Read", "Grep"]],
    [
      "a star that YAML takes for an alias",
      "tools:\n  - Read\n  - Bash(git log: *)",
      ["Read", "Bash(git log: *)"],
    ],
    ["switches", "tools: { Read: true, Bash: false }", ["Read"]],
    ["a name that is no name", "tools: all tools", ["all tools"]],
  ])("are read from %s", async (_, field, tools) => {
    expect((await parseField(field)).definition?.tools).toEqual(tools);
  });

  const unreadable = "name: a\ndescription: b\n<example>\n";

  it("of a block that could not be read reliably are none rather than all", async () => {
    for (const block of [unreadable, `${unreadable}tools: *`, `${unreadable}  tools: Read`]) {
      const { definition, messages } = await parse(block);
      expect(definition?.tools).toEqual([]);
      expect(messages).toContainEqual(expect.stringContaining("the agent gets none"));
    }
  });

  it("of such a block that names them are those", async () => {
    expect((await parse(`${unreadable}tools: Read, Grep`)).definition?.tools).toEqual(["Read", "Grep"]);
  });

  it("that are there twice in such a block are none", async () => {
    expect((await parse(`${unreadable}tools: Read\ntools: Bash`)).definition?.tools).toEqual([]);
  });

  it("under the name that skills use are taken, with a warning (rule 7)", async () => {
    for (const key of ["allowed-tools", "allowed_tools", "allowedTools"]) {
      const { definition, messages } = await parseField(`${key}: Read Bash(git diff:*)`);
      expect(definition?.tools).toEqual(["Read", "Bash(git diff:*)"]);
      expect(messages).toEqual([expect.stringMatching(/^4: .*skills/)]);
    }
  });

  it("that do not exist are kept and reported (rule 7)", async () => {
    const { definition, messages } = await parseField("tools: Read, read_file, Bash(ls), mcp__a__b", {
      toolNames: new Set(["Read", "Bash"]),
    });
    expect(definition?.tools).toEqual(["Read", "read_file", "Bash(ls)", "mcp__a__b"]);
    expect(messages).toEqual(["4: there are no such tools here: read_file"]);
  });
});

describe("scalars (rule 6)", () => {
  it("become the text that was written", async () => {
    const { definition } = await parse("name: 007\ndescription: 1.10\nmodel: 4.0\ncolor: true");
    expect(definition).toMatchObject({ agentType: "007", whenToUse: "1.10", model: "4.0", color: "true" });
  });

  it.each([
    ["plain", "description: one\\n\\ntwo"],
    ["mended", "description: It is: one\\n\\ntwo"],
    ["a block", "description: |\n  one\\n\\ntwo"],
  ])("have line ends where an unquoted description (%s) writes them", async (_, field) => {
    expect((await parse(`name: a\n${field}`)).definition?.whenToUse).toMatch(/one\n\ntwo$/);
  });

  it("in single quotes keep their backslashes", async () => {
    expect((await parse("name: a\ndescription: 'one\\ntwo'")).definition?.whenToUse).toBe("one\\ntwo");
  });

  it("that were meant as text become their source", async () => {
    expect((await parse("name: a\ndescription: [WIP]")).definition?.whenToUse).toBe("[WIP]");
    expect((await parse("name: a\ndescription:\n  Use: often")).definition?.whenToUse).toBe("Use: often");
  });
});

describe("names (rule 8)", () => {
  it.each([
    ["spaces", "name: Code Reviewer", "Code Reviewer"],
    ["a quote that is not closed", 'name: "reviewer', "reviewer"],
    ["quotes of print", "name: “reviewer”", "reviewer"],
    ["lines", "name: >\n  code\n  reviewer", "code reviewer"],
    ["another spelling", "Name: reviewer", "reviewer"],
  ])("work with %s", async (_, field, name) => {
    expect((await parse(`${field}\ndescription: b`)).definition?.agentType).toBe(name);
  });

  it.each(["name: a:b", "name: -a", "name: '--help'"])("are refused: %s", async (field) => {
    const { definition, failure } = await parse(`description: b\n${field}`);
    expect(definition).toBeUndefined();
    expect(failure).toMatchObject({ line: 3, what: expect.stringContaining("the name") });
  });

  it("of a plugin's agents are put behind that of the plugin and the folders", async () => {
    const inFolder = { ...plugin, folders: ["review", "deep"] };
    const { definition } = await parse("name: a\ndescription: b", { source: "plugin", plugin: inFolder });
    expect(definition).toMatchObject({ agentType: "tools:review:deep:a", plugin: "tools", source: "plugin" });
  });

  it("of a plugin's agents are those of the file, if they have none", async () => {
    const { definition } = await parse("model: haiku", { plugin });
    expect(definition).toMatchObject({
      agentType: "tools:the-file",
      whenToUse: expect.stringContaining("tools"),
    });
  });
});

describe("what a plugin brings along", () => {
  const grants = "permissionMode: plan\nmcpServers: [x]\nhooks: { Stop: [] }";

  it("is ignored with a warning", async () => {
    const { definition, messages } = await parseField(grants, { plugin });
    expect(definition).not.toHaveProperty("permissionMode");
    expect(definition).not.toHaveProperty("mcpServers");
    expect(definition).not.toHaveProperty("hooks");
    expect(definition).not.toHaveProperty("unknownFields");
    expect(messages.map((message) => message.slice(0, 2))).toEqual(["4:", "5:", "6:"]);
  });

  it("counts if the user trusts it", async () => {
    const { definition, messages } = await parseField(grants, { plugin: { ...plugin, trusted: true } });
    expect(definition).toMatchObject({ permissionMode: "plan", mcpServers: ["x"], hooks: { Stop: [] } });
    expect(messages).toEqual([]);
  });
});

describe("what is wrong", () => {
  it.each([
    "effort: ultra",
    "permissionMode: root",
    "background: sometimes",
    "isolation: container",
    "maxTurns: 0",
    "maxTurns: many",
    "maxTurns: 1.5",
    "memory: yes",
    "model: [a]",
    "budget: 5",
    "hooks: none",
    "mcpServers: 5",
  ])("falls back with a warning: %s", async (field) => {
    const key = field.split(":", 1)[0] ?? "";
    const { definition, messages } = await parseField(field);
    expect(definition).toMatchObject({ agentType: "a" });
    expect(definition).not.toHaveProperty(key);
    expect(messages).toEqual([expect.stringMatching(`^4: \`${key}\``)]);
  });

  it("in a part of a budget leaves the others", async () => {
    const { definition, messages } = await parseField("budget: { turns: -1, usd: 2, cows: 3 }");
    expect(definition?.budget).toEqual({ usd: 2 });
    expect(messages).toHaveLength(2);
  });

  it("is not what only looks like it", async () => {
    const { definition, messages } = await parseField('maxTurns: "7"\neffort: 2000\nbackground: yes');
    expect(definition).toMatchObject({ maxTurns: 7, effort: 2000, background: true });
    expect(messages).toEqual([]);
  });

  it("and unknown is kept and reported", async () => {
    const { definition, messages } = await parseField("category: x\nmetadata: { a: 1 }");
    expect(definition?.unknownFields).toEqual({ category: "x", metadata: { a: 1 } });
    expect(messages.map((message) => message.slice(0, 2))).toEqual(["4:", "5:"]);
  });

  it.each([
    ["no name", "---\ndescription: b\n---\nx", "`name`"],
    ["an empty name", "---\nname: ''\ndescription: b\n---\nx", "`name`"],
    ["no description", "---\nname: a\n---\nx", "`description`"],
    ["no frontmatter", "# About these agents\n", "no frontmatter"],
    ["a fence that is not closed", "---\nname: a\ndescription: b\n", "never closed"],
    ["nothing", "", "no frontmatter"],
  ])("fails a file with %s, and says so", async (_, file, reason) => {
    const { definition, failure } = await parseAgentFile(file, origin);
    expect(definition).toBeUndefined();
    expect(failure?.what).toContain(reason);
  });

  it("fails a plugin's file without frontmatter too: nothing says that it is an agent", async () => {
    expect((await parseAgentFile("# Read me\n", { ...origin, plugin })).definition).toBeUndefined();
  });
});

describe("a definition in JSON", () => {
  it("has the same fields, and its prompt", () => {
    const entry = { description: "b\\n", prompt: "Do it.", tools: ["Read"], maxTurns: 3, name: "other" };
    expect(parseJsonDefinition("a b", entry, { source: "flag", file: "--agents" })).toEqual({
      file: "--agents",
      repairs: [],
      definition: {
        agentType: "a b",
        whenToUse: "b\\n",
        prompt: "Do it.",
        tools: ["Read"],
        maxTurns: 3,
        source: "flag",
        file: "--agents",
      },
    });
  });

  it.each([
    ["no object", 5],
    ["a list", []],
    ["no description", { prompt: "x" }],
  ])("with %s is told by its name", (_, entry) => {
    expect(parseJsonDefinition("bad", entry, origin)).toMatchObject({
      failure: { what: expect.stringMatching(/^agents\.bad: /) },
    });
  });

  it("reaches no prototype", () => {
    const entry: unknown = JSON.parse(
      '{"description":"b","prompt":"c","__proto__":{"tools":["x"]},"hooks":{"__proto__":{"y":1}}}',
    );
    const { definition } = parseJsonDefinition("__proto__", entry, origin);
    expect(definition?.agentType).toBe("__proto__");
    expect(definition?.tools).toBeUndefined();
    expect(Object.keys(definition?.hooks ?? {})).toEqual([]);
    expect(Object.getPrototypeOf(definition?.hooks)).toBeNull();
  });
});
