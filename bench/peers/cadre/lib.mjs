// Cadre as a library: the session that the command runs, too, with a `Read` as plain as that of the floor.
import { mkdtempSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { createModelSource, createNodeWorld, createSession, defineTool } from "../../../dist/index.js";

const system = "You are an agent.";
const read = defineTool({
  name: "Read",
  description: "Read a file",
  input: z.object({ path: z.string() }),
  isReadOnly: () => true,
  call: ({ path }) => readFile(path, "utf8"),
  toResult: (text) => text,
});
const worker = {
  agentType: "general-purpose",
  whenToUse: "Everything",
  prompt: system,
  tools: ["Read"],
  source: "flag",
};
const noLimit = 1_000_000;

export function build({ baseURL, fetch }) {
  const node = createNodeWorld();
  const world = {
    ...node,
    homeFolder: mkdtempSync(join(tmpdir(), "cadre-bench-home-")),
    env: { ...node.env, ANTHROPIC_API_KEY: "fake", ANTHROPIC_BASE_URL: baseURL },
    ...(fetch && { network: { ...node.network, fetch } }),
  };
  // 10,000 results do not fit before a model. The floor sends them all the same, and so does this.
  const settings = {
    maxLiveAgents: noLimit,
    maxAgentStarts: noLimit,
    compaction: { auto: false },
  };
  const gatewayLimits = { startConcurrency: noLimit, maxConcurrency: noLimit };
  const models = createModelSource({ world, settings, gatewayLimits });
  return async (prompt) => {
    const session = createSession({
      world,
      cwd: process.env.BENCH_WORK ?? process.cwd(),
      model: await models.model("mock"),
      settings,
      systemPrompt: system,
      tools: [read],
      agentDefinitions: [worker],
    });
    const run = session.submit(prompt);
    let step = await run.next();
    while (!step.done) step = await run.next();
    await session.close();
    return step.value.text;
  };
}
