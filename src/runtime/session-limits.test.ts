import { afterEach, beforeEach, expect, it } from "vitest";
import { createScriptedModel, type Script } from "../testing/scripted-model.ts";
import { createTempWorkspace, type TempWorkspace } from "../testing/temp-workspace.ts";
import { createTestWorld } from "../testing/test-world.ts";
import { createVirtualClock } from "../testing/virtual-clock.ts";
import { createSession } from "./create-session.ts";
import type { RunResult, SessionOptions } from "./session.ts";

let workspace: TempWorkspace;
beforeEach(async () => {
  workspace = await createTempWorkspace();
});
afterEach(() => workspace.remove());

function open(script: Script, options: Partial<SessionOptions>) {
  const clock = createVirtualClock();
  const session = createSession({
    world: createTestWorld({ clock, homeFolder: workspace.path }),
    cwd: workspace.path,
    model: createScriptedModel(script, { clock }),
    settings: {},
    keepTranscript: false,
    ...options,
  });
  return async (prompt: string): Promise<RunResult> => {
    const running = session.submit(prompt);
    for (;;) {
      const step = await clock.runUntil(running.next());
      if (step.done) return step.value;
    }
  };
}

const note = { calls: [{ name: "TodoWrite", input: { todos: [] } }] };
const restless: Script = function* () {
  for (;;) yield note;
};

it("the turns of a run are limited by the flag, and begin anew with the next run", async () => {
  const run = open(restless, { maxTurns: 2 });
  for (const prompt of ["one", "two"])
    expect(await run(prompt)).toMatchObject({ turns: 2, end: { reason: "max_turns", limit: 2 } });
});

it("the turns of a session are limited by the settings, over all runs", async () => {
  const run = open([note, "first", note, note], { settings: { budgets: { session: { turns: 3 } } } });
  expect(await run("one")).toMatchObject({ turns: 2, end: { reason: "completed" } });
  const message = "The turn budget of the session is used up: 3 of 3 turns.";
  expect(await run("two")).toMatchObject({ turns: 1, end: { budget: "turns", message } });
  expect(await run("three")).toMatchObject({ turns: 0, end: { budget: "turns", message } });
});

it.each<[string, Partial<SessionOptions>]>([
  ["an option", { maxMinutes: 3, settings: { budgets: { session: { minutes: 60 } } } }],
  ["the settings", { settings: { budgets: { session: { minutes: 3 } } } }],
])(
  "the time of a session is limited by %s, and what was said until then is its result",
  async (_, options) => {
    const run = open([{ text: "half of it", hang: true }], options);
    expect(await run("go")).toMatchObject({
      text: "half of it",
      durationMs: 180_000,
      end: { reason: "budget_exhausted", budget: "time" },
    });
  },
);
