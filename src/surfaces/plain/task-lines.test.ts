import { describe, expect, it } from "vitest";
import type { Task } from "../../contracts/task.ts";
import { noUsage } from "../../contracts/usage.ts";
import { receiptLines, stalledLine, taskEndLines, taskListLines } from "./task-lines.ts";

const shell: Task = {
  id: "b1",
  kind: "local_bash",
  status: "completed",
  description: "run the tests",
  command: "npm\ntest",
  startedAt: 1000,
  endedAt: 13_300,
  isBackgrounded: true,
  notified: true,
  exitCode: 0,
};
const agent: Task = {
  id: "a1234",
  kind: "local_agent",
  status: "running",
  description: "find the parser",
  startedAt: 1000,
  isBackgrounded: true,
  notified: false,
  agent: {
    agentType: "Explore",
    prompt: "Find it.",
    depth: 1,
    progress: { toolUses: 1, usage: noUsage, lastActivities: [] },
  },
};
const long = "y".repeat(300);
const inProject = { maxChars: 79, folder: "/p" };
const widest = (lines: readonly string[]) => Math.max(...lines.map((line) => line.length));

describe("the end of a task in the background", () => {
  it.each([
    [{}, ["* Bash npm test (background): exit 0 (12.3 s)"]],
    [
      { status: "failed", exitCode: 1, error: "Exit code 1" },
      ["! Bash npm test (background): exit 1 (12.3 s)"],
    ],
    [{ status: "killed", exitCode: 143 }, ["! Bash npm test (background): stopped (12.3 s)"]],
    [
      { status: "failed", exitCode: null, error: "a signal\nended it" },
      ["! Bash npm test (background): failed (12.3 s)", "  a signal ended it"],
    ],
    [
      { kind: "monitor", command: undefined, exitCode: undefined },
      ["* monitor run the tests (background): done (12.3 s)"],
    ],
  ] as const)("with %j is %j", (changes, lines) => {
    expect(taskEndLines({ ...shell, ...changes } as Task, 79)).toEqual(lines);
  });

  it("fits the line, whatever it was", () => {
    expect(widest(taskEndLines({ ...shell, command: long, exitCode: null, error: long }, 79))).toBe(79);
    expect(widest([stalledLine({ ...agent, id: "a1234567890123456" }, long, 79)])).toBeLessThanOrEqual(79);
  });
});

describe("a receipt", () => {
  it("says what was changed and run, and nothing of what stayed as it was", () => {
    const files = [
      { path: "/p/a.ts", before: "1", after: "2" },
      { path: "/p/new.ts", before: null, after: "3" },
      { path: "/q/old.ts", before: "4", after: null },
      { path: "/p/same.ts", before: "5", after: "5" },
    ];
    const commands = [
      { command: "npm test", exitCode: 1 },
      { command: "sleep\n9", exitCode: null },
    ];
    expect(receiptLines({ calls: 6, failed: 1, denied: 0, files, commands }, inProject)).toEqual([
      "  changed a.ts",
      "  wrote new.ts",
      "  removed /q/old.ts",
      "  ran npm test: exit 1",
      "  ran sleep 9: ended by a signal",
    ]);
  });

  it("is short, and fits the line", () => {
    const files = Array.from({ length: 9 }, (_, index) => ({
      path: `/${long}/${index}`,
      before: null,
      after: "1",
    }));
    const commands = [{ command: long, exitCode: 0 }];
    const lines = receiptLines({ calls: 9, failed: 0, denied: 0, files, commands }, inProject);
    expect(lines).toHaveLength(5);
    expect(lines[0]).toMatch(/^ {2}wrote \.\.\.y+\/0$/);
    expect(lines[3]).toBe("  and 6 more files");
    expect(widest(lines)).toBe(79);
    expect(receiptLines(undefined, inProject)).toEqual([]);
  });
});

describe("the list of tasks", () => {
  it("says of each what it is, how it stands, since when, and what it has called", () => {
    const progress = { toolUses: 12, usage: noUsage, lastActivities: [], state: "stalled" as const };
    const stalled = {
      ...agent,
      id: "a2",
      agent: { ...(agent.agent as NonNullable<Task["agent"]>), progress },
    };
    const waitedFor = { ...agent, id: "a3", isBackgrounded: false };
    const at = { now: 61_000, maxChars: 100 };
    expect(taskListLines([shell, agent, stalled, waitedFor], at)).toEqual([
      "b1     Bash npm test (exit 0, 12.3 s)",
      "a1234  Agent Explore: find the parser (at work, 1 min 0 s, 1 call)",
      "a2     Agent Explore: find the parser (stalled, 1 min 0 s, 12 calls)",
      "a3     Agent Explore: find the parser (at work, in the foreground, 1 min 0 s, 1 call)",
    ]);
    expect(taskListLines([], at)).toEqual(["No tasks."]);
  });

  it("has what an agent at work says of itself under its line, and no longer when it has ended", () => {
    const at = { now: 61_000, maxChars: 50 };
    const known = agent.agent as NonNullable<Task["agent"]>;
    const summary = `reads the\nparser ${long}`;
    const busy = { ...agent, agent: { ...known, progress: { ...known.progress, summary } } };
    const lines = taskListLines([busy, { ...busy, id: "a2", status: "completed" }], at);
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^ {7}reads the parser y+\.\.\.$/);
    expect(lines[1]).toHaveLength(50);
    expect(lines[2]).toContain("(done, ");
  });

  it("fits the line", () => {
    expect(widest(taskListLines([{ ...agent, description: long }], { now: 2000, maxChars: 79 }))).toBe(79);
  });
});
