import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createScope, throwIfCancelled } from "../base/cancellation.ts";
import { CancelledError } from "../base/errors.ts";
import type { Clock, World } from "../base/world.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { ToolResultBlock, ToolUseBlock } from "../contracts/message.ts";
import { createManualClock } from "../testing/manual-clock.ts";
import { type CallWatcher, type ConcurrencyLimits, createExecutor, type Gate } from "./executor.ts";
import { createFileReads } from "./file-reads.ts";
import { defineTool, type Tool, ToolFailure } from "./tool.ts";
import type { AgentScope, ToolContext } from "./tool-context.ts";

/** A tool whose calls end when the test says so. `log` tells in which order calls started and ended. */
function controlledTools() {
  const log: string[] = [];
  const open = new Map<string, { finish: (text: string) => void; fail: (error: Error) => void }>();
  const tool = (name: string, traits: Partial<Tool> & { safe: boolean; readOnly?: boolean }): Tool => ({
    ...defineTool({
      name,
      description: name,
      input: z.object({ id: z.string() }),
      isReadOnly: () => traits.readOnly ?? traits.safe,
      isConcurrencySafe: () => traits.safe,
      ...(traits.interruptBehavior && { interruptBehavior: traits.interruptBehavior }),
      ...(traits.needsWholeMessage && { needsWholeMessage: true }),
      ...(traits.lane && { lane: traits.lane }),
      async call({ id }, context: ToolContext) {
        log.push(`start ${id}`);
        context.report?.({ text: `working on ${id}` });
        const text = await new Promise<string>((finish, fail) => {
          open.set(id, { finish, fail });
          context.signal.addEventListener("abort", () => fail(new CancelledError("cancelled")));
        });
        throwIfCancelled(context.signal);
        log.push(`end ${id}`);
        return text;
      },
      toResult: (text: string) => text,
    }),
  });
  return { log, open, tool };
}

interface Overrides extends Partial<CallWatcher> {
  readonly clock?: Clock;
  readonly gate?: Gate;
  readonly startWhileStreaming?: boolean;
  readonly limits?: ConcurrencyLimits;
}

function harness(tools: Tool[], overrides: Overrides = {}) {
  const { clock = createManualClock(), gate = async () => ({ allowed: true }) } = overrides;
  const { startWhileStreaming = true, limits = { tool: 10, agent: 64 } } = overrides;
  const events: LoopEvent[] = [];
  const scope = createScope();
  const executor = createExecutor({
    run: {
      // Tools in these tests look at nothing else.
      world: { clock } as World,
      agent: { fileReads: createFileReads() } as unknown as AgentScope,
      tools,
      gate,
      limits: { concurrency: limits, startCallsWhileStreaming: startWhileStreaming },
    },
    scope,
    watcher: {
      emit: (event) => void events.push(event),
      makeDurable: async () => {},
      recordResult: () => {},
      ...overrides,
    },
  });
  return { executor, events, scope };
}

const call = (name: string, id: string): ToolUseBlock => ({ type: "tool_use", id, name, input: { id } });

/** Lets everything that can run without an outside event run. */
async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

const texts = (results: ToolResultBlock[]) => results.map((result) => result.content);

describe("the streaming executor", () => {
  it("starts a call as soon as its block is complete, while the message still streams", async () => {
    const { tool, log, open } = controlledTools();
    const { executor } = harness([tool("Look", { safe: true })]);
    executor.add(call("Look", "a"));
    await settle();
    expect(log).toEqual(["start a"]);
    open.get("a")?.finish("seen");
    executor.messageEnded();
    expect(texts(await executor.results())).toEqual(["seen"]);
  });

  it("waits for the end of the message when streaming starts are switched off", async () => {
    const { tool, log, open } = controlledTools();
    const { executor } = harness([tool("Look", { safe: true })], { startWhileStreaming: false });
    executor.add(call("Look", "a"));
    executor.add(call("Look", "b"));
    await settle();
    expect(log).toEqual([]);
    executor.messageEnded();
    await settle();
    expect(log).toEqual(["start a", "start b"]);
    for (const id of ["a", "b"]) open.get(id)?.finish(id);
    expect(texts(await executor.results())).toEqual(["a", "b"]);
  });

  it("keeps a call that needs the whole message, and all behind it, until the message has ended", async () => {
    const { tool, log, open } = controlledTools();
    const { executor } = harness([
      tool("Look", { safe: true }),
      tool("Fork", { safe: true, needsWholeMessage: true }),
    ]);
    executor.add(call("Look", "a"));
    executor.add(call("Fork", "b"));
    executor.add(call("Look", "c"));
    await settle();
    expect(log).toEqual(["start a"]);
    executor.messageEnded();
    await settle();
    expect(log).toEqual(["start a", "start b", "start c"]);
    for (const id of ["a", "b", "c"]) open.get(id)?.finish(id);
    await executor.results();
  });

  it("lets readers share and writers exclude, in the order of arrival", async () => {
    const { tool, log, open } = controlledTools();
    const { executor } = harness([tool("Look", { safe: true }), tool("Change", { safe: false })]);
    executor.add(call("Look", "r1"));
    executor.add(call("Look", "r2"));
    executor.add(call("Change", "w"));
    executor.add(call("Look", "r3"));
    executor.messageEnded();
    await settle();
    expect(log).toEqual(["start r1", "start r2"]);
    open.get("r2")?.finish("r2");
    await settle();
    expect(log).toEqual(["start r1", "start r2", "end r2"]);
    open.get("r1")?.finish("r1");
    await settle();
    expect(log.slice(-2)).toEqual(["end r1", "start w"]);
    open.get("w")?.finish("w");
    await settle();
    expect(log.slice(-2)).toEqual(["end w", "start r3"]);
    open.get("r3")?.finish("r3");
    expect(texts(await executor.results())).toEqual(["r1", "r2", "w", "r3"]);
  });

  it("hands results out in the order of the calls and progress at once", async () => {
    const { tool, open } = controlledTools();
    const { executor, events } = harness([tool("Look", { safe: true })]);
    for (const id of ["a", "b", "c"]) executor.add(call("Look", id));
    executor.messageEnded();
    await settle();
    const kinds = () =>
      events.flatMap((event) =>
        event.type === "call-end"
          ? [`end ${event.call.id}`]
          : event.type === "call-progress"
            ? [`progress ${event.toolUseId}`]
            : [],
      );
    expect(kinds()).toEqual(["progress a", "progress b", "progress c"]);
    open.get("c")?.finish("c");
    open.get("b")?.finish("b");
    await settle();
    expect(kinds()).toHaveLength(3);
    open.get("a")?.finish("a");
    await settle();
    expect(kinds().slice(3)).toEqual(["end a", "end b", "end c"]);
  });

  it("holds to the limit of each lane and fills a place when it becomes free", async () => {
    const { tool, log, open } = controlledTools();
    const { executor } = harness(
      [tool("Look", { safe: true }), tool("Spawn", { safe: true, lane: "agent" })],
      {
        limits: { tool: 2, agent: 3 },
      },
    );
    for (const id of ["s1", "s2", "s3"]) executor.add(call("Spawn", id));
    for (const id of ["a", "b", "c"]) executor.add(call("Look", id));
    executor.messageEnded();
    await settle();
    expect(log).toEqual(["start s1", "start s2", "start s3", "start a", "start b"]);
    open.get("b")?.finish("b");
    await settle();
    expect(log.slice(-2)).toEqual(["end b", "start c"]);
    for (const id of ["s1", "s2", "s3", "a", "c"]) open.get(id)?.finish(id);
    expect(await executor.results()).toHaveLength(6);
  });

  it("contains a failure in its call", async () => {
    const { tool, open } = controlledTools();
    const { executor } = harness([tool("Look", { safe: true })]);
    executor.add(call("Look", "a"));
    executor.add(call("Look", "b"));
    executor.messageEnded();
    await settle();
    open.get("a")?.fail(new ToolFailure("there is no such file"));
    await settle();
    open.get("b")?.finish("fine");
    expect(await executor.results()).toEqual([
      { type: "tool_result", tool_use_id: "a", content: "there is no such file", is_error: true },
      { type: "tool_result", tool_use_id: "b", content: "fine" },
    ]);
  });

  it("aborts what is queued and the running calls of the same tool when a shell command fails, and names it", async () => {
    const { tool, log, open } = controlledTools();
    const shell = tool("Bash", { safe: true });
    const { executor } = harness([
      shell,
      tool("Spawn", { safe: true, lane: "agent" }),
      tool("Change", { safe: false }),
    ]);
    executor.add(call("Bash", "make it"));
    executor.add(call("Bash", "still running"));
    executor.add(call("Spawn", "agent"));
    executor.add(call("Change", "queued"));
    await settle();
    open.get("make it")?.fail(new ToolFailure("exit code 2", { failsSiblings: true }));
    await settle();
    executor.add(call("Change", "arrives late"));
    executor.messageEnded();
    open.get("agent")?.finish("agent done");
    const [failed, sibling, agent, queued, late] = texts(await executor.results());
    expect(failed).toBe("exit code 2");
    expect(sibling).toContain("Bash (make it) failed");
    expect(agent).toBe("agent done");
    expect(queued).toContain("Not run: Bash (make it) failed");
    expect(late).toContain("Not run: Bash (make it) failed");
    expect(log).not.toContain("start queued");
  });

  it("on an interrupt ends what may be cancelled, lets what blocks go on, and starts nothing more", async () => {
    const { tool, log, open } = controlledTools();
    const { executor } = harness([
      tool("Search", { safe: true, interruptBehavior: "cancel" }),
      tool("Save", { safe: true, interruptBehavior: "block" }),
      tool("Change", { safe: false }),
    ]);
    executor.add(call("Search", "a"));
    executor.add(call("Save", "b"));
    executor.add(call("Change", "c"));
    executor.messageEnded();
    await settle();
    executor.interrupt();
    await settle();
    open.get("b")?.finish("saved");
    const results = await executor.results();
    expect(results[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining("user interrupted"),
    });
    expect(results[1]).toMatchObject({ content: "saved" });
    expect(results[2]).toMatchObject({ is_error: true, content: expect.stringContaining("Not run") });
    expect(log).not.toContain("start c");
  });

  it("abandons a call that ignores its cancellation, when the grace is over", async () => {
    const clock = createManualClock();
    const deaf = defineTool({
      name: "Deaf",
      description: "Deaf",
      input: z.object({ id: z.string() }),
      interruptBehavior: "cancel",
      call: () => new Promise<string>(() => {}),
      toResult: (text) => text,
    });
    const { executor } = harness([deaf], { clock });
    executor.add(call("Deaf", "a"));
    executor.messageEnded();
    await settle();
    executor.interrupt();
    await settle();
    await clock.advance(60_000);
    expect(texts(await executor.results())[0]).toContain("user interrupted");
  });

  it("makes a call with effects durable before it starts, and keeps its result at once", async () => {
    const { tool, log, open } = controlledTools();
    const order: string[] = [];
    let release = () => {};
    const { executor } = harness([tool("Look", { safe: true }), tool("Change", { safe: false })], {
      makeDurable: async (started) => {
        order.push(`durable ${started.id}`);
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      },
      recordResult: (result) => order.push(`kept ${result.tool_use_id}`),
    });
    executor.add(call("Look", "a"));
    await settle();
    open.get("a")?.finish("a");
    executor.add(call("Change", "w"));
    await settle();
    expect(order).toEqual(["durable w"]);
    expect(log).not.toContain("start w");
    release();
    await settle();
    expect(log).toContain("start w");
    open.get("w")?.finish("w");
    await settle();
    expect(order).toEqual(["durable w", "kept w"]);
  });

  it("does not run a call that could not be made durable", async () => {
    const { tool, log } = controlledTools();
    const { executor } = harness([tool("Change", { safe: false })], {
      makeDurable: async () => {
        throw new Error("no space left on device");
      },
    });
    executor.add(call("Change", "w"));
    executor.messageEnded();
    expect(await executor.results()).toMatchObject([
      { is_error: true, content: expect.stringContaining("no space left") },
    ]);
    expect(log).toEqual([]);
  });

  it("drops everything of a response that is thrown away", async () => {
    const { tool, log } = controlledTools();
    const { executor, events } = harness([tool("Look", { safe: true }), tool("Change", { safe: false })]);
    executor.add(call("Look", "a"));
    executor.add(call("Change", "w"));
    await settle();
    await executor.discard("asked for again");
    expect(log).toEqual(["start a"]);
    expect(events.filter((event) => event.type === "call-end")).toEqual([]);
  });

  it("answers what cannot run: an unknown tool, an input that does not fit, an input that could not be read", async () => {
    const { tool } = controlledTools();
    const { executor } = harness([tool("Look", { safe: true })]);
    executor.add(call("Lokk", "a"));
    executor.add({ type: "tool_use", id: "b", name: "Look", input: { id: 7 } });
    executor.add(call("Look", "c"), "not valid JSON");
    executor.messageEnded();
    const [unknown, misfit, unreadable] = texts(await executor.results());
    expect(unknown).toContain('no tool named "Lokk"');
    expect(misfit).toContain("- id:");
    expect(unreadable).toBe("not valid JSON");
  });

  it("runs nothing that the gate refuses, and tells so", async () => {
    const { tool, log } = controlledTools();
    const { executor, events } = harness([tool("Change", { safe: false })], {
      gate: async () => ({ allowed: false, message: "not in plan mode" }),
    });
    executor.add(call("Change", "w"));
    executor.messageEnded();
    expect(await executor.results()).toMatchObject([{ is_error: true, content: "not in plan mode" }]);
    expect(log).toEqual([]);
    expect(events.map((event) => event.type)).toEqual(["call-denied", "call-end"]);
  });

  it("stops all calls with the turn, and answers each", async () => {
    const { tool, log } = controlledTools();
    const { executor, scope } = harness([tool("Look", { safe: true }), tool("Change", { safe: false })]);
    executor.add(call("Look", "a"));
    executor.add(call("Change", "w"));
    executor.messageEnded();
    await settle();
    scope.cancel("the session was closed");
    const results = await executor.results();
    expect(results.map((result) => result.tool_use_id)).toEqual(["a", "w"]);
    expect(texts(results)[0]).toContain("the session was closed");
    expect(texts(results)[1]).toContain("Not run");
    expect(log).toEqual(["start a"]);
  });
});

describe("tools and gates that break their promises", () => {
  it("a tool that cannot say what it is: the call is answered, not run", async () => {
    const { tool } = controlledTools();
    const fickle: Tool = {
      ...tool("Look", { safe: true }),
      bind() {
        throw new Error("no idea");
      },
    };
    const { executor } = harness([fickle]);
    executor.add(call("Look", "a"));
    executor.messageEnded();
    expect(texts(await executor.results())).toEqual(["The tool failed unexpectedly: no idea"]);
  });

  it("a result that cannot be recorded early is handed out all the same", async () => {
    const { tool, open } = controlledTools();
    const { executor } = harness([tool("Do", { safe: false })], {
      recordResult() {
        throw new Error("closed");
      },
    });
    executor.add(call("Do", "a"));
    await settle();
    open.get("a")?.finish("done");
    executor.messageEnded();
    expect(texts(await executor.results())).toEqual(["done"]);
  });

  it("a question of permission that nobody answers is over after a grace when the call is cancelled", async () => {
    const { tool, log } = controlledTools();
    const clock = createManualClock();
    const { executor, scope } = harness([tool("Do", { safe: false })], {
      clock,
      gate: () => new Promise<never>(() => {}),
    });
    executor.add(call("Do", "a"));
    executor.messageEnded();
    await settle();
    scope.cancel("the session was closed");
    await clock.advance(5_000);
    expect(texts(await executor.results())).toEqual([expect.stringContaining("the session was closed")]);
    expect(log).toEqual([]);
  });

  it.each([
    ["an interrupt", "Not run: the user interrupted before this call started."],
    ["a discard", undefined],
    ["the end of the turn", expect.stringContaining("the session was closed")],
  ])("%s after permission, while the call is made durable, keeps it from starting", async (what, text) => {
    const { tool, log } = controlledTools();
    let onDisk = () => {};
    const { executor, events, scope } = harness([tool("Do", { safe: false })], {
      makeDurable: () =>
        new Promise((resolve) => {
          onDisk = resolve;
        }),
    });
    executor.add(call("Do", "a"));
    executor.messageEnded();
    await settle();
    let discarded: Promise<void> | undefined;
    if (what === "an interrupt") executor.interrupt();
    else if (what === "a discard") discarded = executor.discard("asked for again");
    else scope.cancel("the session was closed");
    onDisk();
    await discarded;
    const results = await executor.results();
    if (text !== undefined) expect(texts(results)).toEqual([text]);
    expect(log).toEqual([]);
    expect(events.filter(({ type }) => type === "call-start")).toEqual([]);
  });

  it("a stop in the moment in which a call begins is its end", async () => {
    const { tool, log } = controlledTools();
    const { executor } = harness([tool("Look", { safe: true, interruptBehavior: "cancel" })], {
      emit: ({ type }) => {
        if (type === "call-start") executor.interrupt();
      },
    });
    executor.add(call("Look", "a"));
    executor.messageEnded();
    expect(texts(await executor.results())).toEqual([
      expect.stringMatching(/^The user interrupted before this call finished/),
    ]);
    expect(log).toEqual([]);
  });

  it("an interrupt out of the gate itself: every call is answered, those that come later, too", async () => {
    const { tool, log } = controlledTools();
    const { executor } = harness([tool("Look", { safe: true })], {
      gate: ({ call: { id }, context }) => {
        if (id === "b") executor.interrupt();
        return context.scope.cancelled
          ? Promise.reject(context.signal.reason)
          : Promise.resolve({ allowed: false, message: "no" });
      },
    });
    for (const id of ["a", "b", "c"]) executor.add(call("Look", id));
    executor.add(call("Look", "d"));
    executor.messageEnded();
    expect(await executor.results()).toHaveLength(4);
    expect(log).toEqual([]);
  });

  it("an interrupt ends the wait for permission, also of a call that would block", async () => {
    const { tool, log } = controlledTools();
    const { executor } = harness([tool("Do", { safe: false, interruptBehavior: "block" })], {
      gate: ({ context }) =>
        new Promise((_, reject) =>
          context.signal.addEventListener("abort", () => reject(context.signal.reason)),
        ),
    });
    executor.add(call("Do", "a"));
    executor.messageEnded();
    await settle();
    executor.interrupt();
    expect(texts(await executor.results())).toEqual([
      "Not run: the user interrupted before this call started.",
    ]);
    expect(log).toEqual([]);
  });
});
