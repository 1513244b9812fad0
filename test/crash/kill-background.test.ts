/**
 * The command is killed at any moment while twenty agents and some shells work for it in the background, and perhaps
 * once more after it was resumed. In the end the main agent has heard of the end of each run exactly once: by a
 * notification, by the answer of the call that started it, or by a call that waited for it (TA-9, TA-25).
 */
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Random } from "../../src/base/world.ts";
import type { MockBlock, MockRequest } from "../../src/testing/mock-dialect.ts";
import { type MockAnswer, startMockProvider } from "../../src/testing/mock-provider.ts";
import { createSeededRandom, createTestWorld } from "../../src/testing/test-world.ts";
import { sessionFiles } from "../../src/transcript/location.ts";
import { runs } from "../prove.ts";
import { type BuiltCommand, buildCommand, makePlace, secretKey, startCommand } from "./built-command.ts";
import { expectEachToldOnce, nothingTold, type ToldEnds } from "./told-ends.ts";

let built: BuiltCommand;
beforeAll(async () => {
  built = await buildCommand();
}, 60_000);
afterAll(() => built.remove());

const agentCount = 20;
const shellCount = 2;
const sessionId = "7d9f1a34-0000-4000-8000-000000000002";

/** Who asks is told by the first message of its conversation. */
function taskOf({ body }: MockRequest): string | undefined {
  return /do-task-\d+/.exec(JSON.stringify(body.messages[0]?.content))?.[0];
}

const turnOf = ({ body }: MockRequest) => body.messages.filter(({ role }) => role === "assistant").length;

function startAll(): MockBlock[] {
  const agents = Array.from({ length: agentCount }, (_, index): MockBlock => {
    const input = { description: `task ${index}`, prompt: `do-task-${index}`, run_in_background: true };
    return { type: "tool_use", id: `toolu_agent_${index}`, name: "Agent", input };
  });
  const shells = Array.from({ length: shellCount }, (_, index): MockBlock => {
    const input = { command: `echo shell ${index}`, run_in_background: true };
    return { type: "tool_use", id: `toolu_shell_${index}`, name: "Bash", input };
  });
  // Some are at work, or at their end, while others are still to be started and no call of this message is answered.
  const slow: MockBlock = {
    type: "tool_use",
    id: "toolu_slow",
    name: "Bash",
    input: { command: "sleep 0.2" },
  };
  return [...agents.slice(0, 8), ...shells, slow, ...agents.slice(8)];
}

/** The main agent of the first life: starts them, waits for one of which it has not heard, looks around, ends. */
function mainWork(request: MockRequest): MockBlock[] {
  const heard = JSON.stringify(request.body.messages);
  if (turnOf(request) === 0) return startAll();
  const launched = [...heard.matchAll(/agentId: (\w+)/g)].map((match) => match[1]);
  const untold = launched.find((id) => !heard.includes(`<task-id>${id}`));
  if (turnOf(request) === 1 && untold !== undefined)
    return [
      { type: "tool_use", id: "toolu_wait", name: "TaskOutput", input: { task_id: untold, timeout: 5_000 } },
      { type: "tool_use", id: "toolu_look", name: "Glob", input: { pattern: "*" } },
    ];
  return [{ type: "text", text: "noted" }];
}

function agentWork(request: MockRequest, random: Random): MockBlock[] {
  const task = taskOf(request);
  const turn = turnOf(request);
  if (turn > 0 && random.number() < 0.7) return [{ type: "text", text: `${task} is done` }];
  const id = `toolu_${task}_${turn}_${Math.floor(random.number() * 1e9)}`;
  return random.number() < 0.8
    ? [{ type: "tool_use", id, name: "Write", input: { file_path: id, content: id } }]
    : [{ type: "tool_use", id, name: "Bash", input: { command: `echo ${id} > ${id}` } }];
}

/** In a later life: every agent of which it hears that it was cut off is sent on its way again, in the background. */
function sendOn(request: MockRequest): MockBlock[] {
  const heard = JSON.stringify(request.body.messages);
  const interrupted = [...heard.matchAll(/Agent\(\{ resume: \\+"(\w+)\\+" \}\)/g)].map((match) => match[1]);
  const sent = [...heard.matchAll(/"resume":"(\w+)"/g)].map((match) => match[1]);
  const times = (ids: unknown[], id: unknown) => ids.filter((each) => each === id).length;
  const rest = [...new Set(interrupted)].filter((id) => times(interrupted, id) > times(sent, id));
  if (rest.length === 0) return [{ type: "text", text: "all is well" }];
  return rest.map((id) => {
    const input = { description: "go on", prompt: "go on", resume: id, run_in_background: true };
    return { type: "tool_use", id: `toolu_resume_${times(sent, id)}_${id}`, name: "Agent", input };
  });
}

interface Kill {
  readonly atRequest: number;
  readonly afterMs: number;
}

/** Answers with how the ends were told. */
async function killAndResume(seed: number): Promise<ToldEnds> {
  const random = createSeededRandom(seed);
  const place = makePlace();
  const files = sessionFiles({ homeFolder: place.home, cwd: place.project, sessionId });
  const kill = (mostRequests: number): Kill => ({
    atRequest: Math.floor(random.number() ** 2 * mostRequests),
    afterMs: random.number() * 80,
  });
  const kills = [kill(60), ...(random.number() < 0.5 ? [kill(12)] : [])];
  const resumes = random.number() < 0.7;
  let life = 0;
  let requests = 0;
  let end = () => {};
  const answer = async (request: MockRequest): Promise<MockAnswer> => {
    const now = kills[life];
    if (now !== undefined && requests++ === now.atRequest) setTimeout(end, now.afterMs);
    await new Promise((resolve) => setTimeout(resolve, random.number() * 30));
    if (taskOf(request) !== undefined) return agentWork(request, random);
    if (life === 0) return mainWork(request);
    return resumes ? sendOn(request) : [{ type: "text", text: "all is well" }];
  };
  const provider = await startMockProvider({ answer });
  const env = { HOME: place.home, ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: secretKey };
  const run = async (...args: string[]) => {
    const { child, ended } = startCommand({
      program: built.program,
      args: ["-p", "--allowed-tools", "Write,Bash,Agent,TaskOutput", ...args],
      cwd: place.project,
      env,
    });
    requests = 0;
    end = () => child.kill("SIGKILL");
    return await ended;
  };
  try {
    for (; life < kills.length; life++) {
      const goesOn = existsSync(files.transcript);
      const { code, signal, stderr } = goesOn
        ? await run("--resume", sessionId, "and now?")
        : await run("--session-id", sessionId, "go");
      if (signal === null) expect({ code, stderr }).toMatchObject({ code: 0 });
    }
    if (!existsSync(files.transcript)) return nothingTold;
    for (const prompt of ["and now?", "still well?"])
      expect(await run("--resume", sessionId, prompt)).toMatchObject({ code: 0, stdout: "all is well\n" });
    return await expectEachToldOnce(createTestWorld(), files);
  } finally {
    await provider.close();
    place.remove();
  }
}

describe("a kill at any moment while agents and shells work in the background", () => {
  const count = runs({ sample: 6, full: 200 });
  it(`leaves each end told exactly once (${count} sessions)`, { timeout: count * 60_000 }, async () => {
    const ways = { ...nothingTold };
    for (let seed = 1; seed <= count; seed++) {
      const told = await killAndResume(seed).catch((error: unknown) => {
        throw new Error(`session with seed ${seed}`, { cause: error });
      });
      for (const way of Object.keys(ways) as (keyof typeof ways)[]) ways[way] += told[way];
    }
    expect(ways.calls).toBeGreaterThan(count * 10);
    expect(ways.byNotification).toBeGreaterThan(count);
  });
});
