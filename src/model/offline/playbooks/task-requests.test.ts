/** Requests about tasks: which calls they lead to, and what is said without one. */
import { describe, expect, it } from "vitest";
import type { KnownTask } from "../known-task.ts";
import { everydayPlaybooks } from "../offline-model.ts";
import { type Call, type CallResult, firstPlay, textOfEnd } from "../playbook.ts";

const tests: KnownTask = { id: "b0123456789abcdef", kind: "command", description: "Run the tests" };
const scout: KnownTask = {
  id: "a0123456789abcdef",
  kind: "agent",
  description: "map this repository",
  agentType: "Explore",
  name: "scout",
};
const over: KnownTask = { ...scout, id: "a9999999999999999", name: "elder", end: "completed" };

const tools = ["TaskOutput", "TaskStop", "SendMessage", "Agent", "Bash", "Glob", "Grep", "Read"];

/** The first calls, and what was said in the end if all are answered with `said`. */
function play(prompt: string, known: readonly KnownTask[], said: string | string[] = "ok", isError = false) {
  const offers = (name: string) => tools.includes(name);
  const found = firstPlay(everydayPlaybooks, { prompt, heard: [], offers, known: () => known });
  if (found === undefined) throw new Error("help takes everything");
  const calls: Call[] = [];
  let step = found.next([]);
  for (; step.done !== true; step = found.next((step.value.calls ?? []).map(() => resultOf(said, isError)))) {
    calls.push(...(step.value.calls ?? []));
    if (calls.length > 20) throw new Error("it goes on for ever");
  }
  return { calls, text: textOfEnd(step.value) };
}

function resultOf(said: string | string[], isError: boolean): CallResult {
  const blocks = [said].flat().map((text) => ({ type: "text" as const, text }));
  return { text: blocks.map(({ text }) => text).join("\n"), isError, blocks };
}

const inputs = (prompt: string, known: readonly KnownTask[]) =>
  play(prompt, known).calls.map(({ name, input }) => [name, input]);
const look = (id: string) => ["TaskOutput", { task_id: id, block: false }];
const stop = (id: string) => ["TaskStop", { task_id: id }];

describe("a question about tasks", () => {
  it.each([
    "what is running?",
    "What's running in the background?",
    "status of the tasks",
    "list tasks",
    "status",
    "any news?",
    "is anything still running?",
    "how are the tasks doing",
  ])("looks at all that run, without waiting: %s", (prompt) => {
    expect(inputs(prompt, [over, tests, scout])).toEqual([look(tests.id), look(scout.id)]);
  });

  it.each([
    ["are the tests done?", tests],
    ["how is scout doing", scout],
    ["is the Explore agent finished yet", scout],
    ["status of b0123456", tests],
    [`status of task ${tests.id}`, tests],
    ["how is the command going?", tests],
  ])("looks at the one that is meant: %s", (prompt, { id }) => {
    expect(inputs(prompt, [over, tests, scout])).toEqual([look(id)]);
  });

  it("waits where it is asked to", () => {
    expect(inputs("wait for the tests to finish", [tests, scout])).toEqual([
      ["TaskOutput", { task_id: tests.id, block: true, timeout: 600_000 }],
    ]);
  });

  it("tells all of one that has ended, and the last lines of one that runs", () => {
    const lines = Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n");
    const said = (status: string) =>
      play(
        "what is running",
        [tests],
        [`task_id: b1\nstatus: ${status}\ndescription: x`, "Its output:", lines],
      ).text;
    expect(said("completed")).toContain("): completed.\n\nline 0\nline 1\n");
    expect(said("running")).toContain("): running. The last it has written:\n\n    line 12\n");
    expect(said("running")).not.toContain("line 11");
  });

  it("makes no call when there is nothing to look at, and says what is known", () => {
    expect(play("what is running", [])).toMatchObject({
      calls: [],
      text: expect.stringContaining("nothing"),
    });
    const { calls, text } = play("what is running", [over]);
    expect(calls).toEqual([]);
    expect(text).toContain("Nothing runs any more.");
    expect(play("is elder done", [over]).text).toContain("(elder, a9999999999999999): completed");
  });

  it.each([
    "how is the command parser structured",
    "is the agent loop documented",
    "how is this repository structured",
    "what is the status of the licence",
    "is this ready",
    "wait for godot",
  ])("is not one about something else: %s", (prompt) => {
    const known = prompt === "is this ready" ? [] : [tests, scout];
    const { calls, text } = play(prompt, known);
    expect(calls.some(({ name }) => name === "TaskOutput")).toBe(false);
    expect(text).not.toContain("started nothing");
  });

  it("says what the tool complained of", () => {
    expect(play("what is running", [tests], "There is no task b1.", true).text).toContain(
      "There is no task b1.",
    );
  });
});

describe("work in the background", () => {
  it.each([
    "run `make` in the background and list TODOs",
    "run `make` in the background and meanwhile list TODOs",
    "run `make` in the background, meanwhile list TODOs",
    "run `make` in the background and while it runs, list TODOs",
    "run `make` in the background while you list TODOs",
  ])("is begun, then the rest is done: %s", (prompt) => {
    const names = play(prompt, [], "No matches.").calls.map(({ name, input }) => [
      name,
      input.run_in_background,
    ]);
    expect(names.slice(0, 2)).toEqual([
      ["Bash", true],
      ["Grep", undefined],
    ]);
  });
});

describe("a wish to stop something", () => {
  it.each([
    ["stop it", [tests], [tests]],
    ["stop the tests", [tests, scout], [tests]],
    ["please cancel scout", [tests, scout], [scout]],
    ["kill the agent", [tests, scout], [scout]],
    ["stop everything", [tests, scout, over], [tests, scout]],
    ["stop all tasks", [tests, scout], [tests, scout]],
    [`stop the task ${scout.id}`, [tests, scout], [scout]],
    [`stop ${scout.id}`, [], [scout]],
  ])("stops what is meant: %s", (prompt, known, meant) => {
    expect(inputs(prompt, known)).toEqual(meant.map(({ id }) => stop(id)));
  });

  it.each([
    [
      "stop it",
      [tests, scout],
      /^Nothing was stopped\. Several are meant by that:\n\n- command "Run the tests"/,
    ],
    ["stop it", [], /^Nothing was stopped\. There is none/],
    ["stop a7777", [tests], /^Nothing was stopped\. None is meant by that/],
    ["stop the agent", [tests], /^Nothing was stopped\. None is meant by that/],
    ["stop everything", [over], /^Nothing was stopped: nothing/],
  ])("stops nothing where that is not clear: %s", (prompt, known, said) => {
    const { calls, text } = play(prompt, known);
    expect([calls, text]).toEqual([[], expect.stringMatching(said)]);
  });

  it("does not claim what did not happen", () => {
    const { text } = play("stop it", [tests], "The task b1 is not running: it is completed.", true);
    expect(text).toContain(`${tests.id} was not stopped: The task b1 is not running`);
  });
});

describe("a message to an agent", () => {
  it.each([
    ["tell scout to list the TODOs", "list the TODOs"],
    ["tell the Explore agent to list the TODOs", "list the TODOs"],
    ["tell the agent that src is enough", "src is enough"],
    ["ask scout where parseArgs is", "where parseArgs is"],
    ["message scout: list the TODOs", "list the TODOs"],
    ["send scout a message: list the TODOs", "list the TODOs"],
    [`tell agent ${scout.id} to list the TODOs`, "list the TODOs"],
  ])("goes to one of this conversation: %s", (prompt, message) => {
    expect(inputs(prompt, [tests, scout])).toEqual([
      ["SendMessage", { to: scout.id, message, summary: message }],
    ]);
  });

  it("goes nowhere when nobody has that name, or several may be meant", () => {
    expect(play("tell bob to list the TODOs", [scout])).toMatchObject({
      calls: [],
      text: expect.stringMatching(/^Nothing was sent: I have started no agent called bob/),
    });
    expect(play("tell the Explore agent to list the TODOs", [scout, over])).toMatchObject({
      calls: [],
      text: expect.stringMatching(/^Nothing was sent: several agents may be meant/),
    });
  });

  it("is none where no agent was started: one is", () => {
    expect(play("tell the Explore agent to list TODOs", []).calls).toMatchObject([{ name: "Agent" }]);
    expect(play("tell me about this project", [scout]).calls[0]?.name).not.toBe("SendMessage");
  });
});
