/** The same conversation, through the real SDKs, with a server that speaks either dialect: the same work is done. */
import { afterEach, describe, expect, it } from "vitest";
import type { World } from "../../src/base/world.ts";
import type { LoopEvent } from "../../src/contracts/event.ts";
import type { Block } from "../../src/contracts/message.ts";
import { toolUsesOf } from "../../src/contracts/message-content.ts";
import { noUsage, promptTokensOf } from "../../src/contracts/usage.ts";
import { createSession } from "../../src/runtime/create-session.ts";
import { createModelSource } from "../../src/runtime/model-source.ts";
import type { RunResult, Session } from "../../src/runtime/session.ts";
import type { MockBlock, MockMessage } from "../../src/testing/mock-dialect.ts";
import { type MockProvider, startMockProvider } from "../../src/testing/mock-provider.ts";
import { createTempWorkspace, type TempWorkspace } from "../../src/testing/temp-workspace.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";

type Dialect = "anthropic" | "openai";
const dialects: readonly Dialect[] = ["anthropic", "openai"];
/** One pixel. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

interface Scene {
  readonly session: Session;
  readonly provider: MockProvider;
  readonly workspace: TempWorkspace;
}

type Playbook = (index: number) => MockMessage;

async function open(dialect: Dialect, playbook: Playbook): Promise<Scene> {
  const workspace = await createTempWorkspace();
  const home = await createTempWorkspace();
  await workspace.write("a.txt", "one\ntwo\n");
  const provider = await startMockProvider({ dialect, answer: (_, index) => playbook(index) });
  const world: World = createTestWorld({
    homeFolder: home.path,
    env: { KEY: "secret", PATH: process.env.PATH },
  });
  await world.files.writeFile(`${workspace.path}/dot.png`, Buffer.from(png, "base64"));
  const impatient = { ...world, random: { ...world.random, number: () => 0 } };
  const settings = {
    thinking: true,
    model: "server/the-model",
    providers: { server: { type: dialect, baseUrl: provider.url, keyEnv: "KEY", contextWindow: 100_000 } },
  };
  const session = createSession({
    world: impatient,
    cwd: workspace.path,
    model: await createModelSource({ world: impatient, settings }).model(),
    settings,
    allowedTools: ["Bash", "Edit", "Write"],
  });
  cleanUps.push(async () => {
    await session.close();
    world.network.close();
    await provider.close();
    await workspace.remove();
    await home.remove();
  });
  return { session, provider, workspace };
}

async function run(
  { session }: Scene,
  prompt: string | Block[],
): Promise<{ result: RunResult; events: LoopEvent[] }> {
  const events: LoopEvent[] = [];
  const running = session.submit(prompt);
  for (let step = await running.next(); ; step = await running.next()) {
    if (step.done) return { result: step.value, events };
    events.push(step.value);
  }
}

/** What was called and what came of it, without ids, which differ, and paths of this run. */
function workOf({ session, workspace }: Scene) {
  const results = new Map(
    session.messages.flatMap(({ content }) =>
      content.flatMap((block) =>
        block.type === "tool_result" ? [[block.tool_use_id, [block.content, block.is_error ?? false]]] : [],
      ),
    ),
  );
  const work = session.messages.flatMap(({ content }) =>
    toolUsesOf(content).map(({ id, name, input }) => ({ name, input, result: results.get(id) })),
  );
  return JSON.parse(JSON.stringify(work).replaceAll(workspace.path, "WORKSPACE")) as unknown[];
}

const call = (name: string, input: Record<string, unknown>): MockBlock => ({ type: "tool_use", name, input });
const say = (text: string): MockBlock => ({ type: "text", text });

const everyday: readonly (readonly MockBlock[])[] = [
  [
    { type: "thinking", thinking: "Two files, and one may be missing.", signature: "c2ln" },
    say("I look around."),
    call("Read", { file_path: "a.txt" }),
    call("Read", { file_path: "missing.txt" }),
    call("Glob", { pattern: "*.txt" }),
  ],
  [call("Edit", { file_path: "a.txt", old_string: "two", new_string: "zwei \u{1f600}" })],
  [say("Now I count."), call("Bash", { command: "cat a.txt && wc -l < a.txt > count.txt && exit 3" })],
  [call("Read", { file_path: "dot.png" }), call("Frob", { x: 1 })],
  [say("One is one, and two is now zwei.")],
  [say("I see a dot.")],
];

async function playEveryday(dialect: Dialect) {
  const scene = await open(dialect, (index) => ({ blocks: everyday[index] ?? [] }));
  const first = await run(scene, "Translate two.");
  const image = { type: "base64" as const, media_type: "image/png", data: png };
  const second = await run(scene, [
    { type: "text", text: "What is this?" },
    { type: "image", source: image },
  ]);
  return { scene, first, second };
}

describe("one session on both dialects", () => {
  it("makes the same calls with the same inputs, leaves the same files, and says the same", async () => {
    const [one, other] = [await playEveryday("anthropic"), await playEveryday("openai")];
    const work = workOf(other.scene);
    expect(work).toEqual(workOf(one.scene));
    expect(work).toMatchObject([
      { name: "Read", input: { file_path: "a.txt" }, result: [expect.stringContaining("two"), false] },
      { name: "Read", result: [expect.stringContaining("missing.txt"), true] },
      { name: "Glob", result: [expect.stringContaining("a.txt"), false] },
      { name: "Edit" },
      { name: "Bash", result: [expect.anything(), expect.anything()] },
      { name: "Read", result: [[expect.objectContaining({ type: "image" })], false] },
      { name: "Frob", result: [expect.stringContaining("Frob"), true] },
    ]);
    for (const { scene, first, second } of [one, other]) {
      expect(await scene.workspace.read("a.txt")).toBe("one\nzwei \u{1f600}\n");
      expect((await scene.workspace.read("count.txt")).trim()).toBe("2");
      expect(first.result).toMatchObject({ text: "One is one, and two is now zwei.", turns: 5, costUsd: 0 });
      expect(second.result).toMatchObject({ text: "I see a dot.", turns: 1 });
      expect(first.result.end).toEqual({ reason: "completed", stopReason: "end_turn" });
      // Thinking was shown, and images arrived: one that a tool read, one that a person sent.
      const thought = first.events.flatMap((event) =>
        event.type === "model-event" && event.event.type === "block-delta" ? [event.event.delta] : [],
      );
      expect(thought.some(({ type }) => type === "thinking")).toBe(true);
      const last = scene.provider.requests.at(-1)?.raw.toString("utf8") ?? "";
      expect(last.split(png)).toHaveLength(3);
    }
  });

  it("sends again byte for byte what it has sent", async () => {
    const { scene } = await playEveryday("openai");
    const bodies = scene.provider.requests.map(({ raw }) => raw.toString("utf8"));
    expect(bodies).toHaveLength(6);
    for (const [index, body] of bodies.entries()) {
      // All but the end of the array and of the body.
      expect(body.startsWith((bodies[index - 1] ?? "  ").slice(0, -2))).toBe(true);
    }
    expect(bodies.at(-1)).not.toContain("one may be missing");
  });
});

describe.each(dialects)("a stream of %s that breaks off", (dialect) => {
  const append = call("Bash", { command: "echo once >> log.txt" });
  /** Events until the call is whole. */
  const wholeAfter = { anthropic: 6, openai: 5 }[dialect];

  it("in the middle of a call is asked for again, and the call runs once", async () => {
    const scene = await open(dialect, (index) =>
      index === 0
        ? { blocks: [append], cutAfter: wholeAfter - 2 }
        : { blocks: index === 1 ? [append] : [say("Done.")] },
    );
    const { result, events } = await run(scene, "Log it.");
    expect(result.text).toBe("Done.");
    expect(events.filter(({ type }) => type === "response-discard")).toHaveLength(1);
    expect(await scene.workspace.read("log.txt")).toBe("once\n");
    expect(scene.provider.requests).toHaveLength(3);
  });

  it("after a call was received stands, and the call runs once", async () => {
    const scene = await open(dialect, (index) =>
      index === 0 ? { blocks: [append, say("and so on")], cutAfter: wholeAfter } : { blocks: [say("Done.")] },
    );
    const { result, events } = await run(scene, "Log it.");
    expect(result.text).toBe("Done.");
    expect(events.map(({ type }) => type)).not.toContain("response-discard");
    expect(await scene.workspace.read("log.txt")).toBe("once\n");
    expect(scene.provider.requests).toHaveLength(2);
    const response = scene.session.messages[1]?.response;
    expect(response?.stopReason).toBe("cut");
    // What the prompt has cost counts, although the end, where it is told, never came.
    expect(promptTokensOf(response?.usage ?? noUsage)).toBeGreaterThan(1000);
  });
});
