import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineTool, type Tool } from "../tools/tool.ts";
import { selectTools, type ToolWishes } from "./select-tools.ts";

const named = (name: string, aliases: readonly string[] = []): Tool =>
  defineTool({
    name,
    aliases,
    description: "",
    input: z.object({}),
    call: async () => "",
    toResult: (text) => text,
  });

const pool = [
  ..."Read Write Edit NotebookEdit Glob Grep Bash WebFetch WebSearch TodoWrite AskUserQuestion EnterPlanMode ExitPlanMode"
    .split(" ")
    .map((name) => named(name)),
  named("Agent", ["Task"]),
  ..."SendMessage TaskOutput TaskStop TaskCreate TaskList TeamCreate TeamDelete EnterWorktree ExitWorktree ScheduleCreate Skill StructuredOutput mcp__db__query mcp__db__write mcp__web__get"
    .split(" ")
    .map((name) => named(name)),
];

type Given = Partial<Omit<ToolWishes, "definition">> & Partial<ToolWishes["definition"]>;

function select({ tools, disallowedTools, source = "project", ...given }: Given = {}) {
  return selectTools({
    pool,
    definition: { source, ...(tools && { tools }), ...(disallowedTools && { disallowedTools }) },
    isBackground: false,
    mode: "default",
    mayStartAgents: false,
    sendMessage: false,
    isHidden: () => false,
    ...given,
  });
}

const namesIn = (given?: Given) => select(given).tools.map((tool) => tool.name);

describe("the tools of an agent", () => {
  it("are all but those of the main conversation, in the order of the pool", () => {
    expect(namesIn().join(" ")).toBe(
      "Read Write Edit NotebookEdit Glob Grep Bash WebFetch WebSearch TodoWrite TaskCreate TaskList Skill StructuredOutput mcp__db__query mcp__db__write mcp__web__get",
    );
  });

  it("of a built-in definition also are those that change where it works, and schedules", () => {
    const more = namesIn({ source: "built-in" }).filter((name) => !namesIn().includes(name));
    expect(more).toEqual(["EnterWorktree", "ExitWorktree", "ScheduleCreate"]);
  });

  it.each<[string, Given, string]>([
    ["ExitPlanMode while it plans", { mode: "plan" }, "ExitPlanMode"],
    ["Agent above the limit of depth", { mayStartAgents: true }, "Agent"],
    ["SendMessage where there is somebody to write to", { sendMessage: true }, "SendMessage"],
    ["SendMessage as a teammate", { isTeammate: true }, "SendMessage"],
  ])("are more by %s", (_, given, name) => {
    expect(namesIn(given).filter((each) => !namesIn().includes(each))).toEqual([name]);
  });

  it("in the background are a short list and those of MCP servers", () => {
    const background = { isBackground: true, mayStartAgents: true, mode: "plan" as const };
    expect(namesIn(background).join(" ")).toBe(
      "Read Write Edit NotebookEdit Glob Grep Bash WebFetch WebSearch TodoWrite Skill StructuredOutput mcp__db__query mcp__db__write mcp__web__get",
    );
    const asTeammate = namesIn({ ...background, isTeammate: true, mayStartAgents: false });
    expect(asTeammate.filter((name) => !namesIn(background).includes(name))).toEqual([
      "SendMessage",
      "TaskCreate",
      "TaskList",
    ]);
  });

  it("in the background are SendMessage, too, where there is somebody to write to", () => {
    const background = namesIn({ isBackground: true });
    const more = namesIn({ isBackground: true, sendMessage: true }).filter(
      (name) => !background.includes(name),
    );
    expect(more).toEqual(["SendMessage"]);
    expect(namesIn({ isBackground: true, sendMessage: true, disallowedTools: ["SendMessage"] })).toEqual(
      background,
    );
  });

  it("never are those that look at tasks and stop them, by whatever name", () => {
    const withAlias = [...pool.filter((tool) => tool.name !== "TaskStop"), named("TaskStop", ["KillShell"])];
    const tools = ["TaskStop", "KillShell", "TaskOutput", "Read"];
    for (const isBackground of [false, true])
      expect(namesIn({ pool: withAlias, tools, isBackground, sendMessage: true })).toEqual(["Read"]);
  });

  it("do not come back by being named", () => {
    const tools = ["AskUserQuestion", "TaskStop", "Agent", "EnterWorktree", "Read"];
    const selected = select({ tools, isBackground: true });
    expect(selected.tools.map((tool) => tool.name)).toEqual(["Read"]);
    expect(selected.unknown).toEqual([]);
  });

  it("are without what the rules of the session deny", () => {
    const isHidden = (name: string) => name === "Bash" || name.startsWith("mcp__db");
    const selected = select({ tools: ["Read", "Bash", "mcp__db"], isHidden });
    expect(selected.tools.map((tool) => tool.name)).toEqual(["Read"]);
    expect(selected.unknown).toEqual([]);
  });
});

describe("a list of tools", () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ["nothing", [], []],
    ["a star means all", ["*"], namesIn()],
    ["a star beside others means all", ["Read", " * "], namesIn()],
    ["names in any order come in the order of the pool", ["Grep", "Read"], ["Read", "Grep"]],
    ["the case of a name does not count", ["bash", "WEBFETCH", " read "], ["Read", "Bash", "WebFetch"]],
    ["a server means its tools", ["mcp__db"], ["mcp__db__query", "mcp__db__write"]],
    ["so does a pattern", ["mcp__db__*"], ["mcp__db__query", "mcp__db__write"]],
    ["one tool of a server", ["mcp__db__query"], ["mcp__db__query"]],
    ["a pattern for some", ["mcp__*__*e*"], ["mcp__db__query", "mcp__db__write", "mcp__web__get"]],
  ])("%s", (_, tools, expected) => {
    expect(select({ tools })).toMatchObject({ unknown: [], denied: [] });
    expect(namesIn({ tools })).toEqual(expected);
  });

  it("tells names that mean nothing, as they were written", () => {
    const tools = ["Read", "bahs", "mcp__other", "mcp__[*", "Bash(git diff", "TodoWrite(x)", "Agent()", ""];
    const selected = select({ tools, mayStartAgents: true });
    expect(selected.unknown).toEqual(tools.slice(1));
    expect(selected.tools.map((tool) => tool.name)).toEqual(["Read"]);
  });

  it("narrows a tool to the rules that stand with it, which add up", () => {
    const tools = [
      "Read",
      "bash(git diff:*)",
      "Bash( npm test )",
      "Edit(./docs/**)",
      "WebFetch(domain:a.org)",
    ];
    expect(select({ tools }).within).toEqual(
      new Map([
        ["Edit", ["Edit(./docs/**)"]],
        ["Bash", ["Bash(git diff:*)", "Bash( npm test )"]],
        ["WebFetch", ["WebFetch(domain:a.org)"]],
      ]),
    );
  });

  it.each([["Bash"], ["bash"], ["Bash(*)"], ["Bash(:*)"], ["*"]])(
    "does not narrow a tool that %s gives as a whole, before or after",
    (whole) => {
      for (const tools of [
        [whole, "Bash(git diff:*)"],
        ["Bash(git diff:*)", whole],
      ]) {
        const selected = select({ tools });
        expect(selected.within.size).toBe(0);
        expect(selected.tools.map((tool) => tool.name)).toContain("Bash");
      }
    },
  );

  it("can say which agents may be started, by either name of the tool", () => {
    const given = { mayStartAgents: true };
    const selected = select({ ...given, tools: ["Agent(Explore, my-plugin:folder:reviewer)", "task(Plan)"] });
    expect(selected.agentTypes).toEqual(["Explore", "my-plugin:folder:reviewer", "Plan"]);
    expect(selected.within.get("Agent")).toEqual([
      "Agent(Explore)",
      "Agent(my-plugin:folder:reviewer)",
      "Agent(Plan)",
    ]);
    expect(select({ ...given, tools: ["Agent(Explore)", "Task"] }).agentTypes).toBeUndefined();
    expect(select({ ...given, tools: ["Agent(my-*)"] }).agentTypes).toBeUndefined();
    expect(select({ tools: ["Agent(Explore)"] }).agentTypes).toBeUndefined();
  });
});

describe("what is disallowed", () => {
  it.each<[string, string, readonly string[]]>([
    ["a name", "Bash", ["Bash"]],
    ["a name in another case", "bAsH", ["Bash"]],
    ["another name of the tool", "Task", ["Agent"]],
    ["a server", "mcp__db", ["mcp__db__query", "mcp__db__write"]],
    ["a pattern", "MCP__DB__*", ["mcp__db__query", "mcp__db__write"]],
    ["a rule for everything", "Bash(*)", ["Bash"]],
    ["a rule that is broken", "Bash(git diff", ["Bash"]],
    ["a rule that the tool can not have", "TodoWrite(x)", ["TodoWrite"]],
  ])("takes away by %s", (_, entry, gone) => {
    const given = { mayStartAgents: true };
    const left = namesIn({ ...given, disallowedTools: [entry] });
    expect(namesIn(given).filter((name) => !left.includes(name))).toEqual(gone);
    expect(namesIn({ ...given, disallowedTools: [entry], tools: ["*", ...gone] })).toEqual(left);
  });

  it("leaves the tool and denies the calls that a rule means", () => {
    const disallowedTools = ["bash(rm:*)", "Read(./secrets/**)", "Task(Explore, Plan)"];
    const selected = select({ disallowedTools, mayStartAgents: true });
    expect(selected.denied).toEqual(["Bash(rm:*)", "Read(./secrets/**)", "Agent(Explore)", "Agent(Plan)"]);
    expect(selected.tools.map((tool) => tool.name)).toEqual(namesIn({ mayStartAgents: true }));
  });

  it("is told where it means nothing, unless it is a tool of other sessions", () => {
    const disallowedTools = ["Bsh", "KillShell", "TaskStop", "mcp__other", "*"];
    const few = pool.filter((tool) => tool.name === "Read");
    expect(select({ pool: few, disallowedTools })).toMatchObject({
      unknown: ["Bsh"],
      tools: [],
    });
  });
});
