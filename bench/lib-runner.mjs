// Runs a peer that is a library: peers/NAME/lib.mjs with build({ baseURL, fetch? }) -> run(prompt) -> text.
//   node lib-runner.mjs NAME run "PROMPT"           one session over loopback, BASE_URL in the environment
//   node --expose-gc lib-runner.mjs NAME time N     N sub-agents in this process, with the model inside
//   node --expose-gc lib-runner.mjs NAME memory N   the same, all held alive at once

const [name, mode, argument] = process.argv.slice(2);
const { build } = await import(`./peers/${name}/lib.mjs`);

if (mode === "run") {
  console.log(await build({ baseURL: process.env.BASE_URL })(argument));
  process.exit(0);
}

const { createModel } = await import("./mock-model/model.mjs");
const { createFetch } = await import("./mock-model/server.mjs");
const count = Number(argument);
const fanOut = (n) => `[[script:fanout n=${n} k=1]]`;
const model = createModel({ light: true, workdir: process.env.BENCH_WORK });
const gate = createGate();
const run = build({ baseURL: "http://127.0.0.1:1", fetch: createFetch(model, gate.hold) });

await run(fanOut(20));
globalThis.gc();
model.reset();
gate.close();
const before = process.memoryUsage();
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
const text = await run(fanOut(count));
const ms = performance.now() - startedAt;
const cpu = process.cpuUsage(cpuBefore);
const { failed, requests } = model.counters();
const held = gate.measured();
const perAgentKB = (bytes) => +(bytes / 1024 / count).toFixed(1);
console.log(
  JSON.stringify({
    ok: text.includes("Done") && failed === 0 && requests === 2 * count + 2,
    ms: Math.round(ms),
    cpuMs: Math.round((cpu.user + cpu.system) / 1000),
    ...(held && {
      liveHeapKBPerAgent: perAgentKB(held.heapUsed - before.heapUsed),
      liveRssKBPerAgent: perAgentKB(held.rss - before.rss),
    }),
  }),
);
process.exit(0);

/** With `memory`, the last request of every sub-agent waits until all have come; then memory is read. */
function createGate() {
  let closed = false;
  let waiting = 0;
  let atFull;
  let release;
  const full = new Promise((resolve) => {
    release = resolve;
  });
  const measure = () => {
    globalThis.gc();
    globalThis.gc();
    atFull = process.memoryUsage();
    release();
  };
  return {
    close() {
      closed = mode === "memory";
    },
    hold(answer) {
      if (!closed || !answer.isChild || answer.plan.step < 1) return undefined;
      if (++waiting === count) setImmediate(measure);
      return full;
    },
    measured: () => atFull,
  };
}
