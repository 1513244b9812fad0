// Turns the runs into the table that is printed.
import { observations, scenarios, targets } from "./scenarios.mjs";

// The worst run counts where a single failure would be one too many; else the best, which others disturb least.
const worst = { prefixBreaks: Math.max, hitRatio: Math.min, forksUsd: Math.max };
const more = { messagesPerS: Math.max };

/** One number for each key, from all runs of a peer in a scenario. */
export function summarise(runs) {
  const keys = [...new Set(runs.flatMap(Object.keys))].filter((key) => typeof runs[0][key] === "number");
  const best = (key) => (worst[key] ?? more[key] ?? Math.min)(...runs.map((run) => run[key]));
  const summary = Object.fromEntries(keys.map((key) => [key, best(key)]));
  if (summary.gapFirstQuarterMs !== undefined) {
    summary.growth = summary.gapLastQuarterMs / summary.gapFirstQuarterMs;
  }
  return summary;
}

/** CPU per turn or sub-agent: what the scenario costs above a single answer. */
export function addCpuPerUnit(results) {
  for (const [name, { turns, agents }] of Object.entries(scenarios)) {
    for (const [peer, summary] of Object.entries(results[name] ?? {})) {
      const base = results.S1?.[peer];
      const units = turns ?? agents;
      if (units && base) summary.cpuPerUnitMs = (summary.cpuMs - base.cpuMs) / units;
    }
  }
}

export function table(results) {
  const rows = [
    ...targets.flatMap((target) => rowOf(results, target)),
    ...observations.flatMap((observation) => rowOf(results, observation)),
  ];
  return [
    "| scenario | | floor | cadre | ratio | target | |",
    "|---|---|---:|---:|---:|---:|---|",
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
  ].join("\n");
}

function rowOf(results, row) {
  const { floor, cadre } = results[row.scenario] ?? {};
  const [base, own] = [floor?.[row.key], cadre?.[row.key]];
  if (base === undefined && own === undefined) return [];
  const ratio = base > 0 && own !== undefined ? own / base : undefined;
  const verdict = verdictOf(row, { own, ratio });
  const show = (value) => (value === undefined ? "" : `${round(value)} ${row.unit}`.trim());
  return [
    [
      row.scenario,
      row.name,
      show(base),
      show(own),
      ratio === undefined ? "" : round(ratio),
      limitOf(row),
      verdict,
    ],
  ];
}

function limitOf({ ratioAtMost, atMost, atLeast }) {
  if (ratioAtMost !== undefined) return `ratio <= ${ratioAtMost}`;
  if (atMost !== undefined) return `<= ${atMost}`;
  return atLeast === undefined ? "" : `>= ${atLeast}`;
}

function verdictOf({ ratioAtMost, atMost, atLeast }, { own, ratio }) {
  const checks = [
    [ratioAtMost, ratio, (limit, value) => value <= limit],
    [atMost, own, (limit, value) => value <= limit],
    [atLeast, own, (limit, value) => value >= limit],
  ].filter(([limit, value]) => limit !== undefined && value !== undefined);
  if (checks.length === 0) return "";
  return checks.every(([limit, value, holds]) => holds(limit, value)) ? "met" : "MISSED";
}

function round(value) {
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(value < 1 ? 3 : value < 100 ? 2 : 0);
}
