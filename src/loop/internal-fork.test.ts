import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createScope } from "../base/cancellation.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { Message } from "../contracts/message.ts";
import { ModelError } from "../model/model-error.ts";
import { createLoopHarness } from "../testing/loop-harness.ts";
import { createScriptedModel, type Fault, type Reply } from "../testing/scripted-model.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { defineTool } from "../tools/tool.ts";
import { createBudget } from "./budget.ts";
import { type InternalFork, runInternalFork } from "./internal-fork.ts";
import type { LoopOptions } from "./loop-options.ts";

const touched: string[] = [];
const touch = defineTool({
  name: "Touch",
  description: "Touches",
  input: z.object({ what: z.string() }),
  async call({ what }) {
    touched.push(what);
    return what;
  },
  toResult: (what) => `touched ${what}`,
});

/** A run that has come to its end, and its options. */
async function afterRun(
  replies: readonly Reply[],
  more: { overrides?: Partial<LoopOptions>; faults?: Record<number, Fault> } = {},
) {
  const world = createTestWorld({ seed: 7 });
  const model = createScriptedModel(replies, { ...(more.faults && { faults: more.faults }) });
  const harness = createLoopHarness({
    world,
    model,
    tools: [touch],
    ...(more.overrides && { overrides: more.overrides }),
  });
  await harness.run("the user's prompt");
  const loop = harness.history.sentWith as LoopOptions;
  const fork = (options: Partial<InternalFork> = {}) =>
    runInternalFork({
      loop,
      messages: harness.history.messages,
      name: "test",
      prompt: "what was asked?",
      limits: { maxTurns: 2 },
      scope: createScope(),
      ...options,
    });
  return { ...harness, world, model, loop, fork };
}

const bytes = (messages: readonly Message[] | undefined) =>
  JSON.stringify(messages?.map(({ role, content }) => ({ role, content })));

const call = { calls: [{ name: "Touch", input: { what: "a" } }] };

describe("an internal fork", () => {
  it("sends what its run has sent, byte for byte, and one prompt more, marked where the run's entry ends", async () => {
    const thinking = { budgetTokens: 2_000 };
    const limits = { concurrency: { tool: 1, agent: 1 }, startCallsWhileStreaming: true, thinking };
    const { model, fork } = await afterRun([call, "done", "an answer"], { overrides: { limits } });
    const ended = await fork({ limits: { maxTurns: 1, maxOutputTokens: 500 } });
    const [parent, own] = model.requests.slice(-2);
    expect(own?.system).toBe(parent?.system);
    expect(own?.tools).toBe(parent?.tools);
    expect(own?.thinking).toBe(thinking);
    // Thinking counts as output, and its budget is part of the cached bytes.
    expect(own?.maxOutputTokens).toBe(2_500);
    const sent = parent?.messages.length ?? 0;
    expect(own?.messages.slice(0, sent)).toEqual(parent?.messages);
    expect(own?.messages.slice(0, sent).every((message, at) => message === parent?.messages[at])).toBe(true);
    expect(own?.messages).toHaveLength(sent + 2);
    expect(own?.cacheMarks).toEqual([sent - 1, sent + 1]);
    expect(ended).toMatchObject({ end: { reason: "completed" }, text: "an answer" });
    expect(ended.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("marks nothing of a conversation that it does not begin with", async () => {
    const { model, history, fork } = await afterRun([call, "done", "an answer"]);
    await fork({ messages: history.messages.slice(1) });
    expect(model.requests.at(-1)?.cacheMarks).toHaveLength(1);
  });

  it("leaves nothing in the history, the transcript, the queue or the state of the agent", async () => {
    const { history, records, queue, loop, fork, events } = await afterRun(["done", call, "an answer"]);
    await queue.add({ uuid: "q", mode: "prompt", priority: "now", content: [{ type: "text", text: "hi" }] });
    const before = [bytes(history.messages), history.sentCount, records.length, events.length];
    const told: LoopEvent[] = [];
    const gate: InternalFork["gate"] = async ({ context }) => {
      expect(context.agent.source).toEqual({ kind: "service", name: "test" });
      context.agent.fileReads.record("/a", "hash");
      context.agent.todos.items = [{ content: "x", status: "pending", activeForm: "x" }];
      context.agent.folder.current = "/elsewhere";
      context.agent.mode.current = "plan";
      return { allowed: true };
    };
    const { text } = await fork({ gate, listener: { emit: (event) => told.push(event) } });
    expect(text).toBe("an answer");
    expect(touched).toContain("a");
    expect([bytes(history.messages), history.sentCount, records.length, events.length]).toEqual(before);
    expect(queue.waiting(undefined)).toBe(1);
    expect(loop.agent.fileReads.paths()).toEqual([]);
    expect(loop.agent.todos.items).toEqual([]);
    expect(loop.agent.folder.current).toBe(loop.agent.folder.root);
    expect(loop.agent.mode.current).toBe("default");
    expect(told.map(({ type }) => type)).toContain("call-end");
  });

  it("runs no tool unless it is allowed to, and says so to the model", async () => {
    touched.length = 0;
    const { model, fork } = await afterRun(["done", call, "in words, then"]);
    const { text } = await fork();
    expect(touched).toEqual([]);
    expect(text).toBe("in words, then");
    expect(bytes(model.requests.at(-1)?.messages)).toContain("only wants an answer in words");
  });

  it("tells what it said at its end from what it said before a call", async () => {
    const preamble = { ...call, text: "I shall look" };
    const silent = await (await afterRun(["done", preamble, ""])).fork();
    expect(silent).toMatchObject({ answer: "", text: "I shall look" });
    const stopped = await (await afterRun(["done", preamble])).fork({ limits: { maxTurns: 1 } });
    expect(stopped).toMatchObject({ answer: "", text: "I shall look" });
    const whole = await (await afterRun(["done", preamble, "an answer"])).fork();
    expect(whole).toMatchObject({ answer: "an answer", text: "an answer" });
  });

  it("answers the calls that its run still waits for, since every call needs a result", async () => {
    const { model, history, fork } = await afterRun([call, "done", "an answer"]);
    await fork({ messages: history.messages.slice(0, 2) });
    const last = model.requests.at(-1)?.messages.at(-1);
    expect(last?.content.map(({ type }) => type)).toEqual(["tool_result", "text"]);
  });

  it("is charged to the budget of its run, and ends at a limit of its own", async () => {
    const budget = createBudget({});
    const { fork } = await afterRun(["done", call, call, call], { overrides: { budget } });
    const before = budget.usage.outputTokens;
    const ended = await fork({ limits: { maxTurns: 9, budget: { maxTurns: 1 } } });
    expect(ended.end).toMatchObject({ reason: "budget_exhausted", budget: "turns" });
    expect(budget.usage.outputTokens).toBe(before + ended.usage.outputTokens);
    expect(ended.usage.outputTokens).toBeGreaterThan(0);
  });

  it("never fails its caller: what goes wrong is its end", async () => {
    const broken = new ModelError({ kind: "rejected", message: "no" });
    const { fork } = await afterRun(["done"], { faults: { 1: { error: broken } } });
    expect(await fork()).toMatchObject({ end: { reason: "model_error", error: broken }, text: "" });
    const { fork: other } = await afterRun(["done", call]);
    const gate: InternalFork["gate"] = () => Promise.reject(new Error("a bug"));
    expect(await other({ gate, limits: { maxTurns: 1 } })).toMatchObject({ end: { reason: "max_turns" } });
  });

  it("ends with its scope, and only then throws", async () => {
    const { fork } = await afterRun(["done"], { faults: { 1: { hang: true } } });
    const scope = createScope();
    const forked = fork({ scope });
    scope.cancel("not needed any more");
    await expect(forked).rejects.toThrow("not needed any more");
    await expect(fork({ scope })).rejects.toThrow("not needed any more");
  });
});
