/** What the settings `staggerFanOut` and `cache.ttl` save, as the provider counts it. */
import { describe, expect, it } from "vitest";
import type { World } from "../../src/base/world.ts";
import type { Settings } from "../../src/contracts/settings.ts";
import type { MockRequest } from "../../src/testing/mock-dialect.ts";
import type { MockUsage } from "../../src/testing/mock-prompt-cache.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";
import {
  type Answer,
  type Asked,
  callAgent,
  createBarrier,
  lastBlockOf,
  longPrompt,
  look,
  priceOf,
  runToEnd,
  said,
  useCacheScene,
} from "./cache-scene.ts";

const createScene = useCacheScene();

describe("ten fresh agents of one kind, started in one message", () => {
  const isChild = ({ request }: Asked) =>
    JSON.stringify(request.body.messages[0]?.content).includes("part of the work");
  const tenCalls = Array.from({ length: 10 }, (_, index) =>
    callAgent(`part of the work ${index}`, { subagent_type: "general-purpose" }),
  );

  async function usagesWith(settings: Settings, answerChild: (running: () => number) => Promise<void>) {
    const children: MockRequest[] = [];
    const scene = await createScene({
      settings,
      async answer(asked) {
        if (!isChild(asked)) return asked.answers === 0 ? tenCalls : said("done");
        children.push(asked.request);
        await answerChild(() => session.tasks.list().length);
        return said("did it");
      },
    });
    const session = await scene.open();
    await runToEnd(session, "go");
    expect(children).toHaveLength(10);
    return children.map(scene.provider.usageOf);
  }

  it("write the same entry ten times, or with staggerFanOut once", async () => {
    const apart = await usagesWith({}, createBarrier(10));
    expect(apart.map((usage) => usage?.cacheReadTokens)).toEqual(Array(10).fill(0));

    let isFirst = true;
    const staggered = await usagesWith({ staggerFanOut: true }, async (running) => {
      if (!isFirst) return;
      isFirst = false;
      while (running() < 10) await nextTurn();
      // Whoever did not wait for this answer would be here by now.
      for (let turn = 0; turn < 100; turn += 1) await nextTurn();
    });
    const [first, ...others] = staggered;
    expect(first?.cacheReadTokens).toBe(0);
    for (const usage of others) {
      expect(usage?.cacheReadTokens).toBeGreaterThan(1024);
      expect(usage?.cacheReadTokens).toBe(others[0]?.cacheReadTokens);
    }
    expect(priceOf(staggered)).toBeLessThan(0.4 * priceOf(apart));
  });
});

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const minuteMs = 60_000;

/** The real clock, of which a test can say that time has passed. */
function createShiftedClock(): World["clock"] & { pass(ms: number): void } {
  const { clock } = createTestWorld();
  let shiftMs = 0;
  return {
    now: () => clock.now() + shiftMs,
    monotonicMs: () => clock.monotonicMs() + shiftMs,
    setTimer: (ms, run, options) => clock.setTimer(ms, run, options),
    pass(ms) {
      shiftMs += ms;
    },
  };
}

describe("an agent with 100,000 tokens that waits 12 minutes", () => {
  interface Bill {
    readonly afterWait: MockUsage | undefined;
    readonly price: number;
  }

  /** All requests of the main agent, of which the one after the wait is looked at. */
  async function billWith(settings: Settings, answer: (wait: () => void) => Answer): Promise<Bill> {
    const clock = createShiftedClock();
    let waited = false;
    const scene = await createScene({
      settings,
      clock,
      answer: answer(() => {
        clock.pass(12 * minuteMs);
        waited = true;
      }),
    });
    await runToEnd(await scene.open(), longPrompt(100_000));
    expect(waited).toBe(true);
    const ofMain = scene.provider.requests.filter(isOfMain);
    const afterWait = ofMain.find((request) => JSON.stringify(lastMessage(request)).includes("slowly done"));
    expect(afterWait).toBeDefined();
    return {
      afterWait: afterWait && scene.provider.usageOf(afterWait),
      price: priceOf(ofMain.map(scene.provider.usageOf)),
    };
  }

  const isOfMain = ({ body }: MockRequest) => JSON.stringify(body.messages[0]?.content).includes("File 3:");
  const lastMessage = ({ body }: MockRequest) => body.messages.at(-1);

  /** It looks around, and then starts an agent that takes its time. */
  const forAChild =
    (inBackground: boolean) =>
    (wait: () => void): Answer =>
    ({ request, answers, lastText }) => {
      if (!isOfMain(request)) {
        wait();
        return said("slowly done");
      }
      if (answers === 0) return [look];
      if (answers === 1)
        return [callAgent("take your time", { subagent_type: "Explore", run_in_background: inBackground })];
      return lastText === "" ? said("it runs") : said("understood");
    };

  it("for a child in the foreground reads its prefix all the same, and pays less for it", async () => {
    const usual = await billWith({}, forAChild(false));
    expect(usual.afterWait?.cacheReadTokens).toBe(0);
    expect(usual.afterWait?.cacheWriteTokens).toBeGreaterThan(100_000);

    const chosen = await billWith({ cache: { ttl: "auto" } }, forAChild(false));
    expect(chosen.afterWait?.cacheReadTokens).toBeGreaterThan(100_000);
    expect(chosen.price).toBeLessThan(0.6 * usual.price);

    // An hour for everything costs more than where it pays, and still less than to write it all again.
    const always = await billWith({ cache: { ttl: "1h" } }, forAChild(false));
    expect(always.afterWait?.cacheReadTokens).toBeGreaterThan(100_000);
    expect(always.price).toBeGreaterThan(chosen.price);
    expect(always.price).toBeLessThan(usual.price);
  });

  it("for one in the background reads what it said after it had started that, too", async () => {
    const usual = await billWith({}, forAChild(true));
    expect(usual.afterWait?.cacheReadTokens).toBe(0);
    const chosen = await billWith({ cache: { ttl: "auto" } }, forAChild(true));
    expect(chosen.afterWait?.cacheReadTokens).toBeGreaterThan(100_000);
    expect(chosen.price).toBeLessThan(0.6 * usual.price);
  });

  it("sends the same bytes but for its marks, whatever the setting", async () => {
    const sent = async (settings: Settings) => {
      const scene = await createScene({ settings, answer: forAChild(false)(() => {}) });
      await runToEnd(await scene.open(), longPrompt(2_000));
      const [first] = scene.provider.requests;
      expect(first && lastBlockOf(first)?.cache_control).toEqual(
        settings.cache?.ttl === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" },
      );
      return first?.raw
        .toString("utf8")
        .replaceAll(/,"cache_control":\{[^}]*\}/g, "")
        .replaceAll(scene.cwd, "");
    };
    expect(await sent({ cache: { ttl: "1h" } })).toBe(await sent({}));
  });
});
