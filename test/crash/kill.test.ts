/**
 * The command is killed at any moment while a model makes it change files. Whatever it had said to the model,
 * and whatever it had done, is in the transcript; and the transcript can be sent on.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Random } from "../../src/base/world.ts";
import type { Block } from "../../src/contracts/message.ts";
import { toolUsesOf } from "../../src/contracts/message-content.ts";
import type { MockBlock } from "../../src/testing/mock-dialect.ts";
import type { WireMessage } from "../../src/testing/mock-prompt-cache.ts";
import { type MockProvider, startMockProvider } from "../../src/testing/mock-provider.ts";
import { createSeededRandom, createTestWorld } from "../../src/testing/test-world.ts";
import { type LoadedTranscript, loadTranscript } from "../../src/transcript/reader.ts";
import { runs } from "../prove.ts";
import {
  type BuiltCommand,
  buildCommand,
  makePlace,
  type Place,
  processesIn,
  secretKey,
  startCommand,
  transcriptsIn,
} from "./built-command.ts";
import { expectPaired } from "./invariants.ts";

let built: BuiltCommand;
beforeAll(async () => {
  built = await buildCommand();
}, 60_000);
afterAll(() => built.remove());

const turnCount = 8;

/** Every call makes a file of its own, named after the call. */
function callsOf(turn: number, random: Random): MockBlock[] {
  return Array.from({ length: 1 + Math.floor(random.number() * 3) }, (_, index): MockBlock => {
    const id = `toolu_${turn}_${index}`;
    const kind = random.number();
    if (kind < 0.4) return { type: "tool_use", id, name: "Write", input: { file_path: id, content: id } };
    if (kind < 0.8) {
      const command = `sleep 0.0${Math.floor(random.number() * 3)}; echo ${id} > ${id}`;
      return { type: "tool_use", id, name: "Bash", input: { command } };
    }
    return { type: "tool_use", id, name: "Glob", input: { pattern: "*" } };
  });
}

/** Answers with how many calls had done something. */
async function killOnce(seed: number): Promise<number> {
  const random = createSeededRandom(seed);
  const place = makePlace();
  const killAt = Math.floor(random.number() * (turnCount + 1));
  const killAfterMs = random.number() * 60;
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, random.number() * 3));
  let kill = () => {};
  const provider = await startMockProvider({
    answer(_request, index) {
      if (index === killAt) setTimeout(() => kill(), killAfterMs);
      if (index >= turnCount) return { fault: "silence" };
      return { blocks: [{ type: "text", text: `turn ${index}` }, ...callsOf(index, random)], pace: pause };
    },
  });
  try {
    const { child, ended } = startCommand({
      program: built.program,
      args: ["-p", "go", "--allowed-tools", "Write,Bash"],
      cwd: place.project,
      env: { HOME: place.home, ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: secretKey },
    });
    kill = () => child.kill("SIGKILL");
    expect(await ended).toMatchObject({ signal: "SIGKILL" });
    await expectNobodyLeft(place.project);
    await expectNothingLost(provider, place);
    return madeIn(place.project).length;
  } finally {
    await provider.close();
    place.remove();
  }
}

/** Commands that ran when their parent was killed end by themselves here; nothing may stay. */
async function expectNobodyLeft(folder: string): Promise<void> {
  await expect.poll(() => processesIn(folder), { timeout: 10_000 }).toEqual([]);
}

async function expectNothingLost(provider: MockProvider, place: Place): Promise<void> {
  const paths = transcriptsIn(place.home);
  if (paths.length === 0) {
    expect(provider.requests).toEqual([]);
    return;
  }
  expect(paths).toHaveLength(1);
  const loaded = await loadTranscript({ world: createTestWorld(), path: paths[0] ?? "" });
  expect(loaded.problems.filter(({ problem }) => !/cut off by a crash/.test(problem))).toEqual([]);
  expectPaired(loaded.messages, { whole: true });
  expectEverythingSaidOnRecord(provider, loaded);
  expectEverythingDoneOnRecord(place.project, loaded);
  expect(readFileSync(paths[0] ?? "", "utf8")).not.toContain(secretKey);
}

function expectEverythingSaidOnRecord(provider: MockProvider, { messages }: LoadedTranscript): void {
  for (const { body } of provider.requests) {
    const recorded = messages.slice(0, body.messages.length);
    expect(body.messages.map(asSent)).toEqual(
      recorded.map(({ role, content }) => JSON.stringify({ role, content: content.map(inOrder) })),
    );
  }
}

/** As it went over the wire, without the cache marks. */
function asSent({ role, content }: WireMessage): string {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const unmarked = blocks.map(({ cache_control: _, ...block }) => inOrder(block as Block));
  return JSON.stringify({ role, content: unmarked });
}

/** The order of fields is not content. */
function inOrder(block: Block): object {
  return Object.fromEntries(Object.entries(block).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const madeIn = (project: string) => readdirSync(project).filter((name) => name.startsWith("toolu_"));

function expectEverythingDoneOnRecord(project: string, { messages }: LoadedTranscript): void {
  const done = new Set(madeIn(project));
  const calls = messages.flatMap((message) => toolUsesOf(message.content));
  const results = new Map(
    messages.flatMap((message) =>
      message.content.flatMap((block) =>
        block.type === "tool_result" ? [[block.tool_use_id, block] as const] : [],
      ),
    ),
  );
  expect(calls.map((call) => call.id)).toEqual(expect.arrayContaining([...done]));
  for (const { id, name } of calls) {
    const result = results.get(id);
    if (done.has(id)) expect(String(result?.content), id).not.toMatch(/no effects|Not run/);
    else if (name !== "Glob")
      expect(result?.is_error, `${id} says it went well, but made nothing`).toBe(true);
    if (done.has(id) && name === "Write") expect(readFileSync(join(project, id), "utf8")).toBe(id);
  }
}

describe.skipIf(!existsSync("/proc/self/cwd"))("a kill at any moment", () => {
  const count = runs({ sample: 12, full: 200 });
  it(`loses nothing (${count} kills)`, { timeout: count * 20_000 }, async () => {
    let made = 0;
    for (let seed = 1; seed <= count; seed++)
      made += await killOnce(seed).catch((error: unknown) => {
        throw new Error(`kill with seed ${seed}`, { cause: error });
      });
    expect(made).toBeGreaterThan(count);
  });
});
