/** An agent that ended is gone on with: its words, its prefix, a run of its own (TA-3, TA-24). */
import { describe, expect, it } from "vitest";
import { createNodeWorld } from "../../src/base/world/node-world.ts";
import { restoreSession } from "../../src/runtime/restore-session.ts";
import type { SessionOptions } from "../../src/runtime/session.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";
import { agent, calling, type Plays, saying, useAgentScene } from "./agent-scene.ts";

const scene = useAgentScene();

const helperFile = (more = "", prompt = "You help.") =>
  scene.workspace.write(
    ".cadre/agents/helper.md",
    `---\nname: helper\ndescription: helps\n${more}---\n${prompt}`,
  );
const helper = { helper: { description: "helps", prompt: "You help." } };
const child = { subagent_type: "helper" };
const look = { name: "Glob", input: { pattern: "*" } };

/** The first prompt starts an agent; the others go on with it. */
function story(input: Record<string, unknown> = {}): Plays {
  let id = "";
  return {
    *start() {
      const [result] = yield { calls: [agent("work", child)] };
      id = /agentId: (\S+)/.exec(result?.text ?? "")?.[1] ?? "";
      return id;
    },
    *again() {
      const results = yield { calls: [agent("go on", { resume: id, ...input })] };
      return results[0]?.text ?? "";
    },
    *twice() {
      const call = agent("go on", { resume: id });
      const results = yield { calls: [call, call] };
      return results.map(({ text }) => text).join("\n---\n");
    },
    *work(task) {
      yield { text: "looking", calls: [look] };
      yield "first answer";
      return `second answer after ${task.heard.length} words`;
    },
  };
}
const open = (options: Partial<SessionOptions> = {}, input = {}) =>
  scene.open(story(input), { agents: helper, ...options });

describe("an agent that is resumed", () => {
  it("goes on with all its messages and the very prefix that was sent before", async () => {
    const { run, requestsOf } = open();
    await run("start");
    await run("again");
    const requests = requestsOf("work");
    expect(requests).toHaveLength(3);
    const [, second, third] = requests;
    expect(third?.system).toBe(second?.system);
    expect(JSON.stringify(third?.tools)).toBe(JSON.stringify(second?.tools));
    const sent = second?.messages ?? [];
    expect(JSON.stringify(third?.messages.slice(0, sent.length))).toBe(JSON.stringify(sent));
    expect(third?.messages.at(-1)?.content).toMatchObject([{ type: "text", text: "go on" }]);
  });

  it("keeps its system prompt although its file says something else now", async () => {
    await helperFile();
    const { run, requestsOf } = open({ agents: {} });
    await run("start");
    await helperFile("", "You hinder.");
    await run("again");
    const systems = requestsOf("work").map(({ system }) => system);
    expect(systems).toHaveLength(3);
    expect(new Set(systems).size).toBe(1);
  });

  it("is a new run of the same task, and says that it was resumed", async () => {
    const { run, session } = open();
    const runs: string[] = [];
    session.tasks.onChange(({ type, task }) => {
      if (type !== "task-update") runs.push(`${type} ${task.id} ${task.status}`);
    });
    const { text: id } = await run("start");
    const { results, activities } = await run("again");
    const one = [`task-start ${id} running`, `task-end ${id} completed`, `task-remove ${id} completed`];
    expect(runs).toEqual([...one, ...one]);
    expect(results[0]?.text).toContain("second answer");
    expect(results[0]?.text).toContain(`agentId: ${id}`);
    expect(activities[0]).toMatchObject({ type: "agent-start", agentId: id, resumed: true });
  });

  it("must be known, and must not be at work: of two calls at once one is refused", async () => {
    const { run } = open({}, { resume: "a0000000000000000" });
    await run("start");
    expect((await run("again")).results[0]).toMatchObject({
      isError: true,
      text: expect.stringMatching(/no agent/),
    });
    const { results } = await run("twice");
    expect(results.filter(({ isError }) => isError)).toMatchObject([
      { text: expect.stringContaining("running") },
    ]);
    expect(results.filter(({ text }) => text.includes("second answer"))).toHaveLength(1);
  });

  it("cannot resume one of those that are above it, which are at work", async () => {
    let outer = "";
    const plays: Plays = {
      go: calling(agent("outer", child)),
      *outer() {
        const [result] = yield { calls: [agent("x", { resume: outer })] };
        return result?.text ?? "";
      },
    };
    const { run, session } = scene.open(plays, { agents: helper, settings: { maxAgentDepth: 2 } });
    session.tasks.onChange(({ task }) => {
      outer = task.id;
    });
    expect((await run("go")).text).toContain("is running");
  });

  it("goes on as general-purpose, with a note, when its definition is gone", async () => {
    const file = await helperFile();
    const { run, requestsOf } = open({ agents: {} });
    await run("start");
    await createNodeWorld().files.remove(file);
    const { results, outputs } = await run("again");
    expect(outputs[0]).toMatchObject({ agentType: "general-purpose" });
    expect(results[0]?.text).toContain('its definition "helper" is gone; it went on as general-purpose');
    expect(requestsOf("work")).toHaveLength(3);
  });

  it("has the tools that its definition gives it now, and a prefix that says so", async () => {
    await helperFile();
    const { run, requestsOf } = open({ agents: {} });
    await run("start");
    await helperFile("tools: Glob\n");
    await run("again");
    expect(requestsOf("work").map(({ tools }) => tools.length > 1)).toEqual([true, true, false]);
  });

  it("is refused when its type is denied, and the refusal does not leave it open", async () => {
    const { run, session } = open();
    const { text: id } = await run("start");
    await session.close();
    const world = createTestWorld({ homeFolder: scene.home.path });
    const cwd = scene.workspace.path;
    const plays: Plays = {
      "*": calling(agent("go on", { resume: id, subagent_type: "Explore" })),
      work: story().work ?? saying(""),
    };
    const restore = () => restoreSession({ world, cwd, which: { id: session.id } });
    const denying = { agents: helper, disallowedTools: ["Agent(helper)"] };
    const denied = scene.open(plays, { ...denying, restored: await restore() });
    for (const prompt of ["one", "two"]) {
      const { results } = await denied.run(prompt);
      expect(results[0]).toMatchObject({
        isError: true,
        text: expect.stringContaining('"helper" is denied'),
      });
    }
    await denied.session.close();
    const allowed = scene.open(plays, { agents: helper, restored: await restore() });
    expect((await allowed.run("three")).results[0]?.text).toContain("second answer");
  });

  it.each(["place", "start"] as const)("whose start failed (%s) can be resumed later", async (stage) => {
    let fails = false;
    const contributor = {
      name: "fails",
      stage,
      contribute: async () => {
        if (fails) throw new Error("not now");
        return undefined;
      },
    };
    const { run } = open({ contributors: [contributor] });
    await run("start");
    fails = true;
    expect((await run("again")).results[0]).toMatchObject({
      isError: true,
      text: expect.stringContaining("not now"),
    });
    fails = false;
    expect((await run("again")).results[0]?.text).toContain("second answer");
  });

  it("is an error where nothing is kept", async () => {
    const { run } = open({ keepTranscript: false });
    await run("start");
    expect((await run("again")).results[0]).toMatchObject({
      isError: true,
      text: expect.stringContaining("no transcripts"),
    });
  });
});

describe("resume with what is no id", () => {
  it.each([
    "../../x",
    "a/../b",
    "/etc/passwd",
    "..",
    "a\0b",
    "-rf",
    "__proto__",
    "x".repeat(10_000),
    "%2e%2e%2f",
    "main",
  ])("%j is refused as unknown", async (resume) => {
    const { run, model } = scene.open({ go: calling(agent("x", { resume })), x: saying("never") });
    const { results } = await run("go");
    expect(results[0]?.isError).toBe(true);
    expect(results[0]?.text.length).toBeLessThan(1_000);
    expect(model.requests).toHaveLength(2);
  });
});
