/** The offline model delegates, through the real session and its real agents: what they report together must be true. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { agentActivityOf } from "../../src/contracts/event.ts";
import type { ToolUseBlock } from "../../src/contracts/message.ts";
import { createOfflineModel } from "../../src/model/offline/offline-model.ts";
import { createSession } from "../../src/runtime/create-session.ts";
import type { Session, SessionOptions } from "../../src/runtime/session.ts";
import {
  createSampleRepository,
  type SampleKind,
  sampleKinds,
} from "../../src/testing/sample-repositories.ts";
import { createTempWorkspace } from "../../src/testing/temp-workspace.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";

const made: { remove(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of made.splice(0)) await one.remove();
});

type Options = Pick<SessionOptions, "disallowedTools">;

async function openSession(cwd: string, options: Options = {}): Promise<Session> {
  const home = await createTempWorkspace();
  made.push(home);
  const world = createTestWorld({ homeFolder: home.path });
  return createSession({
    world,
    cwd,
    model: createOfflineModel(),
    settings: {},
    keepTranscript: false,
    ...options,
  });
}

async function startsAgents(): Promise<boolean> {
  const folder = await createTempWorkspace();
  const session = await openSession(folder.path);
  const names = session.toolNames;
  await session.close();
  for (const one of [folder, ...made.splice(0)]) await one.remove();
  return names.includes("Agent");
}

interface Answer {
  readonly text: string;
  readonly orders: readonly Readonly<Record<string, unknown>>[];
  /** Calls of the agents that were started, by name. */
  readonly agentCalls: readonly string[];
  /** The most that were at work at once. */
  readonly atOnce: number;
}

async function ask(cwd: string, prompt: string, options: Options = {}): Promise<Answer> {
  const session = await openSession(cwd, options);
  const orders: ToolUseBlock[] = [];
  const agentCalls: string[] = [];
  const running = new Set<string>();
  let atOnce = 0;
  const run = session.submit(prompt);
  let step = await run.next();
  for (; !step.done; step = await run.next()) {
    if (step.value.type === "call-start" && step.value.call.name === "Agent") orders.push(step.value.call);
    const activity = agentActivityOf(step.value);
    if (activity?.type === "agent-start") running.add(activity.agentId);
    if (activity?.type === "agent-end") running.delete(activity.agentId);
    if (activity?.type === "agent-event" && activity.event.type === "call-start")
      agentCalls.push(activity.event.call.name);
    atOnce = Math.max(atOnce, running.size);
  }
  await session.close();
  expect(step.value.end.reason).toBe("completed");
  return { text: step.value.text, orders: orders.map(({ input }) => input), agentCalls, atOnce };
}

async function sample(kind: SampleKind) {
  const repository = await createSampleRepository(kind, { git: true });
  made.push(repository);
  return repository;
}

function topFolders(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== ".git")
    .map((entry) => entry.name)
    .sort();
}

function linesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8").split("\n").length - 1)
    .reduce((sum, lines) => sum + lines, 0);
}

const kinds = sampleKinds.filter((kind) => kind !== "empty");

describe.skipIf(!(await startsAgents()))("the offline model, where agents can be started", () => {
  it.each(kinds)("maps the sample %s with an Explore agent for each top folder", async (kind) => {
    const { path } = await sample(kind);
    const folders = topFolders(path);
    const map = await ask(path, "map this repository");
    expect(map.orders.map(({ subagent_type }) => subagent_type)).toEqual(folders.map(() => "Explore"));
    for (const [index, folder] of folders.entries())
      expect(map.orders[index]?.prompt).toContain(`Explore the folder \`${folder}\``);
    expect(map.text).toContain(`${folders.length} Explore agent`);
    expect(map.text).not.toContain("I looked myself");
    expect(new Set(map.agentCalls)).toEqual(new Set(["Glob", "Grep", "Read"]));
    for (const folder of folders) {
      const own = new RegExp(`^- ${escaped(folder)}/: .*\\n((?: {2}.*\\n)*)`, "m").exec(map.text);
      const size = /- Size: ([\d,]+) lines?/.exec(own?.[1] ?? "")?.[1];
      if (size !== undefined) expect(Number(size.replace(",", ""))).toBe(linesBelow(join(path, folder)));
    }
  });

  it("says the same as without agents, and more", async () => {
    const { path } = await sample("go-module");
    const alone = await ask(path, "map this repository", { disallowedTools: ["Agent"] });
    const together = await ask(path, "map this repository");
    expect(alone.orders).toEqual([]);
    for (const line of alone.text.split("\n")) expect(together.text.split("\n")).toContain(line);
    expect(together.text.length).toBeGreaterThan(alone.text.length);
  });

  it("lets the agents work side by side", async () => {
    const { path } = await sample("rust-workspace");
    expect((await ask(path, "map this repository")).atOnce).toBe(2);
  });

  it("makes the map alone where a rule keeps it from starting Explore, and says so", async () => {
    const { path } = await sample("python-package");
    const { text } = await ask(path, "map this repository", { disallowedTools: ["Agent(Explore)"] });
    expect(text).toContain("- src/: Counts words in text files. (src/tally/__init__.py)");
    expect(text).toContain("No agent reported on src/, tests/ (");
  });

  it("starts the agent that a person asks for, and reports its answer", async () => {
    const { path } = await sample("python-package");
    const { text, orders } = await ask(path, "ask an Explore agent where count_words is defined");
    expect(orders).toMatchObject([{ subagent_type: "Explore", prompt: "where count_words is defined" }]);
    expect(text).toMatch(
      /^The Explore agent reports:\n\n`count_words` is defined in 1 place:\n\n- src\/tally\/count\.py:6/,
    );
  });

  it("is honest about an agent that does not exist", async () => {
    const { path } = await sample("python-package");
    const { text } = await ask(path, "ask a nonesuch agent to list TODOs");
    expect(text).toMatch(
      /^The nonesuch agent did not answer: .*nonesuch.* I did it myself:\n\n\*\*2 lines\*\*/,
    );
  });
});

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
