import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { LoopEvent } from "../contracts/event.ts";
import type { Model } from "../model/model.ts";
import { createTestAgent } from "../testing/loop-harness.ts";
import { createScriptedModel, type Script } from "../testing/scripted-model.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createWatchedScope } from "../testing/watched-scope.ts";
import { defineTool } from "../tools/tool.ts";
import { createUnkeptTranscript } from "../transcript/writer.ts";
import { createBudget } from "./budget.ts";
import { createHistory } from "./history.ts";
import { createInterrupt } from "./interrupt.ts";
import { iterateLoop } from "./iterate-loop.ts";
import type { LoopOptions } from "./loop-options.ts";

const echo = defineTool({
  name: "Echo",
  description: "Says it again",
  input: z.object({}),
  isReadOnly: () => true,
  call: async () => "echo",
  toResult: (text) => text,
});
const left = { reason: "aborted", during: "between-turns", why: "left" } as const;
const again = { calls: [{ name: "Echo", input: {} }] };

/** Nothing here waits for a disk, so a turn too many would begin at once. */
function setUp(script: Script | Model, more: Partial<LoopOptions> = {}) {
  const world = createTestWorld();
  const model = "stream" in script ? script : createScriptedModel(script);
  const { scope, held } = createWatchedScope();
  const transcript = createUnkeptTranscript();
  const history = createHistory({ world, transcript });
  const options: Omit<LoopOptions, "listener"> = {
    world,
    agent: createTestAgent("/tmp"),
    model,
    prefix: { system: "", tools: [] },
    tools: [echo],
    history,
    transcript,
    input: { content: [{ type: "text", text: "go" }] },
    scope,
    interrupt: createInterrupt(),
    limits: { concurrency: { tool: 1, agent: 1 }, startCallsWhileStreaming: true },
    budget: createBudget({}),
    priceOf: () => 0,
    gate: async () => ({ allowed: true }),
    queue: { take: () => [], waiting: () => 0, acknowledge() {} },
    ...more,
  };
  const requests = "requests" in model ? (model.requests as unknown[]) : [];
  return { loop: iterateLoop(options), requests, scope, held, history, interrupt: options.interrupt };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function readUntil(
  loop: AsyncGenerator<LoopEvent, unknown>,
  type: LoopEvent["type"],
): Promise<LoopEvent> {
  for (;;) {
    const step = await loop.next();
    if (step.done) throw new Error(`It ended before ${type}`);
    if (step.value.type === type) return step.value;
  }
}

describe("a loop that is read", () => {
  it("hands out everything in order, then why it ended", async () => {
    const { loop, held } = setUp([again, "done"]);
    const types: string[] = [];
    let step = await loop.next();
    for (; !step.done; step = await loop.next())
      if (step.value.type !== "model-event") types.push(step.value.type);
    expect(types[0]).toBe("message-append");
    expect(types.filter((type) => type === "turn-end")).toHaveLength(2);
    expect(types.at(-1)).toBe("turn-end");
    expect(step.value).toEqual({ reason: "completed", stopReason: "end_turn" });
    expect(held()).toBe(0);
  });

  it("does not begin before it is read", async () => {
    const { loop, requests, history } = setUp(["done"]);
    await settle();
    await loop.return(left);
    expect([requests.length, history.messages.length]).toEqual([0, 0]);
  });

  it("runs ahead of its reader by at most a turn", async () => {
    const { loop, requests } = setUp([again, again, "done"]);
    await loop.next();
    await settle();
    expect(requests).toHaveLength(0);
    await loop.next();
    await settle();
    expect(requests).toHaveLength(1);
    await readUntil(loop, "turn-end");
    await settle();
    expect(requests).toHaveLength(1);
    void loop.next();
    await settle();
    expect(requests).toHaveLength(2);
  });

  it("fails as the loop does, after everything that came before", async () => {
    const { loop, held } = setUp([again], {
      renewPrefix: () => {
        throw new Error("a fault of ours");
      },
    });
    expect((await loop.next()).value).toMatchObject({ type: "message-append" });
    await expect(loop.next()).rejects.toThrow("a fault of ours");
    expect(await loop.next()).toEqual({ done: true, value: undefined });
    expect(held()).toBe(0);
  });
});

describe("a reader that leaves", () => {
  it("between two turns gets no further turn", async () => {
    const { loop, requests, history, held } = setUp([again, again, "done"]);
    await readUntil(loop, "turn-end");
    await settle();
    const before = history.messages.length;
    expect(await loop.return(left)).toEqual({ done: true, value: left });
    await settle();
    expect(requests).toHaveLength(1);
    expect(history.messages).toHaveLength(before);
    expect(held()).toBe(0);
  });

  it("at any event stops the loop, and has waited for its end", async () => {
    for (let count = 1; count < 20; count += 1) {
      const { loop, requests, scope, held } = setUp([again, again, "done"]);
      for (let read = 0; read < count; read += 1) await loop.next();
      await loop.return(left);
      const asked = requests.length;
      await settle();
      expect(requests).toHaveLength(asked);
      expect(held()).toBe(0);
      expect(scope.cancelled).toBe(false);
    }
  });

  it("while it waits for the next event is gone when that has come", async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const scripted = createScriptedModel([again, "done"]);
    const model: Model = {
      ...scripted,
      async *stream(request) {
        await answered;
        yield* scripted.stream(request);
      },
    };
    const { loop, requests, held } = setUp(model);
    await readUntil(loop, "turn-start");
    const waiting = loop.next();
    const leaving = loop.return(left);
    answer();
    expect(await waiting).toMatchObject({ done: false });
    expect(await leaving).toEqual({ done: true, value: left });
    expect(requests).toHaveLength(1);
    expect(held()).toBe(0);
  });
});

it("a stop reaches a loop that waits for its reader as soon as that reads on", async () => {
  const { loop, requests, interrupt } = setUp([again, again, "done"]);
  await readUntil(loop, "turn-end");
  interrupt.request("stop");
  let step = await loop.next();
  while (!step.done) step = await loop.next();
  expect(step.value).toMatchObject({ reason: "aborted", why: "the user interrupted" });
  expect(requests).toHaveLength(2);
});
