// What is run, and what of it has a target. `turns` and `agents` say by what CPU time is divided.

export const scenarios = {
  start: { what: "`cadre --version` against `node -e 0`", timeoutS: 30 },
  S1: { what: "one prompt, one answer", prompt: "[[script:hello]]", timeoutS: 60 },
  S2: { what: "50 turns of one cheap tool", prompt: "[[script:loop n=50]]", turns: 50, timeoutS: 120 },
  S3a: { what: "10 sub-agents at once, 200 ms model", ...fanOut(10), timeoutS: 120 },
  S3b: { what: "50 sub-agents at once, 200 ms model", ...fanOut(50), timeoutS: 180 },
  S4: { what: "300 turns of one cheap tool", prompt: "[[script:loop n=300]]", turns: 300, timeoutS: 300 },
  S5a: { what: "1,000 sub-agents in one process", inProcess: 1000, timeoutS: 120 },
  S5b: { what: "10,000 sub-agents in one process", inProcess: 10_000, timeoutS: 300 },
  S6: {
    what: "10,000 messages between 20 sub-agents",
    // The floor has no messages: cadre runs alone.
    alone: ["messages.mjs", "20", "10000"],
    timeoutS: 120,
  },
  S7: {
    what: "forks of a history of 100,000 tokens",
    alone: ["forks.mjs", "100000"],
    once: true,
    timeoutS: 120,
  },
};

export const defaultScenarios = ["start", "S1", "S2", "S3b", "S4", "S5b", "S6", "S7"];

function fanOut(agents) {
  return { prompt: `[[script:fanout n=${agents} k=3]]`, agents, latencyMs: 200 };
}

/** A ratio is cadre's number over the floor's; the others are cadre's own. */
export const targets = [
  { scenario: "start", name: "CPU", key: "cpuMs", unit: "ms", ratioAtMost: 1.5 },
  { scenario: "S1", name: "CPU", key: "cpuMs", unit: "ms", ratioAtMost: 1.5 },
  { scenario: "S2", name: "CPU per turn", key: "cpuPerUnitMs", unit: "ms", ratioAtMost: 1.6 },
  { scenario: "S3b", name: "all sub-agents (ideal: 800 ms)", key: "fanMs", unit: "ms", ratioAtMost: 1.15 },
  { scenario: "S3b", name: "CPU per sub-agent", key: "cpuPerUnitMs", unit: "ms", ratioAtMost: 2 },
  { scenario: "S3b", name: "sub-agents at once", key: "mostChildren", unit: "", atLeast: 50 },
  { scenario: "S4", name: "CPU per turn", key: "cpuPerUnitMs", unit: "ms", ratioAtMost: 1.5 },
  { scenario: "S4", name: "gap, last quarter over first", key: "growth", unit: "x", atMost: 1.2 },
  { scenario: "S4", name: "prompt prefixes broken", key: "prefixBreaks", unit: "", atMost: 0 },
  { scenario: "S4", name: "share of input read from the cache", key: "hitRatio", unit: "", atLeast: 0.99 },
  { scenario: "S5b", name: "CPU", key: "cpuMs", unit: "ms", ratioAtMost: 4 },
  { scenario: "S5b", name: "live heap per sub-agent", key: "liveHeapKBPerAgent", unit: "KB", ratioAtMost: 3 },
  {
    scenario: "S7",
    name: "1 fork: share of input read from the cache",
    key: "forkShare1",
    unit: "",
    atLeast: 0.97,
  },
  { scenario: "S7", name: "5 forks: the same", key: "forkShare5", unit: "", atLeast: 0.97 },
  { scenario: "S7", name: "20 forks: the same", key: "forkShare20", unit: "", atLeast: 0.97 },
  {
    scenario: "S7",
    name: "their parent's next turn: the same",
    key: "parentShare20",
    unit: "",
    atLeast: 0.97,
  },
];

/** Shown as well, without a target. */
export const observations = [
  { scenario: "S1", name: "wall time", key: "wallMs", unit: "ms" },
  { scenario: "S1", name: "peak memory", key: "peakRssMB", unit: "MB" },
  { scenario: "S1", name: "to the first request", key: "toFirstRequestMs", unit: "ms" },
  { scenario: "S1", name: "first request", key: "firstRequestKB", unit: "KB" },
  { scenario: "S2", name: "gap between turns, median", key: "gapMs", unit: "ms" },
  { scenario: "S3a", name: "all sub-agents (ideal: 800 ms)", key: "fanMs", unit: "ms" },
  { scenario: "S3a", name: "CPU per sub-agent", key: "cpuPerUnitMs", unit: "ms" },
  { scenario: "S4", name: "gap between turns, median", key: "gapMs", unit: "ms" },
  { scenario: "S4", name: "peak memory", key: "peakRssMB", unit: "MB" },
  { scenario: "S5a", name: "CPU", key: "cpuMs", unit: "ms" },
  { scenario: "S5a", name: "live heap per sub-agent", key: "liveHeapKBPerAgent", unit: "KB" },
  { scenario: "S6", name: "sending a message (it is on disk), p99", key: "sendP99Ms", unit: "ms" },
  { scenario: "S6", name: "delivery at the next boundary, median", key: "deliveryP50Ms", unit: "ms" },
  { scenario: "S6", name: "delivery at the next boundary, p99", key: "deliveryP99Ms", unit: "ms" },
  { scenario: "S6", name: "messages a second", key: "messagesPerS", unit: "" },
  { scenario: "S6", name: "CPU per message", key: "cpuPerMessageMs", unit: "ms" },
  { scenario: "S7", name: "20 forks, their first turns only: the same", key: "firstTurnShare20", unit: "" },
  { scenario: "S7", name: "parent's next turn after 1 fork: the same", key: "parentShare1", unit: "" },
  { scenario: "S7", name: "parent's next turn after 5 forks: the same", key: "parentShare5", unit: "" },
  { scenario: "S7", name: "20 forks: input", key: "forksUsd", unit: "USD" },
  { scenario: "S7", name: "20 fresh agents given the same history: input", key: "freshUsd", unit: "USD" },
  { scenario: "S7", name: "fresh agents over forks: cost of input", key: "savedByForks", unit: "x" },
  {
    scenario: "S7",
    name: "20 plain agents over staggered ones: cost of input",
    key: "savedByStagger",
    unit: "x",
  },
];
