/** Agents in which nothing happens any more are reported, and ended where settings say so. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../src/testing/manual-clock.ts";
import { createSwitch } from "../../src/testing/switch.ts";
import { agent, calling, type Plays, useAgentScene } from "./agent-scene.ts";

const scene = useAgentScene();
const stallMs = 10_000;
const hold = "mcp__test__hold";

function open(plays: Plays, settings: Record<string, unknown> = {}) {
  const clock = createManualClock();
  const door = createSwitch();
  const opened = scene.open(
    plays,
    { settings: { stallMs, ...settings }, tools: [door.tool(hold)], allowedTools: [hold] },
    { world: { clock } },
  );
  const states = () =>
    Object.fromEntries(
      opened.session.tasks.list().map(({ description, agent }) => [description, agent?.progress.state]),
    );
  /** In steps, as time goes by: a jump would be a machine that slept. */
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 1_000) await clock.advance(1_000);
  };
  return { ...opened, door, states, pass };
}

const holding: Plays = {
  go: calling(agent("work", { description: "stuck" })),
  work: calling({ name: hold, input: {} }),
};

describe("an agent in which nothing happens", () => {
  it("counts as stalled after the time that settings give, and no longer when it moves again", async () => {
    const { run, door, states, pass, session } = open(holding);
    const seen: (string | undefined)[] = [];
    session.tasks.onChange(({ type, task }) => {
      if (type === "task-update") seen.push(task.agent?.progress.state);
    });
    const running = run("go");
    await door.reached(1);
    await pass(stallMs - 1_000);
    expect(states()).toEqual({ stuck: undefined });
    await pass(4_000);
    expect(states()).toEqual({ stuck: "stalled" });
    door.open();
    expect(await running).toMatchObject({ end: { reason: "completed" } });
    expect(seen.filter((state) => state === "stalled")).toHaveLength(1);
    expect(seen.at(-1)).toBeUndefined();
  });

  it("is ended where settings say so, and its parent hears why", async () => {
    const { run, door, pass } = open(holding, { stallAction: "abort" });
    const running = run("go");
    await door.reached(1);
    await pass(stallMs + 4_000);
    const { results } = await running;
    expect(results[0]?.text).toMatch(/nothing had happened in it for too long/);
  });

  it("is not stalled while it waits for an agent of its own: that one is", async () => {
    const { run, door, states, pass } = open(
      {
        go: calling(agent("upper", { description: "upper" })),
        upper: calling(agent("lower", { description: "lower" })),
        lower: calling({ name: hold, input: {} }),
      },
      { maxAgentDepth: 2 },
    );
    const running = run("go");
    await door.reached(1);
    await pass(stallMs + 4_000);
    expect(states()).toEqual({ upper: undefined, lower: "stalled" });
    door.open();
    await running;
  });

  it("is not stalled while a person has not answered its question", async () => {
    const { run, states, pass, session } = open({
      go: calling(agent("work", { description: "asks" })),
      work: calling({ name: "Write", input: { file_path: "a.txt", content: "a" } }),
    });
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      session.permissions.subscribe((change) => {
        if (change.type !== "question-open") return;
        answer = () => void session.permissions.answer(change.question.id, { answer: "once" });
        resolve();
      });
    });
    const running = run("go");
    await asked;
    await pass(3 * stallMs);
    expect(states()).toEqual({ asks: undefined });
    answer();
    await running;
  });
});
