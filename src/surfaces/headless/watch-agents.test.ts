import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../contracts/event.ts";
import { besideOf, createScriptedAgent } from "../../testing/scripted-agent.ts";
import { createAgentWatch, type Moment } from "./watch-agents.ts";

function seen(events: readonly LoopEvent[], endRun = false): string[] {
  const watch = createAgentWatch();
  const moments = events.flatMap((event) => watch.see(event));
  return [...moments, ...(endRun ? watch.endRun() : [])].map(inWords);
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

describe("watching agents in the background", () => {
  const launched = { output: { status: "async_launched" } };

  function watching(options?: Parameters<typeof createAgentWatch>[0]) {
    const watch = createAgentWatch(options);
    const told: string[] = [];
    const tell = (moments: Moment[]) => told.push(...moments.map(inWords));
    return {
      told,
      see: (...events: LoopEvent[]) => events.forEach((event) => void tell(watch.see(event))),
      beside: (...events: LoopEvent[]) =>
        events.forEach((event) => void tell(watch.seeBeside(besideOf(event)))),
      besideOfParent: (parent: string, event: LoopEvent) => tell(watch.seeBeside(besideOf(event, parent))),
      endRun: () => tell(watch.endRun()),
      close: () => tell(watch.close()),
    };
  }

  it("tells the start and the end of one that began there, whatever runs end meanwhile", () => {
    const agent = createScriptedAgent("a");
    const session = watching();
    session.beside(agent.start);
    session.see(agent.callEnd("It runs.", launched));
    session.endRun();
    session.beside(agent.event(retry), agent.end(), agent.end(), agent.event(retry));
    session.close();
    expect(session.told).toEqual([
      "agent-start a of main",
      "main: call-end",
      "a: model-retry",
      "a completed, 12 calls, 8310 tokens",
    ]);
  });

  it("tells once that one has moved, by whatever is heard of first", () => {
    const agent = createScriptedAgent("a");
    const byCall = watching();
    byCall.see(agent.start, agent.callEnd("It runs.", launched));
    byCall.beside(agent.event(retry), agent.end());
    const expected = ["agent-start a of main", "agent-leave a of main"];
    expect(byCall.told).toEqual([
      ...expected,
      "main: call-end",
      "a: model-retry",
      "a completed, 12 calls, 8310 tokens",
    ]);
    const byItself = watching();
    byItself.see(agent.start);
    byItself.beside(agent.event(retry));
    byItself.see(agent.callEnd("It runs.", launched));
    byItself.beside(agent.end());
    expect(byItself.told).toEqual([
      ...expected,
      "a: model-retry",
      "main: call-end",
      "a completed, 12 calls, 8310 tokens",
    ]);
  });

  it("lets one go on whose call was answered in another way, or never", () => {
    const agent = createScriptedAgent("a");
    for (const answer of [[agent.callEnd("no", { isError: true })], []]) {
      const session = watching();
      session.see(agent.start);
      session.beside(agent.event(retry));
      session.see(...answer);
      session.endRun();
      session.beside(agent.end({ status: "failed" }));
      session.close();
      expect(session.told.filter((line) => line.startsWith("a "))).toEqual([
        "a failed, 12 calls, 8310 tokens",
      ]);
    }
  });

  it("knows from its first word, or from the registry, that one is there from the start", () => {
    const saysSo = createScriptedAgent("a", { inBackground: true });
    const registered = createScriptedAgent("a");
    for (const agent of [saysSo, registered]) {
      const session = watching({ isBackgrounded: () => agent === registered });
      session.see(agent.start, agent.callEnd("It runs.", launched));
      session.endRun();
      session.beside(agent.end());
      expect(session.told).toEqual([
        "agent-start a of main",
        "main: call-end",
        "a completed, 12 calls, 8310 tokens",
      ]);
    }
  });

  it("tells one start, though it is heard of twice", () => {
    const agent = createScriptedAgent("a");
    const session = watching();
    session.see(agent.start);
    session.beside(agent.start, agent.start, agent.end());
    expect(session.told).toEqual([
      "agent-start a of main",
      "agent-leave a of main",
      "a completed, 12 calls, 8310 tokens",
    ]);
  });

  it("tells the end of one that could not go there", () => {
    const agent = createScriptedAgent("a", { inBackground: true });
    expect(
      seen([agent.start, agent.end({ status: "failed" }), agent.callEnd("no", { isError: true })]),
    ).toEqual(["agent-start a of main", "a failed, 12 calls, 8310 tokens", "main: call-end"]);
  });

  it("tells of what those there wait for, and of what they have sent there themselves", () => {
    const outer = createScriptedAgent("outer");
    const waitedFor = createScriptedAgent("inner", { parent: outer });
    const sentAway = createScriptedAgent("away");
    const session = watching();
    session.beside(outer.start, waitedFor.start);
    session.besideOfParent("outer", sentAway.start);
    session.beside(outer.end());
    session.endRun();
    session.besideOfParent("outer", sentAway.event(retry));
    session.besideOfParent("outer", sentAway.end());
    expect(session.told).toEqual([
      "agent-start outer of main",
      "agent-start inner of outer",
      "agent-start away of outer",
      "inner killed, 0 calls, 0 tokens",
      "outer completed, 12 calls, 8310 tokens",
      "away: model-retry",
      "away completed, 12 calls, 8310 tokens",
    ]);
  });

  it("tells the end of those that never said it when the session is closed", () => {
    const outer = createScriptedAgent("outer");
    const below = createScriptedAgent("below");
    const session = watching();
    session.beside(outer.start);
    session.besideOfParent("outer", below.start);
    session.close();
    session.close();
    session.beside(outer.end());
    expect(session.told.slice(2)).toEqual([
      "below killed, 0 calls, 0 tokens",
      "outer killed, 0 calls, 0 tokens",
    ]);
  });

  it("follows one that is woken again after its end", () => {
    const agent = createScriptedAgent("a");
    const session = watching();
    session.beside(agent.start, agent.end(), agent.start, agent.event(retry), agent.end());
    expect(session.told).toHaveLength(5);
  });

  it("hands on what an agent did", () => {
    const agent = createScriptedAgent("a");
    const receipt = { calls: 1, failed: 0, denied: 0, files: [], commands: [] };
    const watch = createAgentWatch();
    watch.seeBeside(besideOf(agent.start));
    expect(watch.seeBeside(besideOf(agent.end({ receipt })))).toMatchObject([{ type: "agent-end", receipt }]);
  });
});
