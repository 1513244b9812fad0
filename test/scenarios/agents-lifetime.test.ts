/** From the first step of a start to the last of the clean-up (SP-18, SP-19), and other ways to start. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { AgentRoute, Contribution, Contributor } from "../../src/agents/agent-host.ts";
import { createNodeWorld } from "../../src/base/world/node-world.ts";
import type { Model } from "../../src/model/model.ts";
import { ModelError } from "../../src/model/model-error.ts";
import type { SessionOptions } from "../../src/runtime/session.ts";
import { createScriptedModel } from "../../src/testing/scripted-model.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { agent, calling, type Plays, saying, toolNames, useAgentScene } from "./agent-scene.ts";

const scene = useAgentScene();

const helper = (fields: Record<string, unknown> = {}) => ({
  helper: { description: "helps", prompt: "You help.", ...fields },
});
const child = { subagent_type: "helper" };
const oneChild: Plays = { go: calling(agent("work", child)), work: saying("the report") };
const open = (plays: Plays = oneChild, options: Partial<SessionOptions> = {}) =>
  scene.open(plays, { agents: helper(), ...options });
const _look = { name: "Glob", input: { pattern: "*" } };
const plain = (name: string, run: () => Promise<string> = async () => name) =>
  defineTool({
    name,
    description: name,
    input: z.object({}),
    isReadOnly: () => true,
    call: run,
    toResult: (text) => text,
  });

/** Writes down what happens, and fails where the test wants it. */
function recording(fails?: string): { log: string[]; contributors: Contributor[] } {
  const log: string[] = [];
  const contributor = (name: string, stage: Contributor["stage"]): Contributor => ({
    name,
    stage,
    async contribute({ agentId, prompt }): Promise<Contribution> {
      log.push(`${name} ${prompt} ${agentId.length > 10}`);
      if (fails === name) throw new Error(`${name} broke`);
      return {
        release() {
          log.push(`${name} released`);
          if (fails === `${name} release`) throw new Error(`${name} would not go`);
        },
      };
    },
  });
  return {
    log,
    contributors: [
      contributor("hooks", "start"),
      contributor("worktree", "place"),
      contributor("servers", "start"),
    ],
  };
}

describe("the start of an agent", () => {
  it("asks contributors by stage, then in their order, and releases them backwards", async () => {
    const { log, contributors } = recording();
    await open(oneChild, { contributors }).run("go");
    expect(log).toEqual([
      "worktree work true",
      "hooks work true",
      "servers work true",
      "servers released",
      "hooks released",
      "worktree released",
    ]);
  });

  it.each(["worktree", "hooks", "servers"])(
    "undoes everything, slot and task too, when %s fails",
    async (fails) => {
      const { log, contributors } = recording(fails);
      const tasks: string[] = [];
      const plays: Plays = { ...oneChild, again: calling(agent("work", child)) };
      const { run, session, requestsOf } = open(plays, { contributors, settings: { maxLiveAgents: 1 } });
      session.tasks.onChange(({ type, task }) => tasks.push(`${type} ${task.status}`));
      const { results } = await run("go");
      expect(results[0]).toMatchObject({ isError: true, text: expect.stringContaining(`${fails} broke`) });
      const begun = log.filter((line) => line.endsWith("true")).map((line) => line.split(" ")[0] ?? "");
      const released = log
        .filter((line) => line.endsWith("released"))
        .map((line) => line.split(" ")[0] ?? "");
      expect(released).toEqual(begun.slice(0, -1).reverse());
      expect(requestsOf("work")).toEqual([]);
      expect(session.tasks.list()).toEqual([]);
      expect(tasks).toEqual(
        fails === "worktree"
          ? []
          : ["task-start running", "task-update running", "task-end failed", "task-remove failed"],
      );
      // The only slot there is was given back.
      expect((await run("again")).results[0]?.text).toContain("broke");
    },
  );

  it("takes from a contributor its prompt, context, tools, hooks, folder and place", async () => {
    const place = await scene.home
      .write("place/a.txt", "in the place")
      .then((path) => path.replace("/a.txt", ""));
    const own = await scene.home.write("own/a.txt", "mine").then((path) => path.replace("/a.txt", ""));
    const ends: string[] = [];
    const hook = (name: string, word?: string) => ({
      beforeEnd: async () => {
        ends.push(name);
        return word !== undefined && ends.length < 3 ? { goOn: word } : undefined;
      },
    });
    const contributors: Contributor[] = [
      { name: "place", stage: "place", contribute: async () => ({ cwd: place }) },
      {
        name: "all",
        stage: "start",
        contribute: async ({ cwd }) => ({
          systemPrompt: `Added for ${cwd}.`,
          context: [{ type: "text", text: "know this" }],
          tools: [plain("mcp__own__tool")],
          ownFolders: [own],
          hooks: hook("first"),
        }),
      },
      { name: "more", stage: "start", contribute: async () => ({ hooks: hook("second", "not yet") }) },
    ];
    const texts: string[] = [];
    const plays: Plays = {
      go: calling(agent("work", child)),
      *"know this\n\nwork"() {
        texts.splice(0);
        const write = { name: "Write", input: { file_path: `${own}/b.txt`, content: "b" } };
        for (const call of [{ name: "Read", input: { file_path: "a.txt" } }, write])
          texts.push(...(yield { calls: [call] }).map(({ text }) => text));
        yield "done?";
        return "done.";
      },
    };
    const { run, requestsOf } = open(plays, { contributors });
    const { results } = await run("go");
    const [request] = requestsOf("work");
    expect(request?.system).toContain(`Added for ${place}.`);
    expect(request?.system).toContain(`Working folder: ${place}`);
    expect(toolNames(request)).toContain("mcp__own__tool");
    expect(texts[0]).toContain("in the place");
    expect(await scene.home.read("own/b.txt")).toBe("b");
    expect(ends).toEqual(["first", "second", "first", "second"]);
    expect(results[0]?.text).toContain("done.");
  });

  it("does not go on without the place of its own that was asked for", async () => {
    const nothing: Contributor = { name: "place", stage: "place", contribute: async () => undefined };
    const asked = { ...oneChild, go: calling(agent("work", { ...child, isolation: "worktree" })) };
    for (const [plays, options] of [
      [asked, {}],
      [asked, { contributors: [nothing] }],
      [oneChild, { agents: helper({ isolation: "worktree" }) }],
      [oneChild, { agents: helper({ isolation: "remote" }) }],
    ] as [Plays, Partial<SessionOptions>][]) {
      const { run, requestsOf } = open(plays, options);
      expect((await run("go")).results[0]).toMatchObject({ isError: true });
      expect(requestsOf("work")).toEqual([]);
    }
  });
});

describe("the end of an agent", () => {
  it.each(["servers release", "hooks release", "worktree release"])(
    "cleans up all the rest when %s throws, and its report stands",
    async (fails) => {
      const { log, contributors } = recording(fails);
      const problems: string[] = [];
      const { run, session } = open(oneChild, { contributors, onProblem: (text) => problems.push(text) });
      const { results } = await run("go");
      expect(results[0]).toMatchObject({ isError: false, text: expect.stringContaining("the report") });
      expect(log.filter((line) => line.endsWith("released"))).toHaveLength(3);
      expect(problems).toEqual([expect.stringContaining("would not go")]);
      expect(session.tasks.list()).toEqual([]);
    },
  );

  it("is told to a program, whose own fault there does no harm", async () => {
    const ended: unknown[] = [];
    const definition = {
      agentType: "helper",
      whenToUse: "helps",
      prompt: () => "You help.",
      source: "flag" as const,
      onEnd(result: unknown) {
        ended.push(result);
        throw new Error("in the program");
      },
    };
    const { results } = await open(oneChild, { agents: {}, agentDefinitions: [definition] }).run("go");
    expect(results[0]?.isError).toBe(false);
    expect(ended).toMatchObject([{ agentType: "helper", status: "completed", text: "the report" }]);
  });

  it.each([true, false])(
    "leaves nothing in memory but the call, its answer and the record of a decision (kept on disk: %s)",
    async (keepTranscript) => {
      setFlagsFromString("--expose-gc");
      const collect = runInNewContext("gc") as () => void;
      const calls = Array.from({ length: 250 }, () => agent("work", child));
      const scripted = createScriptedModel(["unused"]);
      // It keeps no list of its requests, which would hold what is measured.
      const model: Model = {
        ...scripted,
        async *stream(request) {
          const prompts = request.messages.at(-1)?.content.filter(({ type }) => type === "text") ?? [];
          const starts = request.system.includes("You are Cadre") && prompts.length > 0;
          yield* createScriptedModel([starts ? { calls } : "x"]).stream(request);
        },
      };
      const play = async (rounds: number) => {
        const { session, run } = open({}, { model, keepTranscript, settings: { maxAgentStarts: 10_000 } });
        for (let round = 0; round < rounds; round++) await run("go");
        // What is still on its way to the disk is there then.
        await session.close();
        collect();
        return { session, heap: process.memoryUsage().heapUsed };
      };
      const before = await play(1);
      const after = await play(4);
      expect(after.session.messages).toHaveLength(4 * 4);
      // These are about 1 KB; the conversation of an agent alone would be several more.
      expect((after.heap - before.heap) / 1000).toBeLessThan(2_048);
    },
    60_000,
  );
});

describe("another way to start", () => {
  const taken: unknown[] = [];
  const route: AgentRoute = {
    name: "remote",
    matches: ({ isolation }) => isolation === "remote",
    async start({ input, definition, parent, toolUseId, report }) {
      taken.push({ prompt: input.prompt, type: definition?.agentType, depth: parent.depth, toolUseId });
      report({
        type: "agent-end",
        agentId: "r1",
        status: "completed",
        totalTokens: 0,
        toolUses: 0,
        durationMs: 0,
      });
      return {
        status: "remote_launched",
        taskId: "r1",
        sessionUrl: "https://x/r1",
        outputFile: "/o",
        description: "d",
      };
    },
  };
  const remote = (input = {}): Plays => ({
    ...oneChild,
    go: calling(agent("work", { isolation: "remote", ...input })),
  });

  it("is taken where it matches, also for what a definition says, and its result is told", async () => {
    for (const [plays, agents] of [
      [remote(child), helper()],
      [oneChild, helper({ isolation: "remote" })],
    ] as [Plays, object][]) {
      taken.splice(0);
      const { run, requestsOf } = open(plays, { agents: agents as Record<string, unknown>, routes: [route] });
      const { results, outputs, activities } = await run("go");
      expect(taken).toMatchObject([{ prompt: "work", type: "helper", depth: 0 }]);
      expect(results[0]?.text).toMatch(/https:\/\/x\/r1\ntask_id: r1\noutput_file: \/o/);
      expect(outputs).toMatchObject([{ status: "remote_launched" }]);
      expect(activities).toMatchObject([{ agentId: "r1" }]);
      expect(requestsOf("work")).toEqual([]);
    }
  });

  it("is no way around a denied type, an unknown one, or the depth", async () => {
    taken.splice(0);
    const denied = await open(remote(child), { routes: [route], disallowedTools: ["Task(helper)"] }).run(
      "go",
    );
    const byDefault = await open(remote(), {
      routes: [route],
      disallowedTools: ["Agent(general-purpose)"],
    }).run("go");
    const unknown = await open(remote({ subagent_type: "nonesuch" }), { routes: [route] }).run("go");
    for (const { results } of [denied, byDefault, unknown]) expect(results[0]?.isError).toBe(true);
    expect(taken).toEqual([]);
  });
});

describe("an agent with a scratch folder", () => {
  it("leaves nothing of it, however it ended", async () => {
    const { files } = createNodeWorld();
    const error = new ModelError({ kind: "rejected", message: "no" });
    const plays: Plays = {
      go: calling(agent("work", { subagent_type: "Verification" })),
      *work() {
        yield { error };
        return "";
      },
    };
    const { run, session } = open(plays);
    await run("go");
    const folder = (session.transcriptPath ?? "").replace(/\.jsonl$/, "/scratch");
    expect(await files.readFolder(folder)).toEqual([]);
  });
});
