/**
 * The command is killed at any moment while messages are sent to an agent, which is at work or has ended and is woken by
 * them. What was acknowledged to the sender stands in the receiver's transcript in the end, once and in order (TA-13).
 */
import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { textOf } from "../../src/contracts/message-content.ts";
import type { MockBlock, MockRequest } from "../../src/testing/mock-dialect.ts";
import { type MockAnswer, startMockProvider } from "../../src/testing/mock-provider.ts";
import { createSeededRandom, createTestWorld } from "../../src/testing/test-world.ts";
import { createAgentTranscripts } from "../../src/transcript/agent-transcripts.ts";
import { type SessionFiles, sessionFiles } from "../../src/transcript/location.ts";
import { runs } from "../prove.ts";
import { type BuiltCommand, buildCommand, makePlace, secretKey, startCommand } from "./built-command.ts";

let built: BuiltCommand;
beforeAll(async () => {
  built = await buildCommand();
}, 60_000);
afterAll(() => built.remove());

const sessionId = "7d9f1a34-0000-4000-8000-000000000005";
const messageCount = 6;
const done: MockBlock[] = [{ type: "text", text: "all is well" }];

const isReceiver = ({ body }: MockRequest) => JSON.stringify(body.messages[0]?.content).includes("receive");
const turnOf = ({ body }: MockRequest) => body.messages.filter(({ role }) => role === "assistant").length;

function callOf(id: string, name: string, input: Record<string, unknown>): MockBlock {
  return { type: "tool_use", id, name, input };
}

/** Starts the receiver, writes to it in two messages, and goes on. */
function sendAll(request: MockRequest): MockBlock[] {
  const turn = turnOf(request);
  if (turn === 0) {
    const input = { description: "receive", prompt: "receive", name: "receiver", run_in_background: true };
    return [callOf("toolu_start", "Agent", input)];
  }
  if (turn > 2) return done;
  return Array.from({ length: messageCount / 2 }, (_, index) => {
    const number = (turn - 1) * (messageCount / 2) + index;
    const input = { to: "receiver", message: `message-${number}.`, summary: "a message" };
    return callOf(`toolu_send_${number}`, "SendMessage", input);
  });
}

/** A receiver that was cut off is sent on its way again. */
function sendOn({ body }: MockRequest): MockBlock[] {
  const heard = JSON.stringify(body.messages);
  const interrupted = [...heard.matchAll(/Agent\(\{ resume: \\+"(\w+)\\+" \}\)/g)];
  const sent = heard.match(/"resume":"\w+"/g) ?? [];
  const id = interrupted[0]?.[1];
  if (id === undefined || sent.length >= interrupted.length) return done;
  const input = { description: "go on", prompt: "go on", resume: id };
  return [callOf(`toolu_resume_${sent.length}`, "Agent", input)];
}

/** Answers with how many messages have arrived. */
async function killAndResume(seed: number): Promise<number> {
  const random = createSeededRandom(seed);
  const place = makePlace();
  const files = sessionFiles({ homeFolder: place.home, cwd: place.project, sessionId });
  const kills = [
    { atRequest: 2 + Math.floor(random.number() * 4), afterMs: random.number() * 60 },
    ...(random.number() < 0.5
      ? [{ atRequest: Math.floor(random.number() * 3), afterMs: random.number() * 60 }]
      : []),
  ];
  const isBusy = random.number() < 0.5;
  let life = 0;
  let requests = 0;
  let end = () => {};
  const answer = (request: MockRequest): MockAnswer => {
    const now = kills[life];
    if (now !== undefined && requests++ === now.atRequest) setTimeout(end, now.afterMs);
    if (!isReceiver(request)) return life === 0 ? sendAll(request) : sendOn(request);
    if (life === 0 && isBusy && turnOf(request) > 0) return { fault: "silence" };
    if (turnOf(request) > 0) return [{ type: "text", text: "received" }];
    return [callOf("toolu_look", "Glob", { pattern: "*" })];
  };
  const provider = await startMockProvider({ answer });
  const env = { HOME: place.home, ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: secretKey };
  const run = async (...args: string[]) => {
    const { child, ended } = startCommand({
      program: built.program,
      args: ["-p", "--allowed-tools", "Agent,SendMessage", ...args],
      cwd: place.project,
      env,
    });
    requests = 0;
    end = () => child.kill("SIGKILL");
    // One that waits for a receiver that says nothing, after fewer requests than that.
    const patience = life < kills.length ? setTimeout(end, 5_000) : undefined;
    const result = await ended;
    clearTimeout(patience);
    return result;
  };
  try {
    for (; life < kills.length; life++)
      await (existsSync(files.transcript)
        ? run("--resume", sessionId, "and now?")
        : run("--session-id", sessionId, "go"));
    if (!existsSync(files.transcript)) return 0;
    for (const prompt of ["and now?", "still well?"])
      expect(await run("--resume", sessionId, prompt)).toMatchObject({ code: 0, stdout: "all is well\n" });
    return await expectAllArrived(files);
  } finally {
    await provider.close();
    place.remove();
  }
}

async function expectAllArrived(files: SessionFiles): Promise<number> {
  const transcripts = createAgentTranscripts({ world: createTestWorld(), folder: files.subagents });
  const [receiver] = await transcripts.list();
  const loaded = await transcripts.read(receiver?.meta.agentId ?? "");
  await transcripts.close();
  const heard = loaded?.messages
    .flatMap(({ content }) => [...textOf(content).matchAll(/message-(\d)\./g)])
    .map((match) => Number(match[1]));
  const queued = readFileSync(files.transcript, "utf8")
    .split("\n")
    .filter((line) => line.startsWith('{"type":"queue"'))
    .flatMap((line) => /message-(\d)\./.exec(line)?.[1] ?? [])
    .map(Number);
  expect(heard ?? []).toEqual([...new Set(queued)]);
  return queued.length;
}

describe("a kill at any moment while messages are sent", () => {
  const count = runs({ sample: 3, full: 100 });
  it(`loses none that was acknowledged, and brings none twice (${count} sessions)`, {
    timeout: count * 60_000,
  }, async () => {
    let arrived = 0;
    for (let seed = 1; seed <= count; seed++)
      arrived += await killAndResume(seed).catch((error: unknown) => {
        throw new Error(`session with seed ${seed}`, { cause: error });
      });
    expect(arrived).toBeGreaterThan(count);
  });
});
