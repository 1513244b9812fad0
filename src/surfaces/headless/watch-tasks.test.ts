import { describe, expect, it } from "vitest";
import { noUsage } from "../../contracts/usage.ts";
import { createTaskRegistry, type NewTask } from "../../tasks/registry.ts";
import { createManualClock } from "../../testing/manual-clock.ts";
import { createTaskWatch, tasksAtWork } from "./watch-tasks.ts";

const shell: NewTask = { id: "b1", kind: "local_bash", description: "run tests", isBackgrounded: true };
const agent: NewTask = {
  ...shell,
  id: "a1",
  kind: "local_agent",
  agent: {
    agentType: "Explore",
    prompt: "Look.",
    depth: 1,
    progress: { toolUses: 0, usage: noUsage, lastActivities: [] },
  },
};
const stalled = { toolUses: 0, usage: noUsage, lastActivities: [], state: "stalled" } as const;
const handle = { stop() {} };

function watching() {
  const tasks = createTaskRegistry({ clock: createManualClock() });
  const watch = createTaskWatch();
  const told: string[] = [];
  tasks.onChange((change) => {
    const moment = watch.see(change);
    if (moment === undefined) return;
    if (moment.started) told.push(`started ${moment.started.id}`);
    if (moment.ended) told.push(`ended ${moment.ended.id} ${moment.ended.status}`);
    if (moment.stalled) told.push(`stalled ${moment.stalled.id}`);
    if (moment.summarized) told.push(`summary ${moment.summarized.agent?.progress.summary}`);
    if (moment.changed) told.push(`at work: ${watch.atWork.map(({ id }) => id).join(" ")}`);
  });
  return { tasks, watch, told };
}

describe("watching tasks", () => {
  it("tells the start and the end of a command in the background once each", () => {
    const { tasks, told } = watching();
    const run = tasks.register(shell, handle);
    run.update({ description: "still runs tests" });
    run.end({ status: "failed", exitCode: 1 });
    tasks.markNotified("b1");
    tasks.remove("b1");
    expect(told).toEqual(["started b1", "at work: b1", "ended b1 failed", "at work: "]);
  });

  it("says nothing of what somebody waits for until it moves", () => {
    const { tasks, told } = watching();
    const run = tasks.register({ ...shell, isBackgrounded: false }, handle);
    tasks.register({ ...shell, id: "b2", isBackgrounded: false }, handle).end({ status: "completed" });
    expect(told).toEqual([]);
    run.update({ isBackgrounded: true });
    expect(told).toEqual(["started b1", "at work: b1"]);
  });

  it("tells what agents say of themselves when it is new, of those that are waited for, too", () => {
    const { tasks, told } = watching();
    const run = tasks.register({ ...agent, isBackgrounded: false }, handle);
    const says = (summary: string) =>
      run.update({ agent: { progress: { toolUses: 1, usage: noUsage, lastActivities: [], summary } } });
    says("reads");
    says("reads");
    says("writes");
    run.end({ status: "completed" });
    expect(told).toEqual(["summary reads", "summary writes"]);
  });

  it("leaves the start and the end of agents to themselves, and counts them", () => {
    const { tasks, told } = watching();
    tasks.register(shell, handle);
    tasks.register(agent, handle).end({ status: "completed" });
    expect(told.slice(2)).toEqual(["at work: b1 a1", "at work: b1"]);
    expect(tasksAtWork({ tasks }).map(({ id }) => id)).toEqual(["b1"]);
  });

  it("tells once that an agent has stalled, and again only after it went on", () => {
    const { tasks, told } = watching();
    const run = tasks.register({ ...agent, isBackgrounded: false }, handle);
    for (const progress of [stalled, stalled, { ...stalled, state: undefined }, stalled]) {
      const { state, ...rest } = progress;
      run.update({ agent: { progress: state === undefined ? rest : { ...rest, state } } });
    }
    expect(told).toEqual(["stalled a1", "stalled a1"]);
  });

  it("knows at the close which commands were never told as ended", () => {
    const { tasks, watch } = watching();
    tasks.register(shell, handle);
    tasks.register(agent, handle);
    tasks.register({ ...shell, id: "b2" }, handle).end({ status: "completed" });
    expect(watch.close().map(({ ended }) => `${ended?.id} ${ended?.status}`)).toEqual(["b1 killed"]);
    expect(watch.close()).toEqual([]);
  });
});
