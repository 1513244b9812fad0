/**
 * The command is killed at any moment while three agents work for it. `--resume` always works, tells of each agent
 * that was cut off once, and can go on with it; nothing that a model was told is missing.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Random } from "../../src/base/world.ts";
import { toolUsesOf } from "../../src/contracts/message-content.ts";
import type { MockBlock, MockRequest } from "../../src/testing/mock-dialect.ts";
import { type MockAnswer, startMockProvider } from "../../src/testing/mock-provider.ts";
import { createSeededRandom, createTestWorld } from "../../src/testing/test-world.ts";
import { createAgentTranscripts } from "../../src/transcript/agent-transcripts.ts";
import { type SessionFiles, sessionFiles } from "../../src/transcript/location.ts";
import { loadTranscript } from "../../src/transcript/reader.ts";
import { runs } from "../prove.ts";
import { type BuiltCommand, buildCommand, makePlace, secretKey, startCommand } from "./built-command.ts";
import { expectPaired } from "./invariants.ts";

let built: BuiltCommand;
beforeAll(async () => {
  built = await buildCommand();
}, 60_000);
afterAll(() => built.remove());

const agentCount = 3;
const sessionId = "7d9f1a34-0000-4000-8000-000000000001";
const interruptions = /was interrupted: the process that ran it/g;

interface Told {
  /** Undefined: the main agent. */
  readonly task: string | undefined;
  readonly request: MockRequest;
}

/** Who asks is told by the first message of its conversation. */
function taskOf({ body }: MockRequest): string | undefined {
  return /do-task-\d/.exec(JSON.stringify(body.messages[0]?.content))?.[0];
}

function startAgents(): MockBlock[] {
  return Array.from({ length: agentCount }, (_, index): MockBlock => {
    const input = { description: `task ${index}`, prompt: `do-task-${index}` };
    return { type: "tool_use", id: `toolu_agent_${index}`, name: "Agent", input };
  });
}

/** Every call makes a file of its own, named after the call. */
function agentWork(task: string, turn: number, random: Random): MockBlock[] {
  if (turn >= 3) return [{ type: "text", text: `${task} is done` }];
  const id = `toolu_${task}_${turn}`;
  return random.number() < 0.5
    ? [{ type: "tool_use", id, name: "Write", input: { file_path: id, content: id } }]
    : [{ type: "tool_use", id, name: "Bash", input: { command: `echo ${id} > ${id}` } }];
}

/** In the second life of the session: every agent of which it hears that it was cut off is sent on its way again. */
function sendOn({ body }: MockRequest): MockBlock[] {
  const heard = JSON.stringify(body.messages);
  const ids = new Set([...heard.matchAll(/Agent\(\{ resume: \\+"(\w+)\\+" \}\)/g)].map((match) => match[1]));
  const sent = new Set([...heard.matchAll(/"resume":"(\w+)"/g)].map((match) => match[1]));
  const rest = [...ids].filter((id) => !sent.has(id));
  if (rest.length === 0) return [{ type: "text", text: "all is well" }];
  return rest.map((id) => {
    const input = { description: "go on", prompt: "go on", resume: id };
    return { type: "tool_use", id: `toolu_resume_${id}`, name: "Agent", input };
  });
}

/** Answers with how many agents had been cut off. */
async function killOnce(seed: number): Promise<number> {
  const random = createSeededRandom(seed);
  const place = makePlace();
  const files = sessionFiles({ homeFolder: place.home, cwd: place.project, sessionId });
  const killAt = Math.floor(random.number() * (2 + agentCount * 4));
  const killAfterMs = random.number() * 40;
  const told: Told[] = [];
  let killed = false;
  let kill = () => {};
  const answer = (request: MockRequest, index: number): MockAnswer => {
    const task = taskOf(request);
    told.push({ task, request });
    if (!killed && index === killAt) setTimeout(() => kill(), killAfterMs);
    if (task !== undefined)
      return killed
        ? [{ type: "text", text: `${task} is done after all` }]
        : agentWork(task, request.body.messages.filter(({ role }) => role === "assistant").length, random);
    if (killed) return sendOn(request);
    return request.body.messages.length === 1 ? startAgents() : { fault: "silence" };
  };
  const provider = await startMockProvider({ answer });
  const env = { HOME: place.home, ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: secretKey };
  const invoke = (...args: string[]) =>
    startCommand({
      program: built.program,
      args: ["-p", "--allowed-tools", "Write,Bash,Agent", ...args],
      cwd: place.project,
      env,
    });
  try {
    const { child, ended } = invoke("--session-id", sessionId, "go");
    kill = () => {
      killed = true;
      child.kill("SIGKILL");
    };
    // With agents that need fewer requests than that, nobody would.
    const patience = setTimeout(() => kill(), 8_000);
    expect(await ended).toMatchObject({ signal: "SIGKILL" });
    clearTimeout(patience);
    const before = [...told];
    if (before.length > 0) expect(existsSync(files.transcript)).toBe(true);
    if (!existsSync(files.transcript)) return 0;
    await expectNothingLost(files, before);
    const made = readdirSync(place.project).filter((name) => name.startsWith("toolu_"));

    const resumed = await invoke("--resume", sessionId, "and now?").ended;
    expect(resumed).toMatchObject({ code: 0, stdout: "all is well\n" });
    const second = await invoke("--resume", sessionId, "still well?").ended;
    expect(second).toMatchObject({ code: 0, stdout: "all is well\n" });
    expect(second.stderr).not.toContain("interrupted");
    return await expectWholeStory(files, resumed.stderr, made);
  } finally {
    await provider.close();
    place.remove();
  }
}

/** What a model was told before the kill is on disk. Only looks: what opens the session next has to put it right. */
async function expectNothingLost(files: SessionFiles, told: readonly Told[]): Promise<void> {
  const written = existsSync(files.subagents)
    ? readdirSync(files.subagents)
        .filter((name) => name.endsWith(".jsonl"))
        .map((name) => readFileSync(join(files.subagents, name), "utf8"))
        .join("\n")
    : "";
  const main = readFileSync(files.transcript, "utf8");
  for (const { task, request } of told)
    for (const message of request.body.messages)
      for (const block of typeof message.content === "string" ? [] : message.content) {
        const id = "tool_use_id" in block ? block.tool_use_id : "id" in block ? block.id : undefined;
        if (id !== undefined) expect(task === undefined ? main : written).toContain(String(id));
      }
}

async function expectWholeStory(
  files: SessionFiles,
  notes: string,
  made: readonly string[],
): Promise<number> {
  const world = createTestWorld();
  const main = await loadTranscript({ world, path: files.transcript });
  expectPaired(main.messages, { whole: true });
  const transcripts = createAgentTranscripts({ world, folder: files.subagents });
  const agents = await transcripts.list();
  expect(agents.map(({ status }) => status)).toEqual(agents.map(() => "completed"));

  const story = JSON.stringify(main.messages.map(({ content }) => content));
  const reported = agents.filter(({ meta }) => notes.includes(`Agent ${meta.agentId} `));
  expect(story.match(interruptions)?.length ?? 0, "each is reported once").toBe(reported.length);
  const calls: string[] = [];
  for (const { meta, text } of agents) {
    const isReported = reported.some((agent) => agent.meta.agentId === meta.agentId);
    expect(text).toMatch(isReported ? /is done after all$/ : /is done$/);
    const { loaded } = await transcripts.reopen(meta.agentId);
    expectPaired(loaded.messages, { whole: true });
    calls.push(...loaded.messages.flatMap(({ content }) => toolUsesOf(content).map(({ id }) => id)));
  }
  // Nothing was done that no transcript tells of, and nothing was done twice.
  expect(calls).toEqual(expect.arrayContaining([...made]));
  expect(new Set(calls).size).toBe(calls.length);
  await transcripts.close();
  return reported.length;
}

describe("a kill at any moment while agents work", () => {
  const count = runs({ sample: 8, full: 200 });
  it(`loses nothing, and each agent is told of once (${count} kills)`, {
    timeout: count * 30_000,
  }, async () => {
    let cutOff = 0;
    for (let seed = 1; seed <= count; seed++)
      cutOff += await killOnce(seed).catch((error: unknown) => {
        throw new Error(`kill with seed ${seed}`, { cause: error });
      });
    expect(cutOff).toBeGreaterThan(count / 4);
  });
});
