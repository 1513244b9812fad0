import { describe, expect, it } from "vitest";
import { noUsage } from "../../contracts/usage.ts";
import { createTaskRegistry } from "../../tasks/registry.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { createAgentLook } from "./agent-look.ts";

function looking() {
  const clock = createManualClock();
  const tasks = createTaskRegistry({ clock });
  const progress = { toolUses: 0, usage: noUsage, lastActivities: [] };
  const agent = { agentType: "Explore", prompt: "Look.", depth: 1, progress };
  const run = tasks.register(
    { id: "a1", kind: "local_agent", description: "look", isBackgrounded: true, agent },
    { stop() {} },
  );
  const told: string[] = [];
  const session = {
    tasks,
    watchAgents() {
      told.push("watched");
      return () => void told.push("left");
    },
  };
  const { look, leave } = createAgentLook(clock);
  return { clock, run, told, look: () => look(session), leave };
}

describe("looking at the list of tasks", () => {
  it("costs nothing the first time, and who looks again is told more until they look away", async () => {
    const { clock, told, look } = looking();
    look();
    await clock.advance(59_000);
    expect(told).toEqual([]);
    look();
    await clock.advance(59_000);
    look();
    await clock.advance(59_000);
    expect(told).toEqual(["watched"]);
    await clock.advance(1_000);
    expect(told).toEqual(["watched", "left"]);
    look();
    expect(told).toEqual(["watched", "left"]);
  });

  it("asks for nothing when no agent is at work, and ends with the conversation", async () => {
    const { clock, run, told, look, leave } = looking();
    look();
    look();
    leave();
    expect(told).toEqual(["watched", "left"]);
    run.end({ status: "completed" });
    look();
    look();
    expect(told).toHaveLength(2);
    expect(clock.pendingMs()).toEqual([]);
  });
});
