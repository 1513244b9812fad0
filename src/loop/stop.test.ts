import { describe, expect, it } from "vitest";
import * as z from "zod";
import { unlessCancelled } from "../base/cancellation.ts";
import { textOf } from "../contracts/message-content.ts";
import { ModelError } from "../model/model-error.ts";
import { createLoopHarness } from "../testing/loop-harness.ts";
import { createScriptedModel, type Script } from "../testing/scripted-model.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createVirtualClock, type VirtualClock } from "../testing/virtual-clock.ts";
import { defineTool, type Tool } from "../tools/tool.ts";
import { type Budget, createBudget } from "./budget.ts";
import type { LoopOptions } from "./loop-options.ts";

const minute = 60_000;
const never = () => new Promise<never>(() => {});

interface Agent {
  script: Script;
  clock?: VirtualClock;
  budget?: Budget;
  tools?: readonly Tool[];
  overrides?: Partial<LoopOptions>;
}

function startAgent({ script, clock = createVirtualClock(), tools = [], ...options }: Agent) {
  const budget = options.budget ?? createBudget({ maxMinutes: 5 }, { clock });
  const world = createTestWorld({ clock, seed: 1 });
  const model = createScriptedModel(script, { clock });
  const overrides = { budget, ...options.overrides };
  return { ...createLoopHarness({ world, model, tools, overrides }), clock, budget, model };
}

function toolThatTakes(clock: VirtualClock, ms: number): Tool {
  return defineTool({
    name: "Work",
    description: "Takes its time",
    input: z.object({}),
    call: () => new Promise<string>((resolve) => void clock.setTimer(ms, () => resolve("worked"))),
    toResult: (text) => text,
  });
}

const timeIsOver = (minutes: string) => ({
  reason: "budget_exhausted",
  budget: "time",
  message: `The time budget of the session is used up: ${minutes} minutes.`,
});

describe("a run whose time is over", () => {
  it("ends at once while the model speaks, and what was said stands", async () => {
    const { clock, run, history } = startAgent({ script: [{ text: "as far as I got", hang: true }] });
    expect(await clock.runUntil(run("go"))).toEqual(timeIsOver("5 of 5"));
    expect(textOf(history.messages.at(-1)?.content ?? [])).toBe("as far as I got");
    expect(clock.now()).toBe(5 * minute);
    expect(clock.pendingMs()).toEqual([]);
  });

  it("lets a call that must not be cut off come to its end", async () => {
    const clock = createVirtualClock();
    const { run, history, model } = startAgent({
      clock,
      tools: [toolThatTakes(clock, 7 * minute)],
      script: [{ calls: [{ name: "Work" }] }, "not asked for"],
    });
    expect(await clock.runUntil(run("go"))).toEqual(timeIsOver("5 of 5"));
    expect(clock.now()).toBe(7 * minute);
    expect(history.messages.at(-1)?.content).toMatchObject([{ type: "tool_result", content: "worked" }]);
    expect(model.requests).toHaveLength(1);
  });

  it("tells the model why calls were stopped or not begun, and blames nobody for it", async () => {
    const wait = defineTool({
      name: "Wait",
      description: "Waits",
      input: z.object({}),
      interruptBehavior: "cancel",
      call: (_, { signal }) => unlessCancelled(never(), signal),
      toResult: () => "",
    });
    const { clock, run, history } = startAgent({
      tools: [wait],
      script: [{ calls: [{ name: "Wait" }, { name: "Wait" }] }],
    });
    expect(await clock.runUntil(run("go"))).toEqual(timeIsOver("5 of 5"));
    expect(history.messages.at(-1)?.content).toMatchObject([
      { content: expect.stringMatching(/^The agent's time was up before this call finished\./) },
      { content: "Not run: the agent's time was up before this call started." },
    ]);
  });

  it("does not begin another turn, nor a first one", async () => {
    const clock = createVirtualClock();
    const budget = createBudget({ maxMinutes: 5 }, { clock });
    const slow = startAgent({ clock, budget, script: [{ text: "done", delayMs: 4 * minute }, "again"] });
    expect(await clock.runUntil(slow.run("go"))).toMatchObject({ reason: "completed" });
    // Nobody runs, so nothing is timed.
    expect(clock.pendingMs()).toEqual([]);
    await clock.runUntil(new Promise<void>((resolve) => void clock.setTimer(2 * minute, resolve)));
    expect(await clock.runUntil(slow.run("more"))).toEqual(timeIsOver("6 of 5"));
    expect(slow.model.requests).toHaveLength(1);
    expect(clock.pendingMs()).toEqual([]);
  });

  it("waits neither for a hook, nor for compaction, nor to ask again", async () => {
    const hook = startAgent({ script: ["done"], overrides: { hooks: { beforeEnd: never } } });
    expect(await hook.clock.runUntil(hook.run("go"))).toEqual(timeIsOver("5 of 5"));
    const clock = createVirtualClock();
    const compaction = startAgent({
      clock,
      script: [{ calls: [{ name: "Work" }] }],
      tools: [toolThatTakes(clock, 0)],
      overrides: { compaction: { at: 0, compact: never } },
    });
    expect(await compaction.clock.runUntil(compaction.run("go"))).toEqual(timeIsOver("5 of 5"));
    const tooLong = startAgent({
      script: [{ error: new ModelError({ kind: "prompt-too-long", message: "It is too long." }) }],
      overrides: { compaction: { at: 1, compact: never } },
    });
    expect(await tooLong.clock.runUntil(tooLong.run("go"))).toEqual(timeIsOver("5 of 5"));
    const retry = startAgent({
      script: [{ text: "half", cutAfterEvents: 2, delayMs: 5 * minute - 1 }, "too late"],
    });
    expect(await retry.clock.runUntil(retry.run("go"))).toEqual(timeIsOver("5 of 5"));
  });

  it("has ended by a person's hand if that was first, and otherwise not", async () => {
    const clock = createVirtualClock();
    const start = () =>
      startAgent({
        clock,
        budget: createBudget({ maxMinutes: 5 }, { clock }),
        tools: [toolThatTakes(clock, 20 * minute)],
        script: [{ calls: [{ name: "Work" }] }],
      });
    const [stopped, cancelled, late] = [start(), start(), start()];
    clock.setTimer(4 * minute, () => stopped.interrupt.request("stop"));
    // What does not hear of it is given some seconds, in which the time runs out.
    clock.setTimer(5 * minute - 1, () => cancelled.scope.cancel("closed"));
    clock.setTimer(6 * minute, () => late.interrupt.request("stop"));
    const ends = clock.runUntil(Promise.all([stopped, cancelled, late].map((agent) => agent.run("go"))));
    expect(await ends).toEqual([
      { reason: "aborted", during: "tools", why: "the user interrupted" },
      { reason: "aborted", during: "tools", why: "closed" },
      timeIsOver("5 of 5"),
    ]);
  });

  it("stops all agents of the budget, those below first, so that each can hand on what it has", async () => {
    const clock = createVirtualClock();
    const session = createBudget({ maxMinutes: 5 }, { clock });
    const child = startAgent({
      clock,
      budget: session.child({ maxMinutes: 9 }),
      script: [{ text: "half of it", hang: true }],
    });
    const delegate = defineTool({
      name: "Delegate",
      description: "Starts another agent",
      input: z.object({}),
      interruptBehavior: "cancel",
      async call(_, { signal }) {
        signal.addEventListener("abort", () => child.scope.cancel("its parent was stopped"));
        const end = await child.run("go");
        return `${end.reason}: ${textOf(child.history.messages.at(-1)?.content ?? [])}`;
      },
      toResult: (text) => text,
    });
    const parent = startAgent({
      clock,
      budget: session,
      tools: [delegate],
      script: [{ calls: [{ name: "Delegate" }] }],
    });
    expect(await clock.runUntil(parent.run("go"))).toEqual(timeIsOver("5 of 5"));
    expect(parent.history.messages.at(-1)?.content).toMatchObject([
      { type: "tool_result", content: "budget_exhausted: half of it" },
    ]);
    expect(clock.pendingMs()).toEqual([]);
  });

  it("has a timer per limited budget while it goes on, and none when its time is not limited", async () => {
    const clock = createVirtualClock();
    const session = createBudget({ maxTokens: 1_000_000 }, { clock });
    const free = startAgent({ clock, budget: session, script: ["done"] });
    const limited = session.child({ maxMinutes: 3 });
    const agents = [limited, limited.child({}), limited.child({ maxMinutes: 2 })].map((budget) =>
      startAgent({ clock, budget, script: ["done"] }),
    );
    const timers: number[][] = [];
    await clock.runUntil(
      free.run("go", (event) => {
        if (event.type === "turn-start") timers.push(clock.pendingMs());
      }),
    );
    await clock.runUntil(
      Promise.all(
        agents.map((agent) =>
          agent.run("go", (event) => {
            if (event.type === "turn-start" && agent === agents[2]) timers.push(clock.pendingMs());
          }),
        ),
      ),
    );
    expect(timers).toEqual([[], [2 * minute, 3 * minute]]);
    expect(clock.pendingMs()).toEqual([]);
  });
});
