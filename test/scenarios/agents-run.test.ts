import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { LoopEvent } from "../../src/contracts/event.ts";
import { ModelError } from "../../src/model/model-error.ts";
import type { SessionOptions } from "../../src/runtime/session.ts";
import { defineTool } from "../../src/tools/tool.ts";
import { agent, calling, type Plays, saying, useAgentScene } from "./agent-scene.ts";

const scene = useAgentScene();

const helper = (fields: Record<string, unknown> = {}) => ({
  helper: { description: "helps", prompt: "You help.", ...fields },
});
const child = { subagent_type: "helper" };
const oneChild: Plays = { go: calling(agent("work", child)), work: saying("the report") };
const open = (plays: Plays = oneChild, options: Partial<SessionOptions> = {}) =>
  scene.open(plays, { agents: helper(), ...options });
const look = { name: "Glob", input: { pattern: "*" } };
const plain = (name: string, run: () => Promise<string> = async () => name) =>
  defineTool({
    name,
    description: name,
    input: z.object({}),
    isReadOnly: () => true,
    call: run,
    toResult: (text) => text,
  });

describe("what an agent is told", () => {
  it("is the prompt of its definition, where it is, and the task; not the description, nor the parent's words", async () => {
    await scene.workspace.write(".git/HEAD", "ref: refs/heads/feature\n");
    const { run, requestsOf } = open({
      ...oneChild,
      go: calling(agent("work", { ...child, description: "unseen words" })),
    });
    await run("go");
    const [request] = requestsOf("work");
    expect(request?.system).toMatch(/^You help\.\n\nEnvironment\n/);
    expect(request?.system).toContain(`Working folder: ${scene.workspace.path}`);
    expect(request?.system).toContain("Git branch: feature");
    expect(request?.messages).toHaveLength(1);
    expect(JSON.stringify(request)).not.toMatch(/unseen words|You are Cadre/);
  });

  it("leaves the state of git out for those that only look", async () => {
    await scene.workspace.write(".git/HEAD", "ref: refs/heads/feature\n");
    const { run, requestsOf } = open({
      ...oneChild,
      go: calling(agent("work", { subagent_type: "Explore" })),
    });
    await run("go");
    expect(requestsOf("work")[0]?.system).not.toContain("feature");
  });

  it("is the same for siblings, byte for byte", async () => {
    const { run, requestsOf } = open({
      ...oneChild,
      go: calling(agent("work", child), agent("work", child)),
    });
    await run("go");
    const [one, other] = requestsOf("work");
    expect(one?.system).toBe(other?.system);
    expect(one?.tools).toBe(other?.tools);
  });

  it("begins with the conversation of its parent where its definition says so", async () => {
    const plays: Plays = {
      *go() {
        yield { text: "I looked.", calls: [look] };
        const [result] = yield { calls: [agent("work", child)] };
        return result?.text ?? "";
      },
      "*": saying("I saw it all"),
    };
    const { run, model } = open(plays, { agents: helper({ forkContext: true }) });
    await run("go");
    const request = model.requests.find(({ system }) => system.startsWith("You help."));
    expect(JSON.stringify(request?.messages[1])).toContain("I looked.");
    const own = request?.messages.at(-1)?.content;
    expect(own).toMatchObject([{ type: "tool_result" }, { type: "text", text: "work" }]);
    expect(JSON.stringify(own?.[0])).toContain('You are now the agent \\"helper\\"');
  });

  it("holds its first words, and its reminder after each round of tools", async () => {
    const plays: Plays = {
      go: calling(agent("work", child)),
      *"first this\n\nwork"() {
        yield { calls: [look] };
        return "done";
      },
    };
    const fields = { initialPrompt: "first this", criticalSystemReminder: "only look" };
    const { run, requestsOf } = open(plays, { agents: helper(fields) });
    await run("go");
    const [, second] = requestsOf("work");
    expect(second?.messages[0]?.content).toMatchObject([{ text: "first this" }, { text: "work" }]);
    expect(JSON.stringify(second?.messages.at(-1)?.content.at(-1))).toContain("only look");
  });
});

describe("the report of an agent", () => {
  const reportOf = async (play: Plays[string], options: Partial<SessionOptions> = {}, input = {}) => {
    const plays = { go: calling(agent("work", { ...child, ...input })), work: play };
    const run = await open(plays, options).run("go");
    const end = run.activities.findLast(({ type }) => type === "agent-end");
    return {
      ...run,
      result: run.results[0],
      output: run.outputs[0],
      end: end as { status?: string } | undefined,
    };
  };

  it("is its last words, its id with a hint, and what it used; the structured value is kept apart", async () => {
    const { result, output, activities } = await reportOf(function* () {
      yield { text: "looking", calls: [look] };
      return "found it";
    });
    const id = activities[0]?.agentId;
    expect(result?.text).toMatch(/^found itagentId: /);
    expect(result?.text).toContain(`agentId: ${id} (SendMessage to "${id}" continues it)`);
    expect(result?.text).toMatch(/<usage>total_tokens: \d+, tool_uses: 1, duration_ms: \d+<\/usage>$/);
    expect(output).toMatchObject({
      status: "completed",
      agentId: id,
      agentType: "helper",
      prompt: "work",
      content: [{ type: "text", text: "found it" }],
      totalToolUseCount: 1,
    });
  });

  it("goes without id and usage for those that are asked once", async () => {
    const { result } = await reportOf(saying("here"), {}, { subagent_type: "Explore" });
    expect(result).toMatchObject({ text: "here", blocks: 1 });
  });

  it("is the last message that has words, or a sentence that there were none", async () => {
    const cut = await reportOf(
      function* () {
        yield { text: "some words", calls: [look] };
        yield { calls: [look] };
        return "";
      },
      {},
      { max_turns: 2 },
    );
    expect(cut.result?.text).toMatch(/^some words\(It ended at its limit of 2 turns/);
    const silent = await reportOf(saying(""));
    expect(silent.result?.text).toMatch(/^The agent ended without saying anything\./);
  });

  it("says which limit ended it: turns of the call over those of the definition, tokens, the session's", async () => {
    const endless: Plays[string] = function* () {
      for (;;) yield { text: "more", calls: [look], usage: { inputTokens: 100, outputTokens: 10 } };
    };
    const turns = await reportOf(endless, { agents: helper({ maxTurns: 5 }) });
    expect(turns.result?.text).toContain("limit of 5 turns");
    const byCall = await reportOf(endless, { agents: helper({ maxTurns: 5 }) }, { max_turns: 3 });
    expect(byCall.result?.text).toContain("limit of 3 turns");
    const settings = { budgets: { agent: { turns: 4 } } };
    const budget = await reportOf(endless, { settings });
    expect(budget.result?.text).toMatch(/ended before it was done\. .*the agent helper/);
    const greedy: Plays[string] = function* () {
      for (;;) yield { text: "more", calls: [look], usage: { inputTokens: 30_000 } };
    };
    const tokens = await reportOf(greedy, { settings: { budgets: { agent: { tokens: 100_000 } } } });
    expect(tokens.result?.text).toMatch(/token/);
  });

  it("is what it said and a note when an error came after it, and the error when nothing had come", async () => {
    const error = new ModelError({ kind: "rejected", message: "the provider says no" });
    const partial = await reportOf(function* () {
      yield { text: "half of it", calls: [look] };
      yield { error };
      return "";
    });
    expect(partial.result).toMatchObject({ isError: false });
    expect(partial.result?.text).toMatch(/^half of it\(It ended before it was done: the provider says no\)/);
    expect(partial.end?.status).toBe("failed");
    const wordless = await reportOf(function* () {
      yield { calls: [look] };
      yield { error };
      return "";
    });
    expect(wordless.result).toMatchObject({ isError: false, text: expect.stringContaining("agentId: ") });
    const nothing = await reportOf(function* () {
      yield { error };
      return "";
    });
    expect(nothing.result).toMatchObject({
      isError: true,
      text: expect.stringContaining("the provider says no"),
    });
  });

  it("notes what was cut off, and what the model declined", async () => {
    const cut = await reportOf(saying({ text: "and then", stopReason: "max_tokens" }));
    expect(cut.result?.text).toContain("cut off at the limit of output tokens");
    const declined = await reportOf(saying({ text: "", stopReason: "refusal" }));
    expect(declined.result?.text).toContain("declined");
  });
});

describe("an agent that is stopped", () => {
  const hanging: Plays = {
    go: calling(agent("work", child)),
    *work() {
      yield { text: "begun", calls: [look] };
      yield { hang: true };
      return "";
    },
  };
  const isAgentTurn = (event: LoopEvent, turn: number) => {
    const data = event.type === "call-progress" ? event.progress.data : undefined;
    const inner = (data as { event?: LoopEvent } | undefined)?.event;
    return inner?.type === "turn-start" && inner.turn === turn;
  };

  it("with the run ends it: the abort goes up, and nothing is left", async () => {
    const { run, session } = open(hanging);
    const { end, activities, results } = await run("go", (event) => {
      if (isAgentTurn(event, 2)) session.interrupt();
    });
    expect(end.reason).toBe("aborted");
    expect(results[0]).toMatchObject({ isError: true, text: expect.stringContaining("interrupted") });
    expect(activities.at(-1)).toMatchObject({ type: "agent-end", status: "killed" });
    expect(session.tasks.list()).toEqual([]);
  });

  it("with the session ends, too", async () => {
    const { run, session } = open(hanging);
    let closing: Promise<void> | undefined;
    await run("go", (event) => {
      if (isAgentTurn(event, 2)) closing = session.close();
    });
    await closing;
    expect(session.tasks.list()).toEqual([]);
  });

  it("alone hands over what it had, and its parent goes on", async () => {
    const { run, session } = open(hanging);
    const { end, results } = await run("go", (event) => {
      if (isAgentTurn(event, 2)) session.tasks.stop(session.tasks.list()[0]?.id ?? "", "the user wants it");
    });
    expect(end.reason).toBe("completed");
    expect(results[0]?.text).toMatch(/^begun\(It was stopped: the user wants it\.\)/);
  });
});

describe("while an agent runs", () => {
  it("its doings are handed up with the ids they belong to, nested ones too", async () => {
    const plays: Plays = {
      go: calling(agent("outer", child)),
      outer: calling(agent("inner", child)),
      *inner() {
        yield { calls: [look] };
        return "deep";
      },
    };
    const { activities, events } = await open(plays, { settings: { maxAgentDepth: 2 } }).run("go");
    const call = events.find((event) => event.type === "call-start");
    expect(new Set(activities.map(({ toolUseId }) => toolUseId))).toEqual(
      new Set([call?.type === "call-start" ? call.call.id : ""]),
    );
    expect(activities[0]).toMatchObject({ type: "agent-start", depth: 1, prompt: "outer", resumed: false });
    const nested = activities.flatMap((activity) =>
      activity.type === "agent-event" && activity.event.type === "call-progress"
        ? [
            {
              id: activity.event.toolUseId,
              data: activity.event.progress.data as { type: string; depth?: number },
            },
          ]
        : [],
    );
    expect(nested[0]?.data).toMatchObject({ type: "agent-start", depth: 2, prompt: "inner" });
    expect(new Set(nested.map(({ id }) => id)).size).toBe(1);
    expect(nested.at(-1)?.data).toMatchObject({ type: "agent-end", status: "completed" });
    expect(JSON.stringify(nested)).toContain('"name":"Glob"');
  });

  it("it is a task of the session, with its parent, its model and what it does; then it is gone", async () => {
    const seen: unknown[] = [];
    const { run, session } = open({
      go: calling(agent("work", child)),
      *work() {
        yield { calls: [look] };
        return "done";
      },
    });
    session.tasks.onChange((change) => seen.push(change));
    await run("go");
    expect(seen).toMatchObject([
      {
        type: "task-start",
        task: {
          kind: "local_agent",
          isBackgrounded: false,
          agent: { agentType: "helper", depth: 1, prompt: "work" },
        },
      },
      { type: "task-update", task: { agent: { modelId: "scripted" } } },
      { type: "task-update", task: { agent: { progress: { lastActivities: ["Glob"], toolUses: 1 } } } },
      { type: "task-update" },
      { type: "task-end", task: { status: "completed", agent: { result: "done" } } },
      { type: "task-remove" },
    ]);
  });

  it("50 others in the same message run beside it: all have started before the first ends", async () => {
    let open50 = 0;
    let release = () => {};
    const all = new Promise<void>((resolve) => {
      release = resolve;
    });
    const meet = plain("Meet", async () => {
      open50 += 1;
      if (open50 === 50) release();
      await all;
      return "met";
    });
    const plays: Plays = {
      go: calling(...Array.from({ length: 50 }, () => agent("work", child))),
      work: calling({ name: "Meet" }),
    };
    const { results } = await open(plays, { tools: [meet] }).run("go");
    expect(results.filter(({ text }) => text.startsWith("met"))).toHaveLength(50);
  });
});

describe("the limits of a session", () => {
  it("500 calls in one message with room for 64 wait for their turn, and all are answered", async () => {
    let live = 0;
    let most = 0;
    const plays: Plays = {
      go: calling(...Array.from({ length: 500 }, () => agent("work", child))),
      work: saying("ok"),
    };
    const { run } = open(plays, { settings: { maxLiveAgents: 64 } });
    const { results } = await run("go", (event) => {
      const data = event.type === "call-progress" ? (event.progress.data as { type?: string }) : {};
      if (data.type === "agent-start") live += 1;
      if (data.type === "agent-end") live -= 1;
      most = Math.max(most, live);
    });
    expect(results).toHaveLength(500);
    expect(results.filter(({ isError }) => isError)).toEqual([]);
    expect(most).toBeLessThanOrEqual(64);
    expect(most).toBeGreaterThan(1);
  });

  it("an agent that cannot have a slot, because those above hold them all, is told so", async () => {
    const plays: Plays = { go: calling(agent("outer", child)), outer: calling(agent("inner", child)) };
    const { run } = open(plays, { settings: { maxLiveAgents: 1, maxAgentDepth: 2 } });
    expect((await run("go")).text).toContain("maxLiveAgents");
  });

  it("starts end where the setting says", async () => {
    const plays: Plays = {
      go: calling(agent("work", child), agent("work", child), agent("work", child)),
      work: saying("ok"),
    };
    const { results } = await open(plays, { settings: { maxAgentStarts: 2 } }).run("go");
    expect(results.map(({ isError }) => isError)).toEqual([false, false, true]);
    expect(results[2]?.text).toContain("maxAgentStarts");
  });
});
