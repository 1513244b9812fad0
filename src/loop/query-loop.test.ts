import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { LoopEvent } from "../contracts/event.ts";
import type { Message } from "../contracts/message.ts";
import { textOf, toolUsesOf } from "../contracts/message-content.ts";
import { ModelError } from "../model/model-error.ts";
import { createRequestSerializer } from "../model/serialize-request.ts";
import { createLoopHarness } from "../testing/loop-harness.ts";
import { createScriptedModel, type Script, type ScriptedModelOptions } from "../testing/scripted-model.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { defineTool, type Tool } from "../tools/tool.ts";
import { createBudget } from "./budget.ts";
import type { LoopOptions } from "./loop-options.ts";

const echo = defineTool({
  name: "Echo",
  description: "Says it again",
  input: z.object({ text: z.string() }),
  isReadOnly: () => true,
  call: async ({ text }) => text,
  toResult: (text) => text,
});

function effects() {
  const done: string[] = [];
  const tool = defineTool({
    name: "Do",
    description: "Does it",
    input: z.object({ what: z.string() }),
    call: async ({ what }) => {
      done.push(what);
      return `did ${what}`;
    },
    toResult: (text) => text,
  });
  return { tool, done };
}

function setUp(
  script: Script,
  options: { tools?: Tool[]; overrides?: Partial<LoopOptions>; model?: ScriptedModelOptions } = {},
) {
  const clock = createVirtualClock();
  const world = createTestWorld({ clock, seed: 1 });
  const model = createScriptedModel(script, { clock, ...options.model });
  const harness = createLoopHarness({
    world,
    model,
    tools: options.tools ?? [echo],
    ...(options.overrides && { overrides: options.overrides }),
  });
  const run = (prompt: string, onEvent?: (event: LoopEvent) => void) =>
    clock.runUntil(harness.run(prompt, onEvent));
  return { ...harness, run, model, world };
}

const say = (text: string) => ({ calls: [{ name: "Echo", input: { text } }] });
const lastText = (messages: readonly Message[]) => textOf(messages.at(-1)?.content ?? []);

/** LO-4: every call has exactly one result, in the next message, in the same order. */
function expectPaired(messages: readonly Message[]): void {
  for (const [index, message] of messages.entries()) {
    const calls = toolUsesOf(message.content).map((call) => call.id);
    if (calls.length === 0) continue;
    const results = messages[index + 1]?.content.flatMap((block) =>
      block.type === "tool_result" ? [block.tool_use_id] : [],
    );
    expect(results).toEqual(calls);
  }
}

describe("the loop", () => {
  it("goes on until the model calls no tool, and tells what happens", async () => {
    const { run, history, events } = setUp([say("one"), say("two"), "done"]);
    expect(await run("go")).toEqual({ reason: "completed", stopReason: "end_turn" });
    expect(history.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(lastText(history.messages)).toBe("done");
    expectPaired(history.messages);
    const kinds = events.filter((event) => event.type !== "model-event").map((event) => event.type);
    const toolTurn = ["turn-start", "call-start", "message-append", "call-end", "message-append", "turn-end"];
    expect([...kinds].sort()).toEqual(
      ["message-append", ...toolTurn, ...toolTurn, "turn-start", "message-append", "turn-end"].sort(),
    );
  });

  it("sends again, byte for byte, what it sent before", async () => {
    const turns = 30;
    const script = [
      ...Array.from({ length: turns }, (_, index) => say(`line ${index} "quoted" é 漢`)),
      "done",
    ];
    const { run, model } = setUp(script);
    await run("go");
    const serializer = createRequestSerializer({ modelId: "m" });
    const withoutMarks = model.requests.map((request) =>
      serializer.serialize(request).replaceAll(',"cache_control":{"type":"ephemeral"}', ""),
    );
    expect(withoutMarks).toHaveLength(turns + 1);
    for (let index = 1; index < withoutMarks.length; index++) {
      const previous = withoutMarks[index - 1] ?? "";
      const open = previous.slice(0, previous.lastIndexOf("]"));
      expect(withoutMarks[index]?.startsWith(open)).toBe(true);
    }
  });

  it("marks the end of the previous request and the end of this one", async () => {
    const { run, model } = setUp([say("one"), say("two"), "done"]);
    await run("go");
    expect(model.requests.map((request) => request.cacheMarks)).toEqual([[0], [0, 2], [2, 4]]);
  });

  it("changes what stands before the messages only at the start of a turn, on record and with its reason", async () => {
    const { tool, done } = effects();
    let turns = 0;
    const renewPrefix: LoopOptions["renewPrefix"] = () => {
      turns++;
      if (turns !== 2) return undefined;
      const tools = [echo, tool];
      const described = tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        inputSchema,
      }));
      return {
        prefix: { system: "You are under test.", tools: described },
        tools,
        reason: "a tool was added",
      };
    };
    const { run, model, records, events } = setUp(
      [say("one"), { calls: [{ name: "Do", input: { what: "it" } }] }, "done"],
      { overrides: { renewPrefix } },
    );
    await run("go");
    expect(model.requests.map((request) => request.tools.length)).toEqual([1, 2, 2]);
    expect(model.requests[2]?.tools).toBe(model.requests[1]?.tools);
    expect(model.requests.map((request) => request.cacheMarks)).toEqual([[0], [2], [2, 4]]);
    expect(done).toEqual(["it"]);
    expect(events).toContainEqual({ type: "prefix-change", reason: "a tool was added" });
    expect(records).toContainEqual(expect.objectContaining({ type: "prefix", reason: "a tool was added" }));
  });

  it("asks again, with nothing added, when the provider has paused a long turn", async () => {
    const { run, model, history } = setUp([{ text: "first part", stopReason: "pause_turn" }, "the rest"]);
    expect(await run("go")).toEqual({ reason: "completed", stopReason: "end_turn" });
    expect(model.requests[1]?.messages.map((message) => message.role)).toEqual(["user", "assistant"]);
    expect(history.messages.map((message) => textOf(message.content))).toEqual([
      "go",
      "first part",
      "the rest",
    ]);
  });

  it("puts what was queued after all results of the same user message", async () => {
    const { run, history, queue } = setUp([say("one"), "done"]);
    const item = {
      uuid: "q1",
      mode: "prompt",
      priority: "next",
      content: [{ type: "text", text: "and this" }],
    } as const;
    await queue.add({ ...item, content: [...item.content] });
    // The first prompt is the harness's own; the queue is taken between tool rounds.
    await run("go");
    expect(history.messages[2]?.content.map((block) => block.type)).toEqual(["tool_result", "text"]);
    expect(history.messages[2]?.queueItems).toEqual(["q1"]);
    expect(queue.waiting(undefined)).toBe(0);
  });

  it("ends at the turn limit and says which", async () => {
    const { run, history } = setUp([say("one"), say("two"), say("three")], {
      overrides: {
        limits: { maxTurns: 2, concurrency: { tool: 1, agent: 1 }, startCallsWhileStreaming: true },
      },
    });
    expect(await run("go")).toEqual({ reason: "max_turns", limit: 2 });
    expectPaired(history.messages);
  });

  it("ends when the token or cost budget is used up", async () => {
    const usage = { inputTokens: 600, outputTokens: 0 };
    const tokens = setUp(
      [
        { ...say("one"), usage },
        { ...say("two"), usage },
      ],
      {
        overrides: { budget: createBudget({ maxTokens: 1_000 }) },
      },
    );
    expect(await tokens.run("go")).toMatchObject({ reason: "budget_exhausted", budget: "tokens" });
    const cost = setUp([{ ...say("one"), usage }], {
      overrides: { budget: createBudget({ maxCostUsd: 0.5 }), priceOf: () => 0.6 },
    });
    expect(await cost.run("go")).toMatchObject({ reason: "budget_exhausted", budget: "cost" });
  });

  it("answers nonsense of the model with errors that it can act on", async () => {
    const nonsense = {
      calls: [
        { name: "Nope", input: {} },
        { name: "Echo", input: { text: 1 } },
        { name: "Echo", json: '{"text": "cut' },
        { name: "Echo", json: "[1,2]" },
        { name: "Echo", json: "" },
        { name: "Echo", input: { text: "right" } },
      ],
    };
    const { run, history } = setUp([nonsense, "sorry"]);
    expect(await run("go")).toMatchObject({ reason: "completed" });
    expectPaired(history.messages);
    const results = history.messages[2]?.content ?? [];
    expect(results.map((block) => block.type === "tool_result" && block.is_error === true)).toEqual([
      true,
      true,
      true,
      true,
      true,
      false,
    ]);
  });

  it("gives ids that repeat, in a message or in the conversation, a new id", async () => {
    const twice = {
      calls: [
        { id: "same", name: "Echo", input: { text: "a" } },
        { id: "same", name: "Echo", input: { text: "b" } },
        { id: "", name: "Echo", input: { text: "c" } },
      ],
    };
    const { run, history } = setUp([
      twice,
      { calls: [{ id: "same", name: "Echo", input: { text: "d" } }] },
      "done",
    ]);
    await run("go");
    expectPaired(history.messages);
    const ids = history.messages.flatMap((message) => toolUsesOf(message.content).map((call) => call.id));
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
    expect(ids).not.toContain("");
  });

  it("keeps an empty answer in the history and never sends it", async () => {
    const { run, history, model } = setUp(["", "hello"]);
    expect(await run("go")).toMatchObject({ reason: "completed" });
    expect(history.messages.at(-1)?.content).toEqual([]);
    await run("again");
    expect(model.requests[1]?.messages.every((message) => message.content.length > 0)).toBe(true);
  });

  it("goes on when a stop hook asks for more", async () => {
    const answers = [{ goOn: "check it too" }, undefined];
    const { run, history } = setUp(["first", "second"], {
      overrides: { hooks: { beforeEnd: async () => answers.shift() } },
    });
    expect(await run("go")).toMatchObject({ reason: "completed" });
    expect(history.messages.map((message) => textOf(message.content))).toEqual([
      "go",
      "first",
      "check it too",
      "second",
    ]);
    const stopped = setUp(["first"], {
      overrides: { hooks: { beforeEnd: async () => ({ stop: "enough" }) } },
    });
    expect(await stopped.run("go")).toEqual({ reason: "hook_stopped", message: "enough" });
  });
});

describe("a broken stream", () => {
  it("is asked for again when no call had been received whole", async () => {
    const { run, history, model, events } = setUp([
      { text: "half an answer", cutAfterEvents: 3 },
      say("one"),
      "done",
    ]);
    expect(await run("go")).toMatchObject({ reason: "completed" });
    expect(model.requests).toHaveLength(3);
    expect(events.some((event) => event.type === "response-discard")).toBe(true);
    expect(history.messages).toHaveLength(4);
    expectPaired(history.messages);
  });

  it("stands when a call had been received whole: its result is sent, nothing runs twice", async () => {
    const { tool, done } = effects();
    const reply = {
      calls: [
        { name: "Do", input: { what: "it" } },
        { name: "Do", input: { what: "never whole" } },
      ],
    };
    // message-start, block-start, one or more deltas, block-stop of the first call; cut inside the second.
    const { run, history, model } = setUp([{ ...reply, cutAfterEvents: 5 }, "done"], { tools: [tool] });
    expect(await run("go")).toMatchObject({ reason: "completed" });
    expect(done).toEqual(["it"]);
    expect(model.requests).toHaveLength(2);
    expect(history.messages[1]?.response?.stopReason).toBe("cut");
    expectPaired(history.messages);
  });

  it("ends with the error when asking again does not help, and at once when it cannot", async () => {
    const faults = Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [index, { cutAfterEvents: 2 }]),
    );
    const { run, model } = setUp([], { model: { faults } });
    expect(await run("go")).toMatchObject({ reason: "model_error", error: { kind: "cut" } });
    expect(model.requests.length).toBeGreaterThan(1);
    expect(model.requests.length).toBeLessThan(50);
    expect(model.requests.map((request) => request.isRetry)).toEqual(
      model.requests.map((_, index) => index > 0),
    );

    const wrongKey = new ModelError({ kind: "unauthorized", message: "wrong key" });
    const refused = setUp(["never"], { model: { faults: { 0: { error: wrongKey } } } });
    expect(await refused.run("go")).toMatchObject({ reason: "model_error", error: wrongKey });
    expect(refused.model.requests).toHaveLength(1);
  });

  it("compacts when the prompt is too long, a prompt alone some times over, then ends clearly", async () => {
    const tooLong = new ModelError({ kind: "prompt-too-long", message: "prompt is too long" });
    const without = setUp(["never"], { model: { faults: { 0: { error: tooLong } } } });
    expect(await without.run("go")).toEqual({ reason: "context_exhausted", message: "prompt is too long" });

    const compaction: LoopOptions["compaction"] = {
      at: 0.8,
      compact: async ({ messages }) => messages.slice(-1),
    };
    const once = setUp(["fits now"], {
      model: { faults: { 0: { error: tooLong } } },
      overrides: { compaction },
    });
    expect(await once.run("go")).toMatchObject({ reason: "completed" });
    const faults = Object.fromEntries([0, 1, 2, 3, 4].map((index) => [index, { error: tooLong }]));
    const never = setUp(["never"], { model: { faults }, overrides: { compaction } });
    expect(await never.run("go")).toMatchObject({ reason: "context_exhausted" });
    expect(never.model.requests).toHaveLength(4);
  });

  it("compacts before the next request when the context nears its limit", async () => {
    const compaction: LoopOptions["compaction"] = {
      at: 0.5,
      compact: async ({ messages }) => messages.slice(0, 1),
    };
    const { run, model, records } = setUp([{ ...say("one"), usage: { inputTokens: 600 } }, "done"], {
      model: { contextWindow: 1_000 },
      overrides: { compaction },
    });
    expect(await run("go")).toMatchObject({ reason: "completed" });
    expect(model.requests[1]?.messages).toHaveLength(1);
    expect(records.some((record) => record.type === "compaction")).toBe(true);
  });
});

describe("interrupts and cancellation", () => {
  it("keeps what had streamed, and ends as aborted while streaming", async () => {
    const { run, history, interrupt } = setUp([{ text: "I was about to say", hang: true }]);
    const end = await run("go", (event) => {
      if (event.type === "model-event" && event.event.type === "block-delta") interrupt.request("stop");
    });
    expect(end).toMatchObject({ reason: "aborted", during: "streaming" });
    expect(lastText(history.messages)).not.toBe("");
    expect("I was about to say".startsWith(lastText(history.messages))).toBe(true);
  });

  it("ends as aborted in tools, with a result for every call", async () => {
    const waiting = defineTool({
      name: "Wait",
      description: "Waits",
      input: z.object({}),
      isReadOnly: () => true,
      interruptBehavior: "cancel",
      call: (_, { signal }) =>
        new Promise<string>((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason)),
        ),
      toResult: (text) => text,
    });
    const { run, history, interrupt } = setUp(
      [
        {
          calls: [
            { name: "Wait", input: {} },
            { name: "Wait", input: {} },
          ],
        },
      ],
      {
        tools: [waiting],
      },
    );
    const end = await run("go", (event) => {
      if (event.type === "message-append" && event.message.role === "assistant") interrupt.request("stop");
    });
    expect(end).toMatchObject({ reason: "aborted", during: "tools" });
    expectPaired(history.messages);
  });

  it("goes on with the waiting message after a steering interrupt", async () => {
    const { run, history, interrupt, queue } = setUp([{ text: "a long way", hang: true }, "the short way"]);
    let steered: Promise<void> | undefined;
    const end = await run("go", (event) => {
      if (steered || event.type !== "model-event" || event.event.type !== "block-delta") return;
      steered = queue
        .add({
          uuid: "q",
          mode: "prompt",
          priority: "now",
          content: [{ type: "text", text: "take the short way" }],
        })
        .then(() => interrupt.request("steer"));
    });
    await steered;
    expect(end).toMatchObject({ reason: "completed" });
    expect(textOf(history.messages[2]?.content ?? [])).toBe("take the short way");
    expect(lastText(history.messages)).toBe("the short way");
  });

  it("ends when its scope is cancelled, with the history in order", async () => {
    const { tool } = effects();
    const { run, history, scope } = setUp([{ calls: [{ name: "Do", input: { what: "it" } }] }, "never"], {
      tools: [tool],
    });
    const end = await run("go", (event) => {
      if (event.type === "message-append" && event.message.role === "assistant")
        scope.cancel("session closed");
    });
    expect(end).toMatchObject({ reason: "aborted", why: "session closed" });
    expectPaired(history.messages);
  });

  it("stops its calls when nobody reads it any longer", async () => {
    let stopped = false;
    const waiting = defineTool({
      name: "Wait",
      description: "Waits",
      input: z.object({}),
      call: (_, { signal }) =>
        new Promise<string>((_resolve, reject) =>
          signal.addEventListener("abort", () => {
            stopped = true;
            reject(signal.reason);
          }),
        ),
      toResult: (text) => text,
    });
    const { run } = setUp([{ calls: [{ name: "Wait", input: {} }] }], { tools: [waiting] });
    const leave = new Error("the reader left");
    await expect(
      run("go", (event) => {
        if (event.type === "call-start") throw leave;
      }),
    ).rejects.toBe(leave);
    expect(stopped).toBe(true);
  });
});

describe("what is durable", () => {
  it("has the call on record before its effect, and its result before the message that carries it", async () => {
    const { tool } = effects();
    const { run, records } = setUp([{ calls: [{ name: "Do", input: { what: "it" } }] }, "done"], {
      tools: [tool],
    });
    await run("go");
    const kinds = records.map((record) => (record.type === "message" ? record.message.role : record.type));
    expect(kinds.indexOf("calls")).toBeLessThan(kinds.indexOf("result"));
    expect(kinds.filter((kind) => kind === "calls")).toHaveLength(1);
    expect(kinds.lastIndexOf("user")).toBeGreaterThan(kinds.indexOf("result"));
    const calls = records.find((record) => record.type === "calls");
    const message = records.find(
      (record) => record.type === "message" && record.message.role === "assistant",
    );
    expect(calls?.type === "calls" && calls.messageUuid).toBe(
      message?.type === "message" && message.message.uuid,
    );
  });

  it("asks nothing before what it will say is on disk", async () => {
    const order: string[] = [];
    const { run, model } = setUp([say("one"), "done"], {
      overrides: {
        transcript: {
          path: undefined,
          append: (record) => order.push(record.type),
          durable: async () => {
            order.push(`durable before request ${model.requests.length}`);
          },
          close: async () => {},
        },
      },
    });
    await run("go");
    expect(order.filter((entry) => entry.startsWith("durable"))).toEqual([
      "durable before request 0",
      "durable before request 1",
    ]);
  });
});
