/** How an agent comes to be: what the model is shown, which definition is meant, and what the child is given. */
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { ServerPort } from "../../src/agents/agent-host.ts";
import { onCancelled } from "../../src/base/cancellation.ts";
import type { SessionOptions } from "../../src/runtime/session.ts";
import { createManualClock } from "../../src/testing/manual-clock.ts";
import { createScriptedModel } from "../../src/testing/scripted-model.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { agent, calling, type Plays, saying, toolNames, useAgentScene } from "./agent-scene.ts";

const scene = useAgentScene();

const oneChild: Plays = { go: calling(agent("work")), work: saying("the report") };
const started = (type?: string): Plays => ({
  go: calling(agent("work", type === undefined ? {} : { subagent_type: type })),
  work: saying("the report"),
});
const helper = (fields: Record<string, unknown> = {}) => ({
  helper: { description: "helps", prompt: "You help.", ...fields },
});
const named = (name: string) =>
  defineTool({
    name,
    description: `the tool ${name}`,
    input: z.object({}),
    isReadOnly: () => true,
    call: async () => "done",
    toResult: (text) => text,
  });

describe("what the model is shown of Agent", () => {
  const shown = async (options: Parameters<typeof scene.open>[1] = {}) => {
    const { run, model } = scene.open(oneChild, options);
    await run("go");
    const tool = model.requests[0]?.tools.find(({ name }) => name === "Agent");
    const { properties = {} } = (tool?.inputSchema ?? {}) as { properties?: Record<string, unknown> };
    return { names: Object.keys(properties), text: tool?.description ?? "" };
  };

  it("is what has a meaning in this session, and nothing of the rest", async () => {
    const { names } = await shown();
    expect(names).toEqual(
      "description prompt subagent_type model run_in_background name resume max_turns".split(" "),
    );
    const settings = { backgroundTasks: false };
    expect((await shown({ settings })).names).toEqual(
      "description prompt subagent_type model resume max_turns".split(" "),
    );
  });

  it("holds cwd with its setting, and isolation where something can give an agent a place", async () => {
    const settings = { agentCwd: true };
    const place = { name: "place", stage: "place" as const, contribute: async () => undefined };
    expect((await shown({ settings })).names).toContain("cwd");
    expect((await shown({ contributors: [place] })).names).toContain("isolation");
  });

  it("is nothing at all where agents are denied as a whole, by either name, or nested 0 deep", async () => {
    for (const options of [
      { disallowedTools: ["Agent"] },
      { disallowedTools: ["Task"] },
      { settings: { maxAgentDepth: 0 } },
    ]) {
      const { run, model, session } = scene.open(oneChild, options);
      const { results } = await run("go");
      expect(toolNames(model.requests[0])).not.toContain("Agent");
      expect(JSON.stringify(model.requests[0]?.messages)).not.toContain("system-reminder");
      expect(results).toMatchObject([{ isError: true, text: expect.stringContaining("no tool named") }]);
      expect(session.agentNames).toEqual([]);
    }
  });
});

describe("the list of agents", () => {
  const listIn = (text: unknown) =>
    /The agents that the Agent tool can start[\s\S]*/.exec(JSON.stringify(text))?.[0];

  it("stands in the first user message, and is told again only when it has changed", async () => {
    const plays: Plays = { "*": saying("ok"), use: calling(agent("work", { subagent_type: "fresh" })) };
    const { run, session, requestsOf } = scene.open({ ...plays, work: saying("fresh was here") });
    await run("one");
    expect(listIn(session.messages[0]?.content)).toContain("- Explore: ");
    await run("two");
    expect(listIn(session.messages[2]?.content)).toBeUndefined();
    await scene.workspace.write(
      ".cadre/agents/fresh.md",
      "---\nname: fresh\ndescription: new here\n---\nYou are fresh.",
    );
    expect((await run("use")).text).toContain("fresh was here");
    expect(listIn(session.messages[4]?.content)).toContain("- fresh: new here (Tools: All tools)");
    expect(requestsOf("work")[0]?.system).toContain("You are fresh.");
    await run("three");
    expect(listIn(session.messages.at(-2)?.content)).toBeUndefined();
  });

  it("stands in the description where settings want it, and changes the tools when it changes", async () => {
    const { run, session, model } = scene.open({ "*": saying("ok") }, { settings: { agentListIn: "tool" } });
    await run("one");
    const agentTool = () => model.requests.at(-1)?.tools.find(({ name }) => name === "Agent")?.description;
    expect(agentTool()).toContain("- Explore: ");
    expect(listIn(session.messages)).toBeUndefined();
    const before = model.requests[0]?.tools;
    await run("two");
    expect(model.requests[1]?.tools).toEqual(before);
    await scene.workspace.write(".cadre/agents/fresh.md", "---\nname: fresh\ndescription: new here\n---\nx");
    await run("three");
    expect(agentTool()).toContain("- fresh: new here");
  });

  it("is told to an agent that can start others itself, without those that it may not start", async () => {
    const { run, requestsOf } = scene.open(
      { go: calling(agent("work", { subagent_type: "helper" })), work: saying("ok") },
      { settings: { maxAgentDepth: 2 }, agents: helper({ tools: "Read, Agent(Explore)" }) },
    );
    await run("go");
    const list = listIn(requestsOf("work")[0]?.messages);
    expect(list).toContain("- Explore: ");
    expect(list).not.toContain("- general-purpose: ");
  });

  it("leaves out what is denied, what needs servers that are missing, and what settings switch off", async () => {
    const { run, session } = scene.open(
      { "*": saying("ok") },
      {
        disallowedTools: ["Agent(Plan)", "Task(bash)"],
        settings: { enableVerification: false },
        agents: helper({ requiredMcpServers: ["database"] }),
      },
    );
    await run("one");
    const list = listIn(session.messages[0]?.content) ?? "";
    for (const absent of ["Plan", "Bash", "Verification", "helper"])
      expect(list).not.toContain(`- ${absent}:`);
    expect(session.agentNames).toEqual(["Explore", "general-purpose", "guide", "statusline-setup"].sort());
  });
});

describe("which agent is started", () => {
  it("is general-purpose where the call names none, and the one that it names, in any case, where it does", async () => {
    for (const [type, found] of [
      [undefined, "general-purpose"],
      ["", "general-purpose"],
      ["Explore", "Explore"],
      [" explore ", "Explore"],
    ] as const) {
      const { outputs } = await scene.open(started(type)).run("go");
      expect(outputs).toMatchObject([{ status: "completed", agentType: found }]);
    }
  });

  it("is found under the alias Task", async () => {
    const call = { ...agent("work"), name: "Task" };
    const { results } = await scene.open({ ...oneChild, go: calling(call) }).run("go");
    expect(results).toMatchObject([{ isError: false, text: expect.stringContaining("the report") }]);
  });

  it("is none where the name is unknown: the error lists the names there are", async () => {
    const { run, requestsOf } = scene.open(started("nonesuch"));
    const { results } = await run("go");
    expect(results).toMatchObject([{ isError: true }]);
    expect(results[0]?.text).toMatch(/no agent named "nonesuch".*Explore.*general-purpose/);
    expect(requestsOf("work")).toEqual([]);
  });

  it.each([
    ["by its name, denied by a flag", "Explore", { disallowedTools: ["Agent(Explore)"] }],
    ["denied by settings", "Explore", { settings: { permissions: { deny: ["Agent(Explore)"] } } }],
    ["denied under the alias", "Explore", { disallowedTools: ["Task(Explore)"] }],
    ["in another case", "EXPLORE", { disallowedTools: ["Agent(Explore)"] }],
    ["denied in another case", "Explore", { disallowedTools: ["Agent(eXPLORE)"] }],
    ["with blanks around it", "  Explore\n", { disallowedTools: ["Agent(Explore)"] }],
    ["by default", undefined, { disallowedTools: ["Agent(general-purpose)"] }],
    ["by a pattern", "Explore", { disallowedTools: ["Agent(Exp*)"] }],
    [
      "although bypassing",
      "Explore",
      { disallowedTools: ["Agent(Explore)"], dangerouslySkipPermissions: true },
    ],
    [
      "although another rule allows it",
      "Explore",
      { disallowedTools: ["Task(Explore)"], allowedTools: ["Agent"] },
    ],
  ] as [string, string | undefined, Partial<SessionOptions>][])(
    "is none where it is denied: %s",
    async (_how, type, options) => {
      const plays = {
        ...started(type),
        go: calling(agent("work", { subagent_type: type }), {
          ...agent("work", { subagent_type: type }),
          name: "Task",
        }),
      };
      const { run, requestsOf } = scene.open(plays, options);
      const { results } = await run("go");
      expect(results).toHaveLength(2);
      for (const { text, isError } of results) {
        expect(isError).toBe(true);
        expect(text).toMatch(/denied/);
      }
      expect(requestsOf("work")).toEqual([]);
    },
  );

  it("is asked for where an ask rule names it, and only then", async () => {
    const settings = { permissions: { ask: ["Task(Explore)"] } };
    const { run, session } = scene.open(
      { go: calling(agent("work", { subagent_type: "Explore" }), agent("work")), work: saying("the report") },
      { settings },
    );
    const asked: unknown[] = [];
    session.permissions.subscribe((change) => {
      if (change.type !== "question-open") return;
      asked.push(change.question.input.subagent_type);
      void session.permissions.answer(change.question.id, { answer: "no" });
    });
    const { results } = await run("go");
    expect(asked).toEqual(["Explore"]);
    expect(results[0]).toMatchObject({ isError: true });
    expect(results[1]?.text).toContain("the report");
  });
});

describe("required MCP servers", () => {
  const needing = { agents: helper({ requiredMcpServers: ["database"] }) };
  const port = (waitFor: ServerPort["waitFor"]): ServerPort => ({ missing: (patterns) => patterns, waitFor });

  it("are waited for", async () => {
    const waits: number[] = [];
    const servers = port(async (_, { timeoutMs }) => {
      waits.push(timeoutMs);
      return [];
    });
    const { results } = await scene.open(started("helper"), { ...needing, servers }).run("go");
    expect(results[0]).toMatchObject({ isError: false });
    expect(waits).toEqual([30_000]);
  });

  it("fail the start with the names that are missing, and nothing is left of it", async () => {
    const servers = port(async (patterns) => patterns);
    for (const options of [{ ...needing, servers }, needing]) {
      const { run, requestsOf, session } = scene.open(started("helper"), options);
      const { results } = await run("go");
      expect(results[0]).toMatchObject({ isError: true, text: expect.stringMatching(/helper.*database/) });
      expect(requestsOf("work")).toEqual([]);
      expect(session.tasks.list()).toEqual([]);
    }
  });

  it("are not waited for any longer when the run is stopped, though the port ignores it", async () => {
    let heard = false;
    const servers = port((_, { scope }) => {
      onCancelled(scope, () => {
        heard = true;
      });
      session.interrupt();
      return new Promise(() => {});
    });
    // On a clock that stands still nobody else gives up the wait.
    const world = { clock: createManualClock() };
    const { run, session } = scene.open(started("helper"), { ...needing, servers }, { world });
    expect((await run("go")).end.reason).toBe("aborted");
    expect(heard).toBe(true);
  });
});

describe("the depth of agents", () => {
  const deeper: Plays = {
    "0": calling(agent("1")),
    "1": calling(agent("2")),
    "2": calling(agent("3")),
    "3": calling(agent("4")),
    "4": saying("too deep"),
  };

  it.each([1, 2, 3])("ends at the setting %i, counted through the chain", async (most) => {
    const settings = most === 1 ? {} : { maxAgentDepth: most };
    const { run, requestsOf } = scene.open(deeper, { settings });
    await run("0");
    for (const depth of [1, 2, 3, 4]) {
      const [request] = requestsOf(String(depth));
      expect(request !== undefined, `an agent at ${depth}`).toBe(depth <= most);
      if (request) expect(toolNames(request).includes("Agent"), `Agent at ${depth}`).toBe(depth < most);
    }
  });
});

describe("the model of an agent", () => {
  const providers = { a: { type: "anthropic" as const, baseUrl: "http://127.0.0.1:9/" } };
  const models = { a: { opus: "big-1", haiku: "small-1", sonnet: "mid-1" } };
  const open = (
    call: Record<string, unknown>,
    options: { fields?: Record<string, unknown>; subagentModel?: string; env?: string } = {},
  ) => {
    const asked: string[] = [];
    const own = createScriptedModel(["ok"], { id: "other" });
    const main = createScriptedModel(
      [{ calls: [agent("work", { subagent_type: "helper", ...call })] }, "ok", "ok"],
      { id: "big-1" },
    );
    const { run } = scene.open(
      {},
      {
        model: { ...main, provider: "a", stream: main.stream },
        settings: {
          providers,
          models,
          ...(options.subagentModel && { subagentModel: options.subagentModel }),
        },
        agents: helper(options.fields),
        modelNamed: async (name) => {
          asked.push(name);
          return own;
        },
      },
      { world: { env: { PATH: "", ...(options.env && { CADRE_SUBAGENT_MODEL: options.env }) } } },
    );
    return { run, asked, own };
  };

  it("is that of the environment, the call, the definition, the setting, the parent: in this order", async () => {
    const all = { fields: { model: "sonnet" }, subagentModel: "a/set-1", env: "a/env-1" };
    const cases: [Record<string, unknown>, Parameters<typeof open>[1], string[]][] = [
      [{ model: "haiku" }, all, ["a/env-1"]],
      [{ model: "haiku" }, { ...all, env: undefined }, ["a/small-1"]],
      [{}, { ...all, env: undefined }, ["a/mid-1"]],
      [{}, { subagentModel: "a/set-1" }, ["a/set-1"]],
      [{ model: "inherit" }, {}, []],
      [{}, {}, []],
      [{ model: "opus" }, {}, []],
    ];
    for (const [call, options, expected] of cases) {
      const { run, asked, own } = open(call, options);
      const { results } = await run("go");
      expect(results[0]?.isError, JSON.stringify([call, options])).toBe(false);
      expect(asked).toEqual(expected);
      expect(own.requests).toHaveLength(expected.length);
    }
  });

  it("is the session's own in a program that has no other: what a definition would like is told, what a call wants is refused", async () => {
    const start = (call: Record<string, unknown>) => {
      const main = createScriptedModel(
        [{ calls: [agent("work", { subagent_type: "helper", ...call })] }, "done", "ok"],
        { id: "big-1" },
      );
      return scene.open(
        {},
        {
          model: { ...main, provider: "a", stream: main.stream },
          settings: { providers, models },
          agents: helper({ model: "haiku" }),
        },
      );
    };
    const liked = await start({}).run("go");
    expect(liked.results[0]).toMatchObject({ isError: false, text: expect.stringContaining("done") });
    const wanted = await start({ model: "haiku" }).run("go");
    expect(wanted.results[0]).toMatchObject({
      isError: true,
      text: expect.stringContaining("no model but big-1"),
    });
  });

  it("is refused by name when it cannot be had, and nothing is left of the start", async () => {
    const main = createScriptedModel([{ calls: [agent("work", { model: "a/gone" })] }, "ok"], {
      id: "big-1",
    });
    const { run, session } = scene.open(
      {},
      { model: { ...main, provider: "a" }, settings: { providers, models } },
    );
    const { results } = await run("go");
    expect(results[0]).toMatchObject({ isError: true, text: expect.stringContaining("gone") });
    expect(session.tasks.list()).toEqual([]);
  });
});

describe("the tools of an agent", () => {
  const offered = async (fields: Record<string, unknown>, options: Parameters<typeof scene.open>[1] = {}) => {
    const { run, requestsOf } = scene.open(started("helper"), { agents: helper(fields), ...options });
    const { outputs } = await run("go");
    return { tools: toolNames(requestsOf("work")[0]), output: outputs[0] };
  };

  it("are all but those of the main conversation", async () => {
    const tools = [
      named("TaskStop"),
      named("EnterWorktree"),
      named("mcp__db__query"),
      named("ScheduleWakeup"),
    ];
    const all = (await offered({}, { tools })).tools;
    expect(all).toEqual(
      expect.arrayContaining(["Read", "Write", "Edit", "Bash", "TodoWrite", "mcp__db__query"]),
    );
    for (const absent of [
      "TaskStop",
      "AskUserQuestion",
      "EnterPlanMode",
      "ExitPlanMode",
      "EnterWorktree",
      "ScheduleWakeup",
      "Agent",
    ])
      expect(all).not.toContain(absent);
  });

  it("are those that its definition names, less those it takes away; unknown names stand in the metadata", async () => {
    const { tools, output } = await offered(
      { tools: "Read, Grep, mcp__db, Nonesuch", disallowedTools: "Grep" },
      { tools: [named("mcp__db__query")] },
    );
    expect(tools).toEqual(["Read", "mcp__db__query"]);
    expect(output).toMatchObject({ warnings: [expect.stringContaining("Nonesuch")] });
    expect((await offered({ tools: [] })).tools).toEqual([]);
  });

  it("obey the deny rules of the session, also those of MCP servers", async () => {
    const { tools } = await offered(
      {},
      { tools: [named("mcp__db__query")], disallowedTools: ["Bash", "mcp__db"] },
    );
    expect(tools).not.toContain("Bash");
    expect(tools).not.toContain("mcp__db__query");
  });

  it("are joined by contributed ones, which need not be named but can be taken away; an existing name stays", async () => {
    const contributor = {
      name: "servers",
      stage: "start" as const,
      contribute: async () => ({
        tools: [named("mcp__own__a"), named("mcp__own__b"), named("mcp__own__c"), named("Read")],
      }),
    };
    const { tools, output } = await offered(
      { tools: "Read", disallowedTools: "mcp__own__b" },
      { contributors: [contributor], disallowedTools: ["mcp__own__c"] },
    );
    expect(tools).toEqual(["Read", "mcp__own__a"]);
    expect(output).toMatchObject({ warnings: [expect.stringContaining("Read exists already")] });
  });

  it("do not hold the one with which the session gives its answer", async () => {
    const { tools } = await offered({}, { outputSchema: { type: "object", properties: {} } });
    expect(tools).not.toContain("StructuredOutput");
  });
});
