import { describe, expect, it } from "vitest";
import { ModelError, type ModelErrorKind } from "./model-error.ts";
import { defaultRetryDelays, mayAskAgain, probeDelayMs, retryDelayMs } from "./retry.ts";

const failure = (kind: ModelErrorKind) => new ModelError({ kind, message: kind });
const always = (number: number) => ({ number: () => number });
const counts = Array.from({ length: 9 }, (_, index) => index + 1);

describe("asking again for an answer that broke off", () => {
  it("happens a bounded number of times, and only for what may pass", () => {
    const triesOf = (error: Error) => counts.concat(10, 11, 12).filter((n) => mayAskAgain(error, n)).length;
    expect(triesOf(failure("cut"))).toBe(9);
    expect(triesOf(failure("overloaded"))).toBe(9);
    expect(triesOf(failure("rejected"))).toBe(0);
    expect(triesOf(failure("unauthorized"))).toBe(0);
    expect(triesOf(failure("prompt-too-long"))).toBe(0);
    expect(triesOf(new Error("a bug"))).toBe(0);
  });
});

describe("the delay", () => {
  it("of one of many grows up to a bound, and may be anything below it", () => {
    const delays = (number: number) => counts.map((tries) => retryDelayMs({ tries, random: always(number) }));
    expect(delays(1)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(delays(0)).toEqual(counts.map(() => 0));
  });

  it("of a probe grows likewise, and is never short", () => {
    const delays = (number: number) =>
      counts.map((rounds) => probeDelayMs({ rounds, random: always(number), delays: defaultRetryDelays }));
    expect(delays(1)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(delays(0).slice(0, 3)).toEqual([375, 750, 1_500]);
    expect(delays(0).at(-1)).toBe(22_500);
  });

  it("stays a number after very many tries", () => {
    expect(retryDelayMs({ tries: 5_000, random: always(1) })).toBe(30_000);
  });
});
