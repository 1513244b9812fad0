import { describe, expect, it } from "vitest";
import * as z from "zod";
import type { LoopEvent } from "../contracts/event.ts";
import { ModelError } from "../model/model-error.ts";
import { createLoopHarness } from "../testing/loop-harness.ts";
import { createScriptedModel, type Script, type ScriptedModelOptions } from "../testing/scripted-model.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { defineTool } from "../tools/tool.ts";
import type { LoopOptions } from "./loop-options.ts";

const echo = defineTool({
  name: "Echo",
  description: "Says it again",
  input: z.object({ text: z.string() }),
  isReadOnly: () => true,
  call: async ({ text }) => text,
  toResult: (text) => text,
});

function setUp(script: Script, overrides: Partial<LoopOptions> = {}, options: ScriptedModelOptions = {}) {
  const clock = createVirtualClock();
  const model = createScriptedModel(script, { clock, ...options });
  const harness = createLoopHarness({
    world: createTestWorld({ clock, seed: 1 }),
    model,
    tools: [echo],
    overrides,
  });
  const run = (onEvent?: (event: LoopEvent) => void) => clock.runUntil(harness.run("go", onEvent));
  return { ...harness, run, model, clock };
}

const never = () => new Promise<never>(() => {});
const say = (text: string) => ({ calls: [{ name: "Echo", input: { text } }] });
const tooLong = { error: new ModelError({ kind: "prompt-too-long", message: "It is too long." }) };

describe("a hook that does not answer", () => {
  it("holds up neither a stop nor the end of the session", async () => {
    for (const end of ["stop", "cancel"] as const) {
      const { run, interrupt, scope } = setUp(["done"], { hooks: { beforeEnd: never } });
      const ended = await run((event) => {
        if (event.type !== "turn-end") return;
        if (end === "stop") interrupt.request("stop");
        else scope.cancel("closed");
      });
      expect(ended).toMatchObject({ reason: "aborted", during: "between-turns" });
    }
  });
});

describe("compaction", () => {
  const near = { ...say("one"), usage: { inputTokens: 600 } };
  const withPort = (compact: () => Promise<never>) => ({ compaction: { at: 0.5, compact } });
  const failing = withPort(async () => {
    throw new Error("no summary");
  });

  it("that fails in good time is done without, and not tried again", async () => {
    const { run, events } = setUp([near, near, "done"], failing, { contextWindow: 1_000 });
    expect(await run()).toMatchObject({ reason: "completed" });
    expect(events.filter((event) => event.type === "compaction-start")).toHaveLength(1);
  });

  it("that fails when there is no other way ends the run, and says both", async () => {
    const { run } = setUp([tooLong], failing);
    expect(await run()).toEqual({
      reason: "context_exhausted",
      message: "It is too long. Shortening the conversation failed, too: no summary",
    });
  });

  it("that never ends can be stopped", async () => {
    const { run, interrupt } = setUp([tooLong], withPort(never));
    const end = await run((event) => {
      if (event.type === "compaction-start") interrupt.request("stop");
    });
    expect(end).toEqual({ reason: "aborted", during: "between-turns", why: "the user interrupted" });
  });

  it("leaves a record that does not grow with the history", async () => {
    const compaction: LoopOptions["compaction"] = {
      at: 0.5,
      compact: async ({ messages }) => messages.slice(0, 1),
    };
    const { run, records } = setUp([near, "done"], { compaction }, { contextWindow: 1_000 });
    await run();
    const record = records.find((each) => each.type === "compaction");
    expect(record?.type === "compaction" && record.messages).toHaveLength(1);
  });
});

describe("an answer that just ends", () => {
  it("is not taken for a whole one", async () => {
    const events = [
      { type: "message-start" as const, id: "m", model: "m", usage: zeroUsage },
      { type: "block-start" as const, index: 0, block: { type: "text" as const, text: "half" } },
      { type: "block-stop" as const, index: 0 },
    ];
    const { run, model } = setUp([{ events }, "whole"]);
    expect(await run()).toMatchObject({ reason: "completed", stopReason: "end_turn" });
    expect(model.requests).toHaveLength(2);
  });
});

const zeroUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

describe("a message that comes while the loop waits to ask again", () => {
  it("is answered instead of ending the run", async () => {
    // The first events of an answer make it one that the loop itself asks for again.
    const { run, queue, interrupt, history } = setUp([
      { text: "half an answer", cutAfterEvents: 2 },
      "not waited for",
      "after",
    ]);
    const end = await run((event) => {
      if (event.type !== "model-retry") return;
      const content = [{ type: "text" as const, text: "hurry" }];
      void queue
        .add({ uuid: "q", mode: "prompt", priority: "now", content })
        .then(() => interrupt.request("steer"));
    });
    expect(end).toMatchObject({ reason: "completed" });
    expect(history.messages.flatMap((message) => message.queueItems ?? [])).toEqual(["q"]);
  });

  it("and was taken already: the steering that follows it changes nothing", async () => {
    const { run, interrupt, model } = setUp([say("one"), "done"]);
    const end = await run((event) => {
      if (event.type === "model-event" && event.event.type === "message-start") interrupt.request("steer");
    });
    expect(end).toMatchObject({ reason: "completed" });
    expect(model.requests).toHaveLength(2);
  });
});
