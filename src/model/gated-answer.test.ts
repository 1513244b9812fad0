import { describe, expect, it } from "vitest";
import { createScope } from "../base/cancellation.ts";
import { createSimulatedProvider } from "../testing/simulated-provider.ts";
import { createSeededRandom } from "../testing/test-world.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { createWatchedScope } from "../testing/watched-scope.ts";
import type { RequestEnd } from "./gated-answer.ts";
import { createGateway } from "./gateway.ts";
import type { ModelRequest } from "./model.ts";
import { ModelError } from "./model-error.ts";

const end = { done: true, value: undefined };
const broken = new ModelError({ kind: "unavailable", message: "it broke", status: 500 });

function setUp(answer: Parameters<typeof createSimulatedProvider>[0]["answer"]) {
  const clock = createVirtualClock();
  const provider = createSimulatedProvider({ clock, answer });
  const ends: RequestEnd[] = [];
  const gateway = createGateway({
    clock,
    random: createSeededRandom(7),
    limits: { startConcurrency: 1, maxConcurrency: 1 },
    onRequestEnd: (each) => ends.push(each),
  });
  const model = gateway.connect(provider.model());
  const ask = (more: Partial<ModelRequest> = {}) =>
    model
      .stream({
        system: "",
        tools: [],
        messages: [],
        cacheMarks: [],
        maxOutputTokens: 1,
        scope: createScope(),
        ...more,
      })
      [Symbol.asyncIterator]();
  const free = { active: 0, waiting: 0 };
  return { clock, provider, gateway, ends, ask, free };
}

describe("a reader that leaves", () => {
  it("before it asked for anything has sent nothing, and is told of as one that nobody wanted", async () => {
    const { provider, gateway, ends, ask, free } = setUp(() => "ok");
    const answer = ask();
    expect(await answer.return?.()).toEqual(end);
    expect(await answer.next()).toEqual(end);
    expect(provider.sendings).toEqual([]);
    expect(gateway.state()).toMatchObject(free);
    expect(ends).toMatchObject([{ outcome: "cancelled", tries: 0 }]);
  });

  it("while it waits in line does not keep the slot that it is given", async () => {
    const { clock, provider, gateway, ends, ask, free } = setUp(() => "ok");
    const { scope, held } = createWatchedScope();
    const [first, second, third] = [ask(), ask({ scope }), ask()];
    const waiting = [first.next(), second.next(), third.next()];
    await second.return?.();
    await clock.runUntil(Promise.resolve(waiting[0]));
    await first.return?.();
    expect(await clock.runUntil(Promise.resolve(waiting[1]))).toEqual(end);
    expect(await clock.runUntil(Promise.resolve(waiting[2]))).toMatchObject({ done: false });
    await third.return?.();
    expect(gateway.state()).toMatchObject(free);
    expect(provider.sendings).toHaveLength(2);
    expect(ends).toHaveLength(3);
    expect(held()).toBe(0);
  });

  it("while it waits to be sent again is not sent again", async () => {
    const { clock, provider, gateway, ends, ask, free } = setUp(() => broken);
    let isRetried = () => {};
    const retried = new Promise<void>((resolve) => {
      isRetried = resolve;
    });
    const answer = ask({ onRetry: () => isRetried() });
    const waiting = answer.next();
    await clock.runUntil(retried);
    await answer.return?.();
    expect(await clock.runUntil(waiting)).toEqual(end);
    expect(provider.sendings).toHaveLength(1);
    expect(gateway.state()).toMatchObject(free);
    expect(ends).toMatchObject([{ outcome: "cancelled", tries: 1 }]);
  });

  it("while the answer is awaited gets nothing of it, be it an event or a failure", async () => {
    for (const outcome of ["ok", broken] as const) {
      const { clock, provider, gateway, ask, free } = setUp(() => outcome);
      const answer = ask();
      const waiting = answer.next();
      const leaving = answer.return?.();
      expect(gateway.state()).toMatchObject({ waiting: 0 });
      expect(await clock.runUntil(waiting)).toEqual(end);
      expect(await leaving).toEqual(end);
      expect(await answer.next()).toEqual(end);
      expect(provider.sendings).toHaveLength(1);
      expect(gateway.state()).toMatchObject(free);
    }
  });

  it("after the end changes nothing", async () => {
    const { clock, ends, ask } = setUp(() => "ok");
    const answer = ask();
    let step = await clock.runUntil(answer.next());
    while (!step.done) step = await clock.runUntil(answer.next());
    expect(await answer.return?.()).toEqual(end);
    expect(ends).toMatchObject([{ outcome: "completed" }]);
  });
});

describe("an answer", () => {
  it("that fails does so once, and has then ended", async () => {
    const { clock, gateway, ends, ask, free } = setUp(() => "cut");
    const answer = ask();
    expect(await clock.runUntil(answer.next())).toMatchObject({ done: false });
    await expect(clock.runUntil(answer.next())).rejects.toMatchObject({ kind: "cut" });
    expect(await answer.next()).toEqual(end);
    expect(gateway.state()).toMatchObject({ ...free, cuts: 1 });
    expect(ends).toMatchObject([{ outcome: "cut" }]);
  });
});
