import { describe, expect, it } from "vitest";
import { ModelError, type ModelErrorKind } from "./model-error.ts";
import { mayRetry, retryDelayMs } from "./retry.ts";

const failure = (kind: ModelErrorKind, rest: { status?: number; retryAfterMs?: number } = {}) =>
  new ModelError({ kind, message: kind, ...rest });
const triesOf = (error: Error) => {
  let tries = 1;
  while (mayRetry(error, tries) && tries < 1_000) tries++;
  return tries;
};

describe("asking again", () => {
  it("happens for what may pass, a bounded number of times, and sooner given up for a host that is not there", () => {
    expect(triesOf(failure("overloaded", { status: 529 }))).toBe(10);
    expect(triesOf(failure("unavailable", { status: 503 }))).toBe(10);
    expect(triesOf(failure("cut"))).toBe(10);
    expect(triesOf(failure("unavailable"))).toBe(4);
  });

  it("does not happen for what stays, nor for what is not the model's failure", () => {
    for (const kind of ["prompt-too-long", "unauthorized", "rejected"] as const)
      expect(triesOf(failure(kind))).toBe(1);
    expect(triesOf(new Error("a bug"))).toBe(1);
    expect(triesOf(failure("overloaded", { status: 429, retryAfterMs: 3_600_000 }))).toBe(1);
  });

  it("waits longer each time up to a bound, with jitter, and never less than the provider asked for", () => {
    const delays = (number: number, error = failure("overloaded")) =>
      Array.from({ length: 9 }, (_, index) =>
        retryDelayMs({ error, tries: index + 1, random: { number: () => number } }),
      );
    expect(delays(1)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000]);
    expect(delays(0)).toEqual(Array.from({ length: 9 }, () => 0));
    expect(Math.min(...delays(0, failure("overloaded", { retryAfterMs: 7_000 })))).toBe(7_000);
  });
});
