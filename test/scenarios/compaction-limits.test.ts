/** Compaction where there is little room: long prompts, long results, long tasks, small windows (LO-6). */
import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../src/contracts/event.ts";
import type { Message } from "../../src/contracts/message.ts";
import { ModelError } from "../../src/model/model-error.ts";
import type { Call } from "../../src/model/offline/playbook.ts";
import {
  type Answering,
  type Asked,
  createConversingModel,
  expectSound,
  firstText,
  run,
  useCompactionScene,
} from "./compaction-scene.ts";

const scene = useCompactionScene();

/** About 5,000 tokens. */
const long = (about: string) => `${about}\n${"and so on and so forth ".repeat(900)}`;
const summary = "## Goal and instructions\nThe summary of what was.";
const call = (name: string, input: unknown) => `call ${name} ${JSON.stringify(input)}`;

const obedient =
  (summarize: Answering = () => summary): Answering =>
  (asked) => {
    if (asked.isSummary) return summarize(asked);
    if (asked.results > 0) return "done";
    const calls = asked.last.split("\n").flatMap((line): Call[] => {
      const [, name, json] = /^call (\w+) (.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [{ name, input: JSON.parse(json ?? "{}") }];
    });
    return calls.length === 0 ? "well" : { calls };
  };

const isShortened = ({ texts, isSummary }: Asked) =>
  !isSummary && texts.some((text) => text.startsWith("<conversation-summary>"));
const summaries = (requests: readonly Asked[]) => requests.filter(({ isSummary }) => isSummary).length;
const problems = (events: readonly LoopEvent[]) =>
  events.flatMap((event) => (event.type === "compaction-end" && event.problem ? [event.problem] : []));
const wordsOf = (message: Message | undefined) =>
  (message?.content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : []));

describe("a long prompt that is not answered yet", () => {
  const prompt = (times: number) => `DO X FIRST ${"lorem ipsum ".repeat(times)} AND Y LAST`;

  it.each([5_000, 7_500, 9_000])("stands whole and last, if it fits beside a summary (%i)", async (times) => {
    const model = createConversingModel(obedient(), { contextWindow: 50_000 });
    const session = scene.open(model);
    for (let index = 0; index < 5; index++) await run(session, long(`prompt ${index}`));
    const asked = prompt(times);
    const ran = await run(session, asked);
    expect(ran.compactions).toBe(1);
    const { request } = model.requests.at(-1) as Asked;
    expect(wordsOf(request.messages.at(-1))).toEqual([asked]);
    expect(wordsOf(request.messages[0])[0]).toContain("it waits for you");
    expectSound(model.requests);
  });

  it("stands whole and last also after the provider said that it is too long", async () => {
    let limit = Number.POSITIVE_INFINITY;
    const model = createConversingModel(obedient(), { contextWindow: 200_000, tooLongFrom: () => limit });
    const session = scene.open(model);
    for (let index = 0; index < 10; index++) await run(session, long(`prompt ${index}`));
    limit = 110_000;
    const asked = prompt(27_000);
    expect((await run(session, asked)).end).toMatchObject({ reason: "completed" });
    expect(wordsOf(model.requests.at(-1)?.request.messages.at(-1))).toEqual([asked]);
  });

  it.each([0, 1, 3])("that never fits stands with its beginning and end, after %i others", async (others) => {
    const model = createConversingModel(obedient(), { contextWindow: 40_000, tooLongFrom: () => 30_000 });
    const session = scene.open(model);
    for (let index = 0; index < others; index++) await run(session, long(`prompt ${index}`));
    const ran = await run(session, prompt(20_000));
    expect(ran.end).toMatchObject({ reason: "completed" });
    const last = model.requests.at(-1)?.request.messages.at(-1);
    const [note] = wordsOf(last);
    const words = wordsOf(last).at(-1);
    expect(note).toContain("waits for your answer");
    expect(wordsOf(last).filter((text) => text.includes("waits for your answer"))).toHaveLength(1);
    expect(note).toContain(session.transcriptPath);
    expect(note).toContain(last?.uuid);
    expect(words).toMatch(/^DO X FIRST .*characters left out.* AND Y LAST$/s);
    expect((words ?? "").length).toBeGreaterThan(20_000);
    for (const asked of model.requests) expectSound([asked]);
    const before = session.messages;
    const resumed = await scene.reopen(session, model);
    expect(resumed.messages).toEqual(before);
    // It is known as what was asked, the next time as well.
    await resumed.compact();
    expect(firstText(resumed.messages)).toMatch(/<earlier-request>\nDO X FIRST/);
  });
});

describe("a fork that is shortened before its first answer", () => {
  it("has its directive once, at the end, and nothing that was asked of its parent", async () => {
    const isFork = ({ texts }: Asked) => texts.some((text) => text.startsWith("<fork-directive>"));
    const prompt = `do this ${"detail ".repeat(4_500)}`;
    const forking: Answering = (asked) =>
      asked.last === "fork" && asked.results === 0
        ? { calls: [{ name: "Agent", input: { description: "d", prompt } }] }
        : obedient()(asked);
    const model = createConversingModel(forking, { contextWindow: 50_000 });
    const session = scene.open(model, { settings: { forkSubagent: "always" } });
    for (let index = 0; index < 4; index++) await run(session, long(`prompt ${index}`));
    await run(session, "fork");
    while (await session.nextWork()) await run(session);
    const after = model.requests.filter((asked) => isShortened(asked) && isFork(asked));
    expect(after.length).toBeGreaterThan(0);
    for (const { texts } of after) {
      expect(texts.filter((text) => text.startsWith("<fork-directive>"))).toEqual([texts.at(-1)]);
      expect(texts.join()).not.toContain("<earlier-request>");
    }
  });
});

describe("results that fill the window in every round", () => {
  const always: Answering = ({ isSummary }) =>
    isSummary ? summary : { calls: [{ name: "Read", input: { file_path: "long.txt" } }] };

  it.each([
    [26_000, 14_000],
    [16_000, Number.POSITIVE_INFINITY],
  ])("are cut after some compactions (window %d, limit %d)", async (contextWindow, limit) => {
    await scene.workspace.write("long.txt", `${"words ".repeat(20)}\n`.repeat(400));
    const model = createConversingModel(always, { contextWindow, tooLongFrom: () => limit });
    const session = scene.open(model, { maxTurns: 40 });
    const ran = await run(session, "go");
    expect(ran.end).toMatchObject({ reason: "max_turns" });
    expect(summaries(model.requests)).toBeLessThan(20);
    const requests = model.requests.filter(({ isSummary }) => !isSummary);
    expect(JSON.stringify(requests.map(({ request }) => request.messages))).toContain("Cut for its size");
    expect(requests.some(({ texts }) => texts.join().includes("results of your latest calls (Read)"))).toBe(
      true,
    );
    for (const asked of model.requests) expectSound([asked]);
  });

  it("end the run when there is no room even for a part of them", async () => {
    await scene.workspace.write("long.txt", `${"words ".repeat(20)}\n`.repeat(400));
    const talkative: Answering = ({ isSummary }) =>
      isSummary
        ? summary
        : { text: "x".repeat(60_000), calls: [{ name: "Read", input: { file_path: "long.txt" } }] };
    const model = createConversingModel(talkative, { contextWindow: 26_000 });
    const ran = await run(scene.open(model, { maxTurns: 40 }), "go");
    expect(ran.end).toMatchObject({
      reason: "context_exhausted",
      message: expect.stringContaining("shortened 3 times in a row"),
    });
  });
});

describe("the task of an agent", () => {
  it("is before it as it was given, after compaction", async () => {
    await scene.workspace.write("long.txt", `${"words ".repeat(20)}\n`.repeat(60));
    const detail = "detail ".repeat(400);
    const task = `BEGIN ${detail} RULE: never touch b.txt ${detail} END`;
    const model = createConversingModel((asked) => {
      if (asked.isSummary) return summary;
      if (isShortened(asked)) return "dug";
      if (!asked.texts.some((text) => text.startsWith("BEGIN"))) return obedient()(asked);
      return { calls: [{ name: "Read", input: { file_path: "long.txt" } }] };
    });
    await run(scene.open(model), call("Agent", { description: "digs", prompt: task }));
    expect(model.requests.find(isShortened)?.texts.join()).toContain(task);
  });
});

describe("what cannot be done", () => {
  it("is not tried again at every prompt", async () => {
    const failing = obedient(() => {
      throw new ModelError({ kind: "rejected", message: "boom" });
    });
    const model = createConversingModel(failing, { contextWindow: 50_000 });
    const session = scene.open(model);
    while (summaries(model.requests) === 0) await run(session, long("much"));
    for (let index = 0; index < 5; index++) await run(session, "short");
    expect(summaries(model.requests)).toBe(1);
    await run(session, long("much more"));
    expect(summaries(model.requests)).toBe(2);
  });

  it("is not tried at all in a window that is full without a conversation, and told once", async () => {
    const model = createConversingModel(obedient(), { contextWindow: 2_000 });
    const session = scene.open(model);
    const told = [];
    for (let index = 0; index < 4; index++) {
      const ran = await run(session, `prompt ${index} ${"word ".repeat(200)}`);
      expect(ran.end).toMatchObject({ reason: "completed" });
      told.push(...problems(ran.events));
    }
    expect(told).toEqual([expect.stringMatching(/system prompt and the tools alone.*of the 2000 tokens/)]);
    expect(summaries(model.requests)).toBe(0);
  });

  it("is the end where such a window's provider refuses", async () => {
    const model = createConversingModel(obedient(), { contextWindow: 2_000, tooLongFrom: () => 10 });
    const ran = await run(scene.open(model), "a prompt that is longer than ten tokens, with all its words");
    expect(ran.end).toMatchObject({
      reason: "context_exhausted",
      message: expect.stringContaining("Choose a model with a larger context window"),
    });
    expect(summaries(model.requests)).toBe(0);
  });

  it("is done where such a window has turned out to be larger than is known", async () => {
    const model = createConversingModel(obedient(), { contextWindow: 2_000, tooLongFrom: () => 8_000 });
    const session = scene.open(model);
    await run(session, long("first"));
    expect(await run(session, long("second"))).toMatchObject({
      end: { reason: "completed" },
      compactions: 1,
    });
  });

  it("is a summary of which the model only said what it was about to do", async () => {
    const answers: ReturnType<Answering>[] = [
      { text: "PARTIAL", calls: [{ name: "Glob", input: { pattern: "*" } }] },
      "",
    ];
    const session = scene.open(createConversingModel(obedient(() => answers.shift() ?? "")));
    await run(session, long("first"));
    expect(await session.compact()).toMatchObject({ ok: false, problem: expect.stringMatching(/empty/) });
  });
});
