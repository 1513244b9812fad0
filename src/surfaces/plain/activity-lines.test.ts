import { describe, expect, it } from "vitest";
import type { LoopEvent } from "../../contracts/event.ts";
import { noUsage } from "../../contracts/usage.ts";
import { besideOf, createScriptedAgent, type ScriptedAgent } from "../../testing/scripted-agent.ts";
import { createActivityLines } from "./activity-lines.ts";

const turnEnd: LoopEvent = { type: "turn-end", turn: 1, usage: noUsage, modelMs: 1 };

function call(name: string, input: Record<string, unknown>, id = "1") {
  return { type: "tool_use" as const, id, name, input };
}

function ended(
  name: string,
  input: Record<string, unknown>,
  end: { text?: string; ms?: number; isError?: boolean; id?: string } = {},
): LoopEvent {
  const { text = "x", ms = 5, isError = false, id = "1" } = end;
  return {
    type: "call-end",
    call: call(name, input, id),
    result: { type: "tool_result", tool_use_id: id, content: text, ...(isError ? { is_error: true } : {}) },
    durationMs: ms,
  };
}

function shown(events: readonly LoopEvent[]): string[] {
  const lines = createActivityLines();
  return events.flatMap(lines.at);
}

describe("activity lines", () => {
  it("tell a single search with its place and what it found", () => {
    expect(
      shown([ended("Glob", { pattern: "**/*", path: "src" }, { text: "a\nb\n(3 more files: x)" }), turnEnd]),
    ).toEqual(["* Glob **/* in src (5 files)"]);
    expect(shown([ended("Grep", { pattern: "x" }, { text: "No matches." }), turnEnd])).toEqual([
      "* Grep x (no matches)",
    ]);
    expect(shown([ended("Glob", { pattern: "*.q" }, { text: "No files match *.q in ." }), turnEnd])).toEqual([
      "* Glob *.q (no files)",
    ]);
    const page = "     1\tone\n     2\ttwo\n(Lines 1 to 2 of 9. Read on with offset 3.)";
    expect(shown([ended("Read", { file_path: "a.ts" }, { text: page }), turnEnd])).toEqual([
      "* Read a.ts (2 lines)",
    ]);
  });

  it("tell the first read at once and the others of the turn in one line that fits the screen", () => {
    const names = Array.from({ length: 40 }, (_, index) => `src/some-folder/file-${index}.ts`);
    const lines = shown([...names.map((file_path) => ended("Read", { file_path })), turnEnd]);
    expect(lines).toEqual([
      "* Read src/some-folder/file-0.ts (1 line)",
      "* Read src/some-folder/file-1.ts, src/some-folder/file-2.ts and 37 more",
    ]);
    expect(shown(names.slice(0, 1).map((file_path) => ended("Read", { file_path })))).toHaveLength(1);
    const long = ["a", "x".repeat(200), "y"].map((file_path) => ended("Read", { file_path }));
    for (const line of shown([...long, turnEnd])) expect(line.length).toBeLessThanOrEqual(79);
  });

  it("keep the order of different calls, and never hold back what went wrong or took long", () => {
    expect(
      shown([
        ended("Glob", { pattern: "*" }),
        ended("Read", { file_path: "a" }),
        ended("Read", { file_path: "b" }),
        ended("Read", { file_path: "b2" }),
        { type: "call-start", call: call("Bash", { command: "npm test" }) },
        ended("Bash", { command: "npm test" }, { ms: 2_300 }),
        ended("Read", { file_path: "c" }, { text: "gone", isError: true }),
        ended("Read", { file_path: "d" }, { ms: 1_500 }),
      ]),
    ).toEqual([
      "* Glob * (1 file)",
      "* Read a (1 line)",
      "* Read b, b2",
      "* Bash npm test ...",
      "* Bash npm test (1 line, 2.3 s)",
      "! Read c: failed",
      "  gone",
      "* Read d (1 line, 1.5 s)",
    ]);
  });

  it("say once that a call was denied", () => {
    expect(
      shown([
        { type: "call-denied", call: call("Read", { file_path: "a" }), reason: "a rule\nsays so" },
        ended("Read", { file_path: "a" }, { isError: true }),
        turnEnd,
      ]),
    ).toEqual(["! Read a: denied", "  a rule says so"]);
  });

  it("say no more than that a call was interrupted", () => {
    const text = "The user interrupted this call before it finished. What it had done until then may stand.";
    expect(shown([ended("Bash", { command: "make" }, { isError: true, text })])).toEqual([
      "! Bash make: interrupted",
    ]);
  });

  it("fit 79 columns whatever a call is about", () => {
    const long = "y ".repeat(300);
    const lines = shown([
      { type: "call-start", call: call("Bash", { command: long }) },
      ended("Bash", { command: long }, { ms: 100_000 }),
      ended("Edit", { file_path: long }, { isError: true, text: "no" }),
    ]);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(79);
  });
});

describe("lines of a conversation that is summarised", () => {
  const starts = { type: "compaction-start", trigger: "automatic" } as const;
  const ends = { type: "compaction-end", trigger: "automatic", promptTokensBefore: 41_000 } as const;

  it("say that it begins, and how long it was", () => {
    expect(shown([starts, ends])).toEqual([
      "(the conversation is long: summarising it)",
      "(from here on the model has a summary; before, it had 41,000 tokens)",
    ]);
    expect(shown([{ ...ends, promptTokensBefore: 0 }])).toEqual([
      "(from here on the model has a summary; the transcript has everything)",
    ]);
  });

  it("say why it stays as it was, and leave the answer to whoever was asked", () => {
    expect(shown([{ ...ends, problem: "no\nroom" }])).toEqual(["(it stays as it was: no room)"]);
    expect(
      shown([
        { ...starts, trigger: "manual" },
        { ...ends, trigger: "manual" },
      ]),
    ).toEqual(["(summarising it)"]);
  });
});

describe("lines of agents", () => {
  const read = (file_path: string) => ({ name: "Read", input: { file_path } });
  const crowd = (count: number, options: { description?: string; type?: string } = {}) =>
    Array.from({ length: count }, (_, index) => createScriptedAgent(`a${index}`, options));
  const starts = (agents: readonly ScriptedAgent[]) => agents.map(({ start }) => start);
  const widest = (lines: readonly string[]) => Math.max(...lines.map((line) => line.length));

  it("tell its start, what it does and its end, and the call that started it no further", () => {
    const agent = createScriptedAgent("a", { description: "find the\nparser" });
    expect(
      shown([
        { type: "call-start", call: agent.call },
        agent.start,
        ...agent.turn(read("a.ts"), read("b.ts"), read("c.ts")),
        agent.event({ type: "call-start", call: call("Bash", { command: "npm test" }) }),
        agent.event(ended("Bash", { command: "npm test" }, { isError: true, text: "red" })),
        agent.end(),
        agent.callEnd(),
        turnEnd,
      ]),
    ).toEqual([
      "* Agent Explore: find the parser ...",
      "  Explore: Read a.ts (1 line)",
      "  Explore: Read b.ts, c.ts",
      "  Explore: Bash npm test ...",
      "  ! Explore: Bash npm test: failed",
      "    red",
      "* Agent Explore: done (12 calls, 8,310 tokens, 4.2 s)",
    ]);
  });

  it("name each one differently, and whom it works for", () => {
    const one = createScriptedAgent("one");
    const two = createScriptedAgent("two", { resumed: true });
    const below = createScriptedAgent("below", { type: "Plan", parent: two });
    expect(
      shown([
        one.start,
        two.start,
        below.start,
        ...below.turn(read("x")),
        ...one.turn(read("y")),
        below.end({ toolUses: 1, totalTokens: 1, durationMs: 59_960 }),
        below.callEnd(),
        two.end({ status: "killed", durationMs: 3_725_000 }),
      ]),
    ).toEqual([
      "* Agent Explore: task of one ...",
      "* Agent Explore 2 goes on: task of two ...",
      "* Agent Plan (for Explore 2): task of below ...",
      "  Plan: Read x (1 line)",
      "  Explore: Read y (1 line)",
      "* Agent Plan: done (1 call, 1 token, 1 min 0 s)",
      "! Agent Explore 2: stopped (12 calls, 8,310 tokens, 62 min 5 s)",
    ]);
  });

  it("say why one failed, and how it was when it never began", () => {
    const agent = createScriptedAgent("a");
    const failed = [
      agent.start,
      agent.end({ status: "failed" }),
      agent.callEnd("no connection", { isError: true }),
    ];
    expect(shown(failed).slice(1)).toEqual([
      "! Agent Explore: failed (12 calls, 8,310 tokens, 4.2 s)",
      "  Explore: no connection",
    ]);
    const cut = agent.callEnd("half a report", { output: { status: "completed", note: "It ended\nearly." } });
    expect(shown([agent.start, agent.end(), cut]).at(-1)).toBe("  Explore: It ended early.");
    const interrupted = "The user interrupted this call before it finished.";
    expect(shown([agent.start, agent.callEnd(interrupted, { isError: true })]).slice(1)).toEqual([
      "! Agent Explore: failed (0 calls, 0 tokens)",
    ]);
    expect(shown([agent.callEnd("There is no agent of this type.", { isError: true })])).toEqual([
      "! Agent Explore: task of a: failed",
      "  There is no agent of this type.",
    ]);
  });

  it("tell of more than three at once only how each ended, and then what it was about", () => {
    const agents = crowd(5);
    const lines = shown([
      ...starts(agents),
      ...agents.flatMap((agent) => agent.turn(read("x"))),
      ...agents.map((agent) => agent.end()),
      ...agents.map((agent) => agent.callEnd()),
    ]);
    expect(lines).toEqual([
      "* Agent Explore: task of a0 ...",
      "* Agent Explore 2: task of a1 ...",
      "* Agent Explore 3: task of a2 ...",
      "(more than 3 agents at once: each is told of when it ends)",
      "* Agent Explore: task of a0: done (12 calls, 8,310 tokens, 4.2 s)",
      "* Agent Explore 2: task of a1: done (12 calls, 8,310 tokens, 4.2 s)",
      "* Agent Explore 3: task of a2: done (12 calls, 8,310 tokens, 4.2 s)",
      "* Agent Explore 4: task of a3: done (12 calls, 8,310 tokens, 4.2 s)",
      "* Agent Explore 5: task of a4: done (12 calls, 8,310 tokens, 4.2 s)",
      "(5 agents ended: 5 calls, 500 tokens)",
    ]);
  });

  it("tell now and then how a crowd stands, and what was denied in it", () => {
    const [first, ...others] = crowd(4);
    if (first === undefined) throw new Error("no agents");
    const denied: LoopEvent = { type: "call-denied", call: call("Read", {}), reason: "a rule" };
    const lines = shown([
      ...starts([first, ...others]),
      ...Array.from({ length: 45 }, () => first.turn(read("x"))).flat(),
      first.event(denied),
      first.end(),
    ]);
    expect(lines.slice(4)).toEqual([
      "(4 agents at work, 0 ended: 40 calls, 3,900 tokens)",
      "* Agent Explore: task of a0: done (12 calls, 1 denied, 8,310 tokens, 4.2 s)",
    ]);
  });

  it("count the calls by which agents of a crowd start others", () => {
    const agents = crowd(4);
    const [parent] = agents;
    const below = createScriptedAgent("below", { ...(parent && { parent }) });
    const ends = [below, ...agents].map((agent) => agent.end());
    expect(shown([...starts([...agents, below]), below.end(), below.callEnd(), ...ends]).at(-1)).toBe(
      "(5 agents ended: 1 call, 0 tokens)",
    );
  });

  it("tell everything again once a crowd has gone", () => {
    const agents = crowd(4);
    const later = createScriptedAgent("later");
    const lines = shown([
      ...starts(agents),
      ...agents.map((agent) => agent.end()),
      later.start,
      ...later.turn(read("x")),
    ]);
    expect(lines.slice(-2)).toEqual(["* Agent Explore 5: task of later ...", "  Explore 5: Read x (1 line)"]);
  });

  it("leave none open when the run is over", () => {
    const lines = createActivityLines();
    for (const { start } of crowd(2)) lines.at(start);
    expect(lines.endRun()).toEqual([
      "! Agent Explore: stopped (0 calls, 0 tokens)",
      "! Agent Explore 2: stopped (0 calls, 0 tokens)",
    ]);
    expect(lines.close()).toEqual([]);
  });

  it("fit 79 columns whatever they are called", () => {
    const long = { type: "type:".repeat(40), description: "words ".repeat(60) };
    for (const count of [2, 6]) {
      const agents = crowd(count, long);
      const below = createScriptedAgent("below", { ...long, ...(agents[0] && { parent: agents[0] }) });
      const lines = shown([
        ...starts(agents),
        below.start,
        ...agents.flatMap((agent) => agent.turn(read("x".repeat(99)), read("y".repeat(99)), read("z"))),
        ...agents.map((agent) =>
          agent.end({ toolUses: 1_234_567, totalTokens: 9_876_543_210, durationMs: 9e6 }),
        ),
      ]);
      expect(widest(lines)).toBeLessThanOrEqual(79);
      expect(lines.at(count === 2 ? -1 : -2)).toMatch(new RegExp(` ${count}: done`));
    }
  });
});

describe("lines of agents in the background", () => {
  const read = { name: "Read", input: { file_path: "a.ts" } };
  const launched = { output: { status: "async_launched" } };

  function watched() {
    const lines = createActivityLines({ folder: "/p" });
    const told: string[] = [];
    return {
      told,
      lines,
      at: (...events: LoopEvent[]) => told.push(...events.flatMap((event) => lines.at(event))),
      beside: (...events: LoopEvent[]) =>
        told.push(...events.flatMap((event) => lines.beside(besideOf(event)))),
    };
  }

  it("are one at the start, one at the end, and what it did", () => {
    const agent = createScriptedAgent("a", { description: "find the\nparser" });
    const { told, at, beside, lines } = watched();
    const receipt = {
      calls: 2,
      failed: 0,
      denied: 0,
      files: [{ path: "/p/src/a.ts", before: "1", after: "2" }],
      commands: [{ command: "npm test", exitCode: 1 }],
    };
    beside(agent.start);
    at(agent.callEnd("It runs.", launched));
    expect(lines.endRun()).toEqual([]);
    beside(...agent.turn(read), agent.end({ receipt }));
    expect(told).toEqual([
      "* Agent Explore: find the parser ... in the background",
      "* Agent Explore (background): find the...: done (12 calls, 8,310 tokens, 4.2 s)",
      "  changed src/a.ts",
      "  ran npm test: exit 1",
    ]);
  });

  it("say that it has moved, and then only how it ended", () => {
    const agent = createScriptedAgent("a");
    const { told, at, beside, lines } = watched();
    at(agent.start, ...agent.turn(read), agent.callEnd("It runs.", launched));
    beside(...agent.turn(read), agent.end({ status: "failed" }));
    expect(told).toEqual([
      "* Agent Explore: task of a ...",
      "  Explore: Read a.ts (1 line)",
      "* Agent Explore: goes on in the background",
      "! Agent Explore (background): failed (12 calls, 8,310 tokens, 4.2 s)",
    ]);
    expect(lines.close()).toEqual([]);
  });

  it("leave the calls of others to be told as before", () => {
    const away = createScriptedAgent("away");
    const here = createScriptedAgent("here");
    const { told, at, beside } = watched();
    beside(away.start);
    at(here.start, ...here.turn(read), here.end());
    expect(told.slice(1)).toEqual([
      "* Agent Explore 2: task of here ...",
      "  Explore 2: Read a.ts (1 line)",
      "* Agent Explore 2: done (12 calls, 8,310 tokens, 4.2 s)",
    ]);
  });

  it("are only those of the ends when many are there", () => {
    const agents = Array.from({ length: 6 }, (_, index) => createScriptedAgent(`a${index}`));
    const { told, beside } = watched();
    beside(...agents.map(({ start }) => start), ...agents.map((agent) => agent.end()));
    expect(told).toHaveLength(3 + 1 + 6);
    expect(told[3]).toBe("(more than 3 agents in the background: each is told of when it ends)");
  });

  it("tell what is stopped with the session", () => {
    const { beside, lines } = watched();
    beside(createScriptedAgent("a").start);
    expect(lines.close()).toEqual(["! Agent Explore (background): task of a: stopped (0 calls, 0 tokens)"]);
  });
});
