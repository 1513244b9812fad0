/** A fork is its parent from a point on: the same bytes before the model, one directive at the end (FK-1 to FK-6). */
import { describe, expect, it } from "vitest";
import type { Message } from "../../src/contracts/message.ts";
import { textOf } from "../../src/contracts/message-content.ts";
import type { ModelRequest } from "../../src/model/model.ts";
import { restoreSession } from "../../src/runtime/restore-session.ts";
import type { Session, SessionOptions } from "../../src/runtime/session.ts";
import type { ScriptTask } from "../../src/testing/scripted-model.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";
import { agent, calling, type Plays, saying, useAgentScene } from "./agent-scene.ts";

const scene = useAgentScene();
const settings = { forkSubagent: "always" } as const;
const look = { name: "Glob", input: { pattern: "*" } };

async function runRest(session: Session): Promise<void> {
  while (await session.nextWork()) for await (const _ of session.submit());
}

const open = (plays: Plays, options: Partial<SessionOptions> = {}) =>
  scene.open(plays, { settings, ...options });

/** The requests of forks: their last message ends with a directive. */
function forkRequests(requests: readonly ModelRequest[]): ModelRequest[] {
  return requests.filter(({ messages }) => lastText(messages.at(-1)).startsWith("<fork-directive>"));
}

function lastText(message: Message | undefined): string {
  const block = message?.content.at(-1);
  return block?.type === "text" ? block.text : "";
}

/** What a fork was told; undefined in its parent. */
const directiveOf = ({ heard }: ScriptTask) => heard.findLast((text) => text.startsWith("<fork-directive>"));

/** As it is sent: without what only the transcript keeps. */
const bytes = (messages: readonly Message[]) =>
  JSON.stringify(messages.map(({ role, content }) => ({ role, content })));

/** Forks know the whole conversation, so their play is found by its beginning: it tells them apart by the directive. */
const story = (directives: readonly string[], more: Partial<Plays> = {}): Plays => ({
  *go(task) {
    yield { text: "let me look", calls: [look] };
    yield { text: "now in parts", calls: directives.map((prompt) => agent(prompt)) };
    return directiveOf(task) === undefined
      ? "sent off"
      : `report on ${/do-\d+/.exec(directiveOf(task) ?? "")?.[0]}`;
  },
  ...more,
});

describe("forks of one message", () => {
  it("are sent what their parent was, and differ from each other in the last block alone", async () => {
    const { session, run, model } = open(story(["do-1", "do-2", "do-3"]));
    const { outputs } = await run("go");
    expect(outputs.slice(-3)).toMatchObject([1, 2, 3].map(() => ({ status: "async_launched" })));
    await runRest(session);
    const forks = forkRequests(model.requests);
    expect(forks).toHaveLength(3);
    const parent = model.requests[1];
    for (const fork of forks) {
      expect(fork.system).toBe(parent?.system);
      expect(fork.tools).toBe(parent?.tools);
      expect(fork.thinking).toEqual(parent?.thinking);
      const sent = parent?.messages ?? [];
      expect(bytes(fork.messages.slice(0, sent.length))).toBe(bytes(sent));
      // The parent's own last request wrote the entry that ends here.
      expect(fork.cacheMarks).toContain(sent.length - 1);
      const results = fork.messages.at(-1)?.content.slice(0, -1) ?? [];
      expect(results.map((block) => block.type)).toEqual(["tool_result", "tool_result", "tool_result"]);
    }
    const withoutLast = forks.map(({ messages }) =>
      bytes([
        ...messages.slice(0, -1),
        { ...(messages.at(-1) as Message), content: messages.at(-1)?.content.slice(0, -1) ?? [] },
      ]),
    );
    expect(new Set(withoutLast).size).toBe(1);
    expect(new Set(forks.map(({ messages }) => lastText(messages.at(-1)))).size).toBe(3);
    const heard = session.messages.map(({ content }) => textOf(content)).join("\n");
    for (const index of [1, 2, 3]) expect(heard).toContain(`<result>report on do-${index}</result>`);
  });

  it("cannot fork or start agents, by the source of the query or by the tag alone", async () => {
    let results: string[] = [];
    const plays: Plays = {
      *go(task) {
        yield { calls: [agent("do-1")] };
        if (directiveOf(task) === undefined) return "sent off";
        const inputs = [{}, { subagent_type: "Explore" }];
        const refused = yield { calls: inputs.map((input) => agent("deeper", input)) };
        results = refused.map(({ isError, text }) => `${isError} ${text}`);
        return "did it myself";
      },
    };
    const { session, run } = open(plays, { settings: { ...settings, maxAgentDepth: 3 } });
    await run("go");
    await runRest(session);
    expect(results).toHaveLength(2);
    for (const result of results) expect(result).toMatch(/^true A fork starts no agents/);
  });

  it("have every tool of their parent in the list, and are refused those that are not for them", async () => {
    let refusal = "";
    const plays: Plays = {
      *go(task) {
        yield { calls: [agent("do-1")] };
        if (directiveOf(task) === undefined) return "sent off";
        const [result] = yield { calls: [{ name: "EnterPlanMode", input: {} }] };
        refusal = result?.text ?? "";
        return "went on";
      },
    };
    const { session, run } = open(plays);
    await run("go");
    await runRest(session);
    expect(refusal).toMatch(/EnterPlanMode is not for forks/);
  });

  it("can be gone on with after a restart, with all that they had inherited", async () => {
    let id = "";
    const plays = story(["do-1"], {
      *again() {
        const [result] = yield { calls: [agent("one thing more", { resume: id })] };
        return result?.text ?? "";
      },
    });
    const first = open(plays);
    const { outputs } = await first.run("go");
    id = (outputs.at(-1) as { agentId: string }).agentId;
    await runRest(first.session);
    const before = forkRequests(first.model.requests)[0];
    await first.session.close();

    const world = createTestWorld({ homeFolder: scene.home.path });
    const cwd = scene.workspace.path;
    const restored = await restoreSession({ world, cwd, which: { id: first.session.id } });
    const second = open(plays, { restored });
    await second.run("again");
    await runRest(second.session);
    const resumed = second.model.requests.find(
      ({ messages }) => lastText(messages.at(-1)) === "one thing more",
    );
    const sent = before?.messages ?? [];
    expect(resumed?.system).toBe(before?.system);
    expect(bytes(resumed?.messages.slice(0, sent.length) ?? [])).toBe(bytes(sent));
  });
});

describe("the gate", () => {
  const plays: Plays = { go: calling(agent("work")), work: saying("done") };
  it.each<[string, Partial<SessionOptions>, Record<string, string>, boolean]>([
    ["is off by default", { settings: {} }, {}, false],
    ["is off where nobody watches", { settings: { forkSubagent: true } }, {}, false],
    ["is on where a person watches", { settings: { forkSubagent: true }, isWatched: true }, {}, true],
    ["is on by the environment", { settings: {}, isWatched: true }, { CADRE_FORK_SUBAGENT: "1" }, true],
    ["is on always if so set", { settings: { forkSubagent: "always" } }, {}, true],
    [
      "is off without a background",
      { settings: { forkSubagent: "always", backgroundTasks: false } },
      {},
      false,
    ],
  ])("%s", async (_, options, env, isOn) => {
    const { run, model, session } = scene.open(
      {
        ...plays,
        *go() {
          yield { calls: [agent("work")] };
          return "sent off";
        },
      },
      options,
      { world: { env } },
    );
    await run("go");
    await runRest(session);
    expect(forkRequests(model.requests).length > 0).toBe(isOn);
  });
});
