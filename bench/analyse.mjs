// What the server saw of a run: gaps between turns, width of a fan-out, use of the prompt cache.

export function analyse({ log, counters }, { turns, agents }, startedAt) {
  const requests = log.filter((entry) => !entry.aux);
  const main = requests.filter((entry) => entry.id === "main").sort((a, b) => a.t - b.t);
  const first = main[0];
  const total = (key) => requests.reduce((sum, entry) => sum + entry[key], 0);
  return {
    ok: wasDone({ main, requests, counters, turns, agents }),
    toFirstRequestMs: first && first.t - startedAt,
    firstRequestKB: first && first.bytes / 1024,
    tools: first?.tools,
    prefixBreaks: requests.filter((entry) => entry.kept === false).length,
    hitRatio: total("read") / Math.max(1, total("tokens")),
    ...(turns && gapsOf(main)),
    ...(agents && fanOf(main, requests, counters)),
  };
}

function wasDone({ main, requests, counters, turns, agents }) {
  if (counters.failed > 0) return false;
  if (agents) return requests.length - main.length >= agents * 4;
  return main.length === (turns ?? 0) + 1;
}

/** A gap lasts from the last byte of a response to the next request: all that the runtime does in between. */
function gapsOf(main) {
  const gaps = main.slice(1).map((entry, i) => entry.t - main[i].end);
  const quarter = Math.max(1, Math.floor(gaps.length / 4));
  return {
    gapMs: median(gaps),
    gapFirstQuarterMs: median(gaps.slice(0, quarter)),
    gapLastQuarterMs: median(gaps.slice(-quarter)),
  };
}

/** From the message that asks for the sub-agents to the main agent's first request after the last has ended. */
function fanOf(main, requests, counters) {
  const children = requests.filter((entry) => entry.id !== "main");
  const lastEnd = Math.max(...children.map((entry) => entry.end ?? 0));
  const back = main.find((entry) => entry.t >= lastEnd);
  return { fanMs: back && back.t - main[0].end, mostChildren: counters.mostChildren };
}

export function median(numbers) {
  const sorted = numbers.filter((number) => number !== undefined).sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)];
}
