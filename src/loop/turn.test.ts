import { describe, expect, it } from "vitest";
import * as z from "zod";
import { textOf } from "../contracts/message-content.ts";
import { createGateway } from "../model/gateway.ts";
import { ModelError } from "../model/model-error.ts";
import { createLoopHarness } from "../testing/loop-harness.ts";
import { createScriptedModel, type Fault, type Script } from "../testing/scripted-model.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { defineTool } from "../tools/tool.ts";

const overloaded = new ModelError({ kind: "overloaded", message: "no capacity", status: 529 });

function setUp(script: Script, faults: Readonly<Record<number, Fault>>) {
  const clock = createVirtualClock();
  const world = createTestWorld({ clock, seed: 1 });
  const scripted = createScriptedModel(script, { clock, faults });
  const gateway = createGateway(world);
  const done: string[] = [];
  const tool = defineTool({
    name: "Do",
    description: "Does it",
    input: z.object({ what: z.string() }),
    call: async ({ what }) => {
      done.push(what);
      return what;
    },
    toResult: (text) => text,
  });
  const harness = createLoopHarness({ world, model: gateway.connect(scripted), tools: [tool] });
  return { ...harness, clock, scripted, gateway, done };
}

const everyRequest = (fault: Fault) =>
  Object.fromEntries(Array.from({ length: 500 }, (_, index) => [index, fault]));

describe("a turn whose model is behind a gateway", () => {
  it("tells of every wait, and makes one request of it", async () => {
    const { run, clock, events, scripted, gateway } = setUp(["hello"], {
      0: { error: overloaded },
      1: { error: overloaded },
    });
    expect(await clock.runUntil(run("go"))).toMatchObject({ reason: "completed" });
    expect(events.filter((event) => event.type === "model-retry")).toMatchObject([
      { attempt: 1, reason: "no capacity" },
      { attempt: 2, reason: "no capacity" },
    ]);
    expect(events.some((event) => event.type === "response-discard")).toBe(false);
    expect(scripted.requests).toHaveLength(3);
    expect(gateway.state()).toMatchObject({ active: 0, admitted: 1 });
  });

  it("asks again for an answer that broke off, and the account counts it as a retry", async () => {
    const { run, clock, history, events, gateway } = setUp(["a whole answer"], { 0: { cutAfterEvents: 1 } });
    expect(await clock.runUntil(run("go"))).toMatchObject({ reason: "completed" });
    expect(textOf(history.messages.at(-1)?.content ?? [])).toBe("a whole answer");
    expect(events.filter((event) => event.type === "response-discard")).toHaveLength(1);
    expect(gateway.state()).toMatchObject({ admitted: 1, retries: 1, cuts: 1 });
  });

  it("keeps a call that was received whole, although the answer broke off, and runs it once", async () => {
    const calls = [
      { name: "Do", input: { what: "it" } },
      { name: "Do", input: { what: "never whole" } },
    ];
    const { run, clock, done, scripted, gateway } = setUp([{ calls, cutAfterEvents: 5 }, "done"], {});
    expect(await clock.runUntil(run("go"))).toMatchObject({ reason: "completed" });
    expect(done).toEqual(["it"]);
    expect(scripted.requests).toHaveLength(2);
    expect(gateway.state()).toMatchObject({ admitted: 2, retries: 0, cuts: 1 });
  });

  it("ends with what the gateway says once it has given up, without asking more", async () => {
    const { run, clock, scripted } = setUp([], everyRequest({ error: overloaded }));
    const end = await clock.runUntil(run("go"));
    expect(end).toMatchObject({ reason: "model_error" });
    expect(end.reason === "model_error" && end.error.message).toContain("has not answered for 30 minutes");
    expect(scripted.requests.length).toBeLessThan(100);
  });

  it("can be interrupted while it waits, and gives nothing to the history", async () => {
    const { run, clock, history, interrupt, gateway } = setUp([], everyRequest({ error: overloaded }));
    clock.setTimer(100_000, () => interrupt.request("stop"));
    expect(await clock.runUntil(run("go"))).toMatchObject({ reason: "aborted", during: "streaming" });
    expect(clock.monotonicMs()).toBe(100_000);
    expect(history.messages).toHaveLength(1);
    expect(gateway.state()).toMatchObject({ active: 0, waiting: 0 });
    expect(clock.pendingMs()).toEqual([]);
  });
});
