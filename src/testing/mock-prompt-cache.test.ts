import { describe, expect, it } from "vitest";
import { createMockPromptCache, type WireBlock, type WireRequest } from "./mock-prompt-cache.ts";

type Ttl = "5m" | "1h" | undefined;
const minuteMs = 60_000;

function setUp() {
  let nowMs = 0;
  const cache = createMockPromptCache({ now: () => nowMs });
  return {
    pass: (minutes: number) => {
      nowMs += minutes * minuteMs;
    },
    account: cache.account,
    /** Answered at once. */
    ask(...blocks: readonly WireBlock[]) {
      const { usage, commit } = cache.account(request(...blocks));
      commit();
      return usage;
    },
  };
}

function request(...content: readonly WireBlock[]): WireRequest {
  return { model: "m", messages: [{ role: "user", content }] };
}

/** 1,000 tokens and a bit. */
function block(name: string, mark?: "marked", ttl?: Ttl): WireBlock {
  const cache_control = { type: "ephemeral", ...(ttl && { ttl }) };
  return { type: "text", text: name.repeat(5000 / name.length), ...(mark && { cache_control }) };
}

describe("an entry", () => {
  it("can be read after the answer that writes it has begun, not before", () => {
    const { account } = setUp();
    const asked = request(block("a", "marked"));
    const [first, second] = [account(asked), account(asked)];
    for (const { usage } of [first, second]) expect(usage.cacheReadTokens).toBe(0);
    first.commit();
    expect(second.usage.cacheReadTokens).toBe(0);
    expect(account(asked).usage.cacheReadTokens).toBeGreaterThan(1000);
  });

  it("stands at marks only", () => {
    const { ask } = setUp();
    ask(block("a"), block("b", "marked"));
    expect(ask(block("a", "marked")).cacheReadTokens).toBe(0);
    expect(ask(block("a"), block("b", "marked")).cacheReadTokens).toBeGreaterThan(2000);
  });

  it("is gone after five minutes in which nobody used it", () => {
    const { ask, pass } = setUp();
    ask(block("a", "marked"));
    for (let time = 0; time < 3; time += 1) {
      pass(4);
      expect(ask(block("a", "marked")).cacheReadTokens).toBeGreaterThan(0);
    }
    pass(5);
    expect(ask(block("a", "marked")).cacheReadTokens).toBe(0);
  });

  it("is gone after an hour if it was written for one, whoever used it", () => {
    const { ask, pass } = setUp();
    ask(block("a", "marked", "1h"));
    pass(59);
    // It is used with a mark for five minutes, and is kept for an hour all the same.
    expect(ask(block("a", "marked")).cacheReadTokens).toBeGreaterThan(0);
    pass(59);
    expect(ask(block("a", "marked")).cacheReadTokens).toBeGreaterThan(0);
    pass(60);
    expect(ask(block("a", "marked")).cacheReadTokens).toBe(0);
  });

  it("is not kept for longer by a mark that pays nothing for it", () => {
    const { ask, pass } = setUp();
    ask(block("a", "marked"));
    expect(ask(block("a", "marked", "1h"))).toMatchObject({ cacheWriteTokens: 0, longCacheWriteTokens: 0 });
    pass(6);
    expect(ask(block("a", "marked")).cacheReadTokens).toBe(0);
  });

  it("that is longer and kept for an hour holds what was written for five minutes", () => {
    const { ask, pass } = setUp();
    const { cacheWriteTokens } = ask(block("a", "marked"));
    const second = ask(block("a", "marked", "1h"), block("b", "marked", "1h"));
    expect(second).toMatchObject({ cacheReadTokens: cacheWriteTokens });
    expect(second.longCacheWriteTokens).toBe(second.cacheWriteTokens);
    pass(12);
    expect(ask(block("a", "marked"), block("b", "marked")).cacheReadTokens).toBeGreaterThan(2000);
  });
});

describe("what is written", () => {
  it("is counted apart for five minutes and for an hour", () => {
    const { ask } = setUp();
    const both = ask(block("a", "marked", "1h"), block("b", "marked"), block("c"));
    expect(both.cacheReadTokens).toBe(0);
    expect(both.longCacheWriteTokens).toBeGreaterThan(1000);
    expect(both.cacheWriteTokens - (both.longCacheWriteTokens ?? 0)).toBeGreaterThan(1000);
    expect(both.inputTokens).toBeGreaterThan(1000);
  });

  it("must not be for an hour after what is for five minutes", () => {
    const { ask } = setUp();
    expect(() => ask(block("a", "marked"), block("b", "marked", "1h"))).toThrow("must not come after");
    expect(() => ask(block("a", "marked", "5m"), block("b", "marked", "1h"))).toThrow("must not come after");
    expect(() => ask(block("a", "marked", "1h"), block("b", "marked", "5m"))).not.toThrow();
  });
});

it("without a clock nothing expires", () => {
  const cache = createMockPromptCache();
  cache.account(request(block("a", "marked"))).commit();
  expect(cache.account(request(block("a", "marked"))).usage.cacheReadTokens).toBeGreaterThan(0);
});
