import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../contracts/event.ts";
import { createScriptedAgent } from "../../testing/scripted-agent.ts";
import { createAgentWatch, type Moment } from "./watch-agents.ts";

function seen(events: readonly LoopEvent[], close = false): string[] {
  const watch = createAgentWatch();
  const moments = events.flatMap((event) => watch.see(event));
  return [...moments, ...(close ? watch.close() : [])].map(inWords);
}

function inWords(moment: Moment): string {
  switch (moment.type) {
    case "event":
      return `${moment.agent?.id ?? "main"}: ${moment.event.type}`;
    case "agent-end":
      return `${moment.agent.id} ${moment.status}, ${moment.toolUses} calls, ${moment.totalTokens} tokens`;
    default:
      return `${moment.type} ${moment.agent.id} of ${moment.agent.parent?.id ?? "main"}`;
  }
}

const read = { name: "Read", input: { file_path: "a" } };
const retry: LoopEvent = { type: "model-retry", attempt: 1, delayMs: 1, reason: "busy" };

describe("watching agents", () => {
  it("tells whose each event is, however deep", () => {
    const outer = createScriptedAgent("outer");
    const inner = createScriptedAgent("inner", { parent: outer, depth: 2 });
    expect(
      seen([
        retry,
        outer.start,
        outer.event(retry),
        inner.start,
        inner.event(retry),
        inner.end(),
        inner.callEnd(),
        outer.end(),
        outer.callEnd(),
      ]),
    ).toEqual([
      "main: model-retry",
      "agent-start outer of main",
      "outer: model-retry",
      "agent-start inner of outer",
      "inner: model-retry",
      "inner completed, 12 calls, 8310 tokens",
      "outer: call-end",
      "outer completed, 12 calls, 8310 tokens",
      "main: call-end",
    ]);
  });

  it("counts calls, and tokens also for those above", () => {
    const watch = createAgentWatch();
    const outer = createScriptedAgent("outer");
    const inner = createScriptedAgent("inner", { parent: outer });
    const [begin] = watch.see(outer.start);
    for (const event of [...outer.turn(read, read), inner.start, ...inner.turn(read)]) watch.see(event);
    expect(begin).toMatchObject({ agent: { toolUses: 2, tokens: 200, lastToolName: "Read" } });
  });

  it("knows the agents of a call at its end, also when they ended long before", () => {
    const watch = createAgentWatch();
    const agent = createScriptedAgent("a");
    for (const event of [agent.start, agent.end()]) watch.see(event);
    expect(watch.see(agent.callEnd())).toMatchObject([{ type: "event", started: [{ id: "a" }] }]);
  });

  it("takes an agent for ended when its call has ended, and the agents below it before it", () => {
    const outer = createScriptedAgent("outer");
    const inner = createScriptedAgent("inner", { parent: outer });
    const begin = [outer.start, ...outer.turn(read), inner.start];
    expect(seen([...begin, outer.callEnd("no", { isError: true })]).slice(-3)).toEqual([
      "inner killed, 0 calls, 0 tokens",
      "outer failed, 1 calls, 100 tokens",
      "main: call-end",
    ]);
    expect(seen([...begin, outer.callEnd()]).at(-2)).toMatch(/^outer completed/);
    expect(seen(begin, true).slice(-2)).toEqual([
      "inner killed, 0 calls, 0 tokens",
      "outer killed, 1 calls, 100 tokens",
    ]);
  });

  it("tells of one end only, and of nothing after it or before the start", () => {
    const agent = createScriptedAgent("a");
    const stranger = createScriptedAgent("stranger");
    const events = [stranger.event(retry), stranger.end(), agent.start, agent.end(), agent.end()];
    expect(seen([...events, agent.event(retry), agent.callEnd()], true)).toEqual([
      "agent-start a of main",
      "a completed, 12 calls, 8310 tokens",
      "main: call-end",
    ]);
  });

  it("follows an agent that goes on again in the same call", () => {
    const agent = createScriptedAgent("a");
    const again = seen([agent.start, agent.end(), agent.start, agent.event(retry), agent.end()]);
    expect(again.slice(2)).toEqual([
      "agent-start a of main",
      "a: model-retry",
      "a completed, 12 calls, 8310 tokens",
    ]);
  });

  it("keeps calls of different agents apart that have the same id", () => {
    const one = createScriptedAgent("one");
    const two = createScriptedAgent("two");
    const below = (parent: typeof one) => createScriptedAgent("below", { parent });
    const events = [one.start, two.start, below(one).start, below(two).start, below(one).callEnd()];
    expect(seen(events).slice(-2)).toEqual(["below completed, 0 calls, 0 tokens", "one: call-end"]);
    expect(seen([...events, below(two).event(retry)]).at(-1)).toBe("below: model-retry");
  });

  it("lets an agent go that was moved to the background", () => {
    const agent = createScriptedAgent("a");
    const moved = agent.callEnd("It runs.", { output: { status: "async_launched" } });
    expect(seen([agent.start, moved], true).slice(1)).toEqual(["agent-leave a of main", "main: call-end"]);
  });

  it("ends what a discarded response had started", () => {
    const agent = createScriptedAgent("a");
    expect(seen([agent.start, { type: "response-discard", reason: "cut" }], true).slice(1)).toEqual([
      "a killed, 0 calls, 0 tokens",
      "main: response-discard",
    ]);
  });
});
