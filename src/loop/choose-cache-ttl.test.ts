import { describe, expect, it } from "vitest";
import type { RunSource } from "../contracts/event.ts";
import type { Block } from "../contracts/message.ts";
import { noUsage } from "../contracts/usage.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createUnkeptTranscript } from "../transcript/writer.ts";
import { createTtlChooser } from "./choose-cache-ttl.ts";
import { createHistory } from "./history.ts";
import type { LoopOptions } from "./loop-options.ts";

const minuteMs = 60_000;
const text = (tokens: number): Block => ({ type: "text", text: "x".repeat(4 * tokens) });

function setUp(source: RunSource = { kind: "main" }) {
  const clock = createManualClock(1_000_000);
  let isAwaiting = false;
  const choose = createTtlChooser({ clock, isAwaiting: () => isAwaiting });
  const history = createHistory({ world: createTestWorld(), transcript: createUnkeptTranscript() });
  const loop = {
    agent: { source },
    prefix: { system: "", tools: [] },
    model: {},
    limits: {},
    history,
  } as unknown as LoopOptions;
  let promptTokens = 0;

  /** One turn: so many tokens in so many blocks are said, the model is asked, answers, and nothing happens for a while. */
  async function turn(newTokens: number, options: { pauseMinutes?: number; blocks?: number } = {}) {
    const { pauseMinutes = 0, blocks = 1 } = options;
    const content = Array.from({ length: blocks }, () => text(newTokens / blocks));
    history.append({ role: "user", content });
    const ttl = choose(loop);
    history.sentCount = history.messages.length;
    promptTokens += newTokens;
    const usage = { ...noUsage, cacheReadTokens: promptTokens };
    const response = { id: "m", model: "m", stopReason: "end_turn" as const, usage };
    history.append({ role: "assistant", content: [text(0)], response });
    await clock.advance(pauseMinutes * minuteMs);
    return ttl;
  }

  return {
    turn,
    history,
    choose: () => choose(loop),
    await: (awaiting: boolean) => {
      isAwaiting = awaiting;
    },
  };
}

describe("what a request writes", () => {
  it("is kept as is usual when all of it is new", async () => {
    expect(await setUp().turn(100_000)).toBe("5m");
  });

  it("is kept for an hour when it is little, and much hangs on it", async () => {
    const { turn } = setUp();
    await turn(100_000);
    expect(await turn(500)).toBe("1h");
  });

  it("is not when it is much for what hangs on it", async () => {
    const { turn } = setUp();
    await turn(10_000);
    expect(await turn(500)).toBe("5m");
  });

  it("is not again as long as an earlier entry can be found, and is when it cannot", async () => {
    const { turn } = setUp();
    await turn(100_000);
    const ttls = [];
    for (let index = 0; index < 22; index += 1) ttls.push(await turn(100));
    // Two blocks a turn, and a look back of 20.
    expect(ttls.flatMap((ttl, index) => (ttl === "1h" ? [index] : []))).toEqual([0, 10, 20]);
  });

  it("is when something runs in the background that the agent will wait for", async () => {
    const { turn, await: await_ } = setUp();
    await turn(10_000);
    await_(true);
    expect(await turn(3_000)).toBe("1h");
  });

  it("is as is usual for a service, with whose words nobody goes on", async () => {
    const { turn } = setUp({ kind: "service", name: "compaction" });
    await turn(100_000);
    expect(await turn(10)).toBe("5m");
  });
});

describe("what was seen", () => {
  it("counts: a conversation that has paused long is expected to do so again", async () => {
    const patient = setUp();
    const ttls = [];
    // Each time all of it has to be written again, until it is kept for an hour.
    for (let index = 0; index < 6; index += 1) ttls.push(await patient.turn(20_000, { pauseMinutes: 12 }));
    expect(ttls).toEqual(["5m", "5m", "5m", "1h", "1h", "1h"]);
    const busy = setUp();
    for (let index = 0; index < 6; index += 1)
      expect(await busy.turn(20_000, { pauseMinutes: 1 })).toBe("5m");
  });

  it("of a pause longer than an hour is that an hour would not have helped", async () => {
    const { turn } = setUp();
    for (const tokens of [20_000, 500, 500]) await turn(tokens, { pauseMinutes: 90 });
    // All of it has to be written again, whatever is chosen.
    expect(await turn(500)).toBe("5m");
  });

  it("is void after a request that failed, and after a compaction", async () => {
    const { turn, history, choose } = setUp();
    await turn(100_000);
    history.append({ role: "user", content: [text(100)] });
    expect(choose()).toBe("1h");
    // It was never sent: the next one has as much to lose.
    expect(choose()).toBe("1h");
    await turn(100);
    history.restart([]);
    expect(await turn(2_000)).toBe("5m");
  });
});
