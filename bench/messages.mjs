// Agents of one session write to each other as fast as they can: how long it takes until a message stands in the history
// of its receiver, at the next boundary of that one's loop.
//   node messages.mjs AGENTS MESSAGES
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { createSession, defineTool } from "../dist/index.js";
import { createScriptedModel, createTestWorld } from "../dist/testing.js";

const [agents, messages] = process.argv.slice(2).map(Number);
const perTurn = 10;
const turns = Math.ceil(messages / agents / perTurn);
const total = agents * turns * perTurn;
const home = mkdtempSync(join(tmpdir(), "cadre-bench-home-"));
const nameOf = (index) => `agent-${index}`;
const everybody = Array.from({ length: agents }, (_, index) => index);

/** By the text of the message: when its call began and ended, and when its receiver had it. */
const begun = new Map();
const acknowledged = new Map();
const arrived = new Map();

/** Nobody can be written to before it has its name. */
let allThere;
const ready = new Promise((resolve) => {
  allThere = resolve;
});
let there = 0;
const meet = defineTool({
  name: "mcp__bench__meet",
  description: "Waits for all others",
  input: z.object({}),
  isReadOnly: () => true,
  call() {
    if (++there === agents) allThere();
    return ready;
  },
  toResult: () => "all are there",
});

try {
  const session = createSession({
    world: createTestWorld({ homeFolder: home }),
    cwd: process.cwd(),
    model: createScriptedModel(script),
    settings: { maxLiveAgents: agents + 1 },
    tools: [meet],
    allowedTools: [meet.name],
  });
  session.onActivity(({ activity }) => activity.type === "agent-event" && see(activity.event));
  const cpuBefore = process.cpuUsage();
  await drain(session.submit("start"));
  while (await session.nextWork()) await drain(session.submit());
  const cpu = process.cpuUsage(cpuBefore);
  await session.close();
  const delays = [...arrived].map(([text, at]) => Math.max(0, at - (acknowledged.get(text) ?? at)));
  const sends = [...acknowledged].map(([text, at]) => at - begun.get(text));
  const seconds = (Math.max(...arrived.values()) - Math.min(...begun.values())) / 1000;
  console.log(
    JSON.stringify({
      ok: arrived.size === total && acknowledged.size === total,
      deliveryP50Ms: quantile(delays, 0.5),
      deliveryP99Ms: quantile(delays, 0.99),
      sendP99Ms: quantile(sends, 0.99),
      messagesPerS: Math.round(total / seconds),
      cpuPerMessageMs: (cpu.user + cpu.system) / 1000 / total,
    }),
  );
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function drain(run) {
  for await (const _ of run);
}

function see(event) {
  const now = performance.now();
  if (event.call?.name === meet.name) return;
  if (event.type === "call-start") begun.set(event.call.input.message, now);
  else if (event.type === "call-end") acknowledged.set(event.call.input.message, now);
  else if (event.type === "message-append" && event.message.role === "user")
    for (const block of event.message.content)
      for (const [text] of block.type === "text" ? block.text.matchAll(/\d+ of agent-\d+/g) : [])
        arrived.set(text, now);
}

/** The first prompt of a conversation is the name of its agent. */
function* script({ prompt }) {
  if (prompt === "start") {
    const inputs = everybody.map(nameOf).map((name) => ({ name, prompt: name, description: name }));
    yield { calls: inputs.map((input) => ({ name: "Agent", input: { ...input, run_in_background: true } })) };
  } else {
    const own = Number(prompt.slice("agent-".length));
    yield { calls: [{ name: meet.name }] };
    for (let turn = 0; turn < turns; turn++) yield { calls: callsOf(own, turn) };
  }
  for (;;) yield "done";
}

/** To all others in turn. */
function callsOf(own, turn) {
  return Array.from({ length: perTurn }, (_, at) => {
    const number = turn * perTurn + at;
    const to = nameOf((own + 1 + (number % (agents - 1))) % agents);
    const message = `${number} of ${nameOf(own)}`;
    return { name: "SendMessage", input: { to, message, summary: "one of many" } };
  });
}

function quantile(numbers, share) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
