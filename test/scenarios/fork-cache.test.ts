/** Forks read the entry that their parent wrote: on the wire, byte by byte, and as the provider counts it (FK-3, FK-7). */
import { describe, expect, it } from "vitest";
import type { Block } from "../../src/contracts/message.ts";
import type { MockBlock, MockRequest } from "../../src/testing/mock-dialect.ts";
import {
  type Asked,
  beforeLastMessage,
  type CacheScene,
  callAgent,
  createBarrier,
  lastBlockOf,
  longPrompt,
  look,
  runToEnd,
  said,
  shareRead,
  splitAtLastBlock,
  useCacheScene,
  withoutMarks,
} from "./cache-scene.ts";

const settings = { forkSubagent: "always" } as const;
const createScene = useCacheScene();
const isFork = ({ lastText }: Asked) => lastText.startsWith("<fork-directive>");

/** A parent that looks around first and then calls this; its forks are answered when all of them have come. */
function parentCalling(calls: readonly MockBlock[], more: readonly MockBlock[] = []) {
  const forks = calls.filter((call) => call.type === "tool_use" && call.name === "Agent").length;
  const allForks = createBarrier(forks);
  return async (asked: Asked) => {
    if (isFork(asked)) {
      await allForks();
      return said("reported");
    }
    if (asked.answers === 0) return [...more, look];
    return asked.answers === 1 ? [...more, ...calls] : said("understood");
  };
}

const parts = (count: number) => Array.from({ length: count }, (_, index) => callAgent(`do part ${index}`));

function forkRequests({ provider }: CacheScene): MockRequest[] {
  return provider.requests.filter((request) =>
    String(lastBlockOf(request)?.text).startsWith("<fork-directive>"),
  );
}

/** What must hold for the forks of one message, whatever stands in their history. */
function expectShared(scene: CacheScene, options: { forks: number; share: number }): void {
  const forks = forkRequests(scene);
  const { requests, usageOf } = scene.provider;
  expect(forks).toHaveLength(options.forks);
  const split = forks.map(splitAtLastBlock);
  expect(new Set(split.map(({ before }) => before)).size).toBe(1);
  expect(new Set(split.map(({ last }) => last)).size).toBe(options.forks);

  const [fork] = forks;
  if (fork === undefined) return;
  const shared = beforeLastMessage(fork);
  const ofParent = requests.filter((request) => !forks.includes(request));
  const calling = ofParent.filter((request) => shared.startsWith(withoutMarks(request).slice(0, -2))).at(-1);
  const next = ofParent.find((request) => withoutMarks(request).startsWith(shared));
  expect(calling).toBeDefined();
  expect(next).toBeDefined();
  const entryTokens = calling && tokensUpToEnd(calling);
  for (const request of [...forks, next ?? fork]) expect(usageOf(request)?.cacheReadTokens).toBe(entryTokens);
  expect(shareRead(forks.map(usageOf))).toBeGreaterThanOrEqual(options.share);
  expect(shareRead([usageOf(next ?? fork)])).toBeGreaterThanOrEqual(options.share);

  function tokensUpToEnd(request: MockRequest): number {
    const usage = usageOf(request);
    return (usage?.cacheReadTokens ?? 0) + (usage?.cacheWriteTokens ?? 0);
  }
}

describe("forks of a parent with a history of 100,000 tokens", () => {
  it.each([1, 5, 20])(
    "read it from the cache: %i at once, and so does the parent's next turn",
    async (count) => {
      const scene = await createScene({ answer: parentCalling(parts(count)), settings });
      await runToEnd(await scene.open(), longPrompt(100_000));
      expectShared(scene, { forks: count, share: 0.97 });
    },
  );

  it("go on reading it in their own later turns", async () => {
    const later = createBarrier(3);
    const scene = await createScene({
      settings,
      async answer(asked) {
        const directive = JSON.stringify(asked.request.body.messages).includes("<fork-directive>");
        if (!directive) return parentCalling(parts(3))(asked);
        if (isFork(asked)) return [look];
        await later();
        return said("reported");
      },
    });
    await runToEnd(await scene.open(), longPrompt(100_000));
    const { requests, usageOf } = scene.provider;
    const secondTurns = requests.filter(
      (request) => lastBlockOf(request)?.type === "tool_result" && withoutMarks(request).includes("fork-dir"),
    );
    expect(secondTurns).toHaveLength(3);
    for (const request of secondTurns) expect(shareRead([usageOf(request)])).toBeGreaterThan(0.99);
  });
});

describe("the bytes that forks share", () => {
  const share = 0.8;

  it("hold thinking and pictures as the parent sent them", async () => {
    const thinking: MockBlock[] = [
      { type: "thinking", thinking: "hm ".repeat(50), signature: "c2lnbmVk" },
      { type: "redacted_thinking", data: "aGlkZGVu" },
    ];
    const picture: Block = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=".repeat(200) },
    };
    const scene = await createScene({
      answer: parentCalling(parts(3), thinking),
      settings: { ...settings, thinking: true },
    });
    await runToEnd(await scene.open(), [picture, ...longPrompt(20_000)]);
    expectShared(scene, { forks: 3, share });
    const [fork] = forkRequests(scene);
    for (const sent of ['"signature":"c2lnbmVk"', '"data":"aGlkZGVu"', '"type":"image"'])
      expect(fork && beforeLastMessage(fork)).toContain(sent);
  });

  it("end before the results of whatever else was called in the message", async () => {
    const calls = [look, callAgent("do part 0"), look, callAgent("do part 1"), look];
    const scene = await createScene({ answer: parentCalling(calls), settings });
    await runToEnd(await scene.open(), longPrompt(20_000));
    expectShared(scene, { forks: 2, share });
    const results = forkRequests(scene)[0]?.body.messages.at(-1)?.content.slice(0, -1) as {
      content: string;
    }[];
    expect(results).toHaveLength(5);
    expect(new Set(results.map(({ content }) => content)).size).toBe(1);
  });

  it("are a sub-agent's where it is a sub-agent that forks", async () => {
    const answer = parentCalling(parts(4));
    const scene = await createScene({
      settings: { ...settings, maxAgentDepth: 2 },
      answer: (asked) => {
        const isBelow = JSON.stringify(asked.request.body.messages).includes("you are below");
        return isBelow || isFork(asked) ? answer(asked) : said("understood");
      },
    });
    const session = await scene.open();
    await runToEnd(session, "hello");
    const text = `you are below ${"a b c ".repeat(15_000)}`;
    await session.runCommand({ name: "divide", text }, { mode: "foreground" });
    while (await session.nextWork()) for await (const _ of session.submit());
    expectShared(scene, { forks: 4, share });
    const [main] = scene.provider.requests;
    const [fork] = forkRequests(scene);
    expect(JSON.stringify(fork?.body.system)).not.toBe(JSON.stringify(main?.body.system));
  });

  it("are the shorter history's after a compaction", async () => {
    let phase: "before" | "summary" | "after" = "before";
    const answer = parentCalling(parts(3));
    const scene = await createScene({
      settings,
      answer: (asked) =>
        phase === "after" ? answer(asked) : said(`What happened so far: ${"this ".repeat(8_000)}`),
    });
    const session = await scene.open();
    await runToEnd(session, longPrompt(20_000));
    phase = "summary";
    await session.compact();
    phase = "after";
    const earlier = scene.provider.requests.length;
    await runToEnd(session, "go on");
    const provider = { ...scene.provider, requests: scene.provider.requests.slice(earlier) };
    expectShared({ ...scene, provider }, { forks: 3, share });
    const [fork] = forkRequests({ ...scene, provider });
    expect(fork && withoutMarks(fork)).toContain("What happened so far:");
    expect(fork && withoutMarks(fork)).not.toContain("File 3:");
  });
});
