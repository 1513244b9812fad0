#!/usr/bin/env node
// `npm run bench [-- --runs N --scenario S1,S2]`: what cadre costs on top of the model, next to a bare loop.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { orExplain, prepare } from "../scripts/setup.mjs";
import { analyse, median } from "./analyse.mjs";
import { measure } from "./measure.mjs";
import { peer as cadre } from "./peers/cadre/peer.mjs";
import { peer as floor } from "./peers/floor/peer.mjs";
import { addCpuPerUnit, summarise, table } from "./report.mjs";
import { defaultScenarios, scenarios } from "./scenarios.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const peers = [floor, cadre];
const options = readOptions();
await orExplain(prepare);

const scratch = mkdtempSync(join(tmpdir(), "cadre-bench-"));
const work = join(scratch, "work");
prepareFolders();
const model = await startModel();
const runs = {};
class BrokenRun extends Error {}
const skipped = new Set();
try {
  await runAll();
  report();
} catch (error) {
  if (!(error instanceof BrokenRun)) throw error;
  showProgress("");
  console.error(error.message);
  process.exitCode = 1;
} finally {
  model.stop();
  rmSync(scratch, { recursive: true, force: true });
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      runs: { type: "string", default: "7" },
      scenario: { type: "string", default: defaultScenarios.join(",") },
    },
  });
  const names = values.scenario.split(",");
  const unknown = names.find((name) => scenarios[name] === undefined);
  if (unknown !== undefined || !(Number(values.runs) >= 1)) {
    const problem = unknown === undefined ? `--runs ${values.runs}` : `--scenario ${unknown}`;
    console.error(`bench: ${problem} is not known. Scenarios: ${Object.keys(scenarios).join(", ")}`);
    process.exit(2);
  }
  const wanted = new Set(names);
  // CPU per turn is counted above S1.
  if (names.some((name) => scenarios[name].turns ?? scenarios[name].agents)) wanted.add("S1");
  return { runs: Number(values.runs), names: Object.keys(scenarios).filter((name) => wanted.has(name)) };
}

function prepareFolders() {
  for (const folder of [work, ...peers.map(({ name }) => join(scratch, `home-${name}`))]) mkdirSync(folder);
  for (let i = 0; i < 512; i++) writeFileSync(join(work, `small-${i}.txt`), `small file ${i}\n`);
}

async function startModel() {
  const script = join(here, "mock-model", "server.mjs");
  const child = spawn(process.execPath, [script, "--workdir", work], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await new Promise((resolve, reject) => {
    child.stdout.once("data", (text) => resolve(String(text).trim()));
    child.once("exit", () => reject(new Error("the mock model did not start")));
  });
  const call = async (path, body) => {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return (await fetch(url + path, init)).json();
  };
  return { url, call, stop: () => child.kill() };
}

/** Peers take turns, so that whatever else the machine does falls on both alike. The first round warms up. */
async function runAll() {
  for (let round = 0; round <= options.runs; round++) {
    for (const name of options.names) {
      // What counts tokens comes to the same every time.
      if (scenarios[name].once && round !== 1) continue;
      for (const peer of peers) {
        showProgress(`round ${round} of ${options.runs}: ${name} ${peer.name}`);
        await runOnce(name, peer, round > 0);
      }
    }
  }
  showProgress("");
}

function showProgress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

async function runOnce(name, peer, counts) {
  const reason = peer.skips?.[name];
  if (reason !== undefined) return skipped.add(`${name}: skipped for ${peer.name}: ${reason}`);
  const scenario = scenarios[name];
  if (scenario.alone && peer !== cadre) return undefined;
  const result = await runScenario(name, peer);
  if (!result.ok) fail(name, peer, result);
  if (!counts) return undefined;
  runs[name] ??= {};
  runs[name][peer.name] ??= [];
  const { stdout, stderr, startedAt, ...numbers } = result;
  return runs[name][peer.name].push(numbers);
}

function runScenario(name, peer) {
  const scenario = scenarios[name];
  if (scenario.alone) return runAlone(scenario, peer);
  return scenario.inProcess ? runInProcess(scenario, peer) : runProgram(name, peer);
}

async function runProgram(name, peer) {
  const scenario = scenarios[name];
  await model.call("/__reset", {});
  await model.call("/__config", { latencyMs: scenario.latencyMs ?? 0 });
  const { args, env } =
    scenario.prompt === undefined
      ? peer.startCommand()
      : peer.command({ prompt: scenario.prompt, baseURL: model.url });
  const result = await execute(peer, scenario, args, env);
  if (scenario.prompt === undefined) return { ...result, ok: result.code === 0 };
  const seen = analyse(await model.call("/__stats"), scenario, result.startedAt);
  return { ...result, ...seen, ok: seen.ok && result.code === 0 };
}

async function runInProcess(scenario, peer) {
  const script = join(here, "lib-runner.mjs");
  const parse = async (mode) => {
    const args = ["--expose-gc", script, peer.name, mode, String(scenario.inProcess)];
    const result = await execute(peer, scenario, args, { BENCH_WORK: work });
    return { ...result, ...(result.code === 0 && JSON.parse(result.stdout)) };
  };
  const [time, memory] = [await parse("time"), await parse("memory")];
  const { liveHeapKBPerAgent, liveRssKBPerAgent } = memory;
  return { ...time, liveHeapKBPerAgent, liveRssKBPerAgent, ok: Boolean(time.ok && memory.ok) };
}

async function runAlone(scenario, peer) {
  const [script, ...args] = scenario.alone;
  const result = await execute(peer, scenario, [join(here, script), ...args], {});
  return { ...result, ...(result.code === 0 && JSON.parse(result.stdout)) };
}

function execute(peer, { timeoutS }, args, env) {
  const base = { PATH: process.env.PATH, HOME: join(scratch, `home-${peer.name}`), TERM: "dumb" };
  return measure({ args, env: { ...base, ...env }, cwd: work, scratch, timeoutS });
}

function fail(name, peer, { code, timedOut, stdout, stderr }) {
  const how = timedOut ? "ran into its time limit" : `ended with exit code ${code}`;
  throw new BrokenRun(
    `bench: ${name}: ${peer.name} ${how} or did not follow the script.\n${stdout}${stderr}`,
  );
}

function report() {
  const results = Object.fromEntries(
    Object.entries(runs).map(([name, byPeer]) => [
      name,
      Object.fromEntries(Object.entries(byPeer).map(([peer, list]) => [peer, summarise(list)])),
    ]),
  );
  addCpuPerUnit(results);
  console.log(table(results));
  for (const line of skipped) console.log(`\n${line}`);
  const load = median(
    Object.values(runs).flatMap((byPeer) =>
      Object.values(byPeer)
        .flat()
        .map((run) => run.othersCores),
    ),
  );
  console.log(
    `\nNode ${process.versions.node}, ${options.runs} runs of each, in turns; the best run counts (the worst for the prompt cache).\n` +
      "CPU: user and system time as the kernel counted it. CPU per turn: above S1, divided by the turns.\n" +
      `Others, the mock model among them, kept ${load.toFixed(1)} cores busy meanwhile.`,
  );
  mkdirSync(join(here, "results"), { recursive: true });
  const file = join(here, "results", "latest.json");
  writeFileSync(file, `${JSON.stringify({ node: process.versions.node, results, runs }, null, 2)}\n`);
}
