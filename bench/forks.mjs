// What forks read from the prompt cache, and what they cost next to fresh agents that are given the same history. The
// model is inside, counts by the documented rules, and answers nobody of a group before all of it have asked.
//   node forks.mjs TOKENS
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createModelSource, createNodeWorld, createSession } from "../dist/index.js";
import { createModel } from "./mock-model/model.mjs";
import { createFetch } from "./mock-model/server.mjs";

const historyTokens = Number(process.argv[2]);
const turnsOfChild = 2;
const history = "All work and no play makes a long history. ".repeat(Math.ceil((historyTokens * 4) / 43));
const home = mkdtempSync(join(tmpdir(), "cadre-bench-home-"));
// Knows from its first turn on what a fork inherits.
const reader = {
  agentType: "reader",
  whenToUse: "Everything",
  prompt: "You are an agent.",
  initialPrompt: history,
  source: "flag",
};

try {
  const forks = {};
  for (const count of [1, 5, 20]) forks[count] = await fanOut({ count, forks: true });
  const fresh = await fanOut({ count: 20, agent: "reader" });
  const plain = await fanOut({ count: 20, agent: "general-purpose" });
  const staggered = await fanOut({ count: 20, agent: "general-purpose", staggerFanOut: true });
  console.log(
    JSON.stringify({
      ok: true,
      forkShare1: shareRead(forks[1].children),
      forkShare5: shareRead(forks[5].children),
      forkShare20: shareRead(forks[20].children),
      firstTurnShare20: shareRead(forks[20].children.filter(({ step }) => step === 0)),
      parentShare1: shareRead([forks[1].next]),
      parentShare5: shareRead([forks[5].next]),
      parentShare20: shareRead([forks[20].next]),
      forksUsd: dollarsFor(forks[20].children),
      freshUsd: dollarsFor(fresh.children),
      savedByForks: dollarsFor(fresh.children) / dollarsFor(forks[20].children),
      savedByStagger: dollarsFor(plain.children) / dollarsFor(staggered.children),
    }),
  );
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** All requests of the children, and the first of their parent after it has started them. */
async function fanOut({ count, forks = false, agent, staggerFanOut = false }) {
  const model = createModel({ workdir: process.cwd() });
  const meet = createMeeting(staggerFanOut ? 1 : count);
  const node = createNodeWorld();
  const world = {
    ...node,
    homeFolder: home,
    env: { ...node.env, ANTHROPIC_API_KEY: "fake", ANTHROPIC_BASE_URL: "http://127.0.0.1:1" },
    network: {
      ...node.network,
      fetch: createFetch(model, ({ plan, isChild }) => (isChild ? meet(plan.step) : undefined)),
    },
  };
  const settings = { staggerFanOut, ...(forks && { forkSubagent: "always" }) };
  const session = createSession({
    world,
    cwd: process.cwd(),
    model: await createModelSource({ world, settings }).model("claude-sonnet-4-5"),
    settings,
    agentDefinitions: [reader],
    allowedTools: ["Bash"],
  });
  const script = `[[script:fanout n=${count} k=${turnsOfChild - 1}${agent ? ` agent=${agent}` : ""}]]`;
  await drain(session.submit(forks ? `${history}\n\n${script}` : script));
  while (await session.nextWork()) await drain(session.submit());
  await session.close();
  const [, next] = model.log().filter(({ script: name }) => name === "fanout");
  const children = model.log().filter(({ script: name }) => name === "loop");
  if (children.length !== count * turnsOfChild) throw new Error(`${children.length} requests of children`);
  return { children, next };
}

async function drain(run) {
  for await (const _ of run);
}

/** Everybody waits until so many are at the same step. */
function createMeeting(count) {
  const steps = new Map();
  return (step) =>
    new Promise((resolve) => {
      const waiting = [...(steps.get(step) ?? []), resolve];
      steps.set(step, waiting);
      if (waiting.length >= count) for (const go of waiting) go();
    });
}

function shareRead(requests) {
  return sum(requests, "read") / sum(requests, "tokens");
}

/** Input only, at 3 dollars a million tokens; writing costs 1.25 times as much, for an hour 2 times, reading a tenth. */
function dollarsFor(requests) {
  const longWritten = sum(requests, "longWrite");
  const written = sum(requests, "write") - longWritten;
  const tokens = sum(requests, "fresh") + 1.25 * written + 2 * longWritten + 0.1 * sum(requests, "read");
  return (tokens * 3) / 1_000_000;
}

function sum(requests, key) {
  return requests.reduce((total, request) => total + request[key], 0);
}
