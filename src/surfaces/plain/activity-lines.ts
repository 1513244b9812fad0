/** Tool calls and the like as plain lines, in ASCII but for what stands in them. */
import type { LoopEvent } from "../../contracts/event.ts";
import { cut, describeCall, describeResult, oneLine, subjectOf, textOfResult } from "./describe-call.ts";

type CallEnd = LoopEvent & { type: "call-end" };

/** Calls that may take long say when they begin; others only when they ended. */
const slowTools = new Set(["Bash", "WebFetch", "WebSearch", "Agent", "Task"]);
/** Calls that come in swarms: the first is shown at once, those that follow it in a turn share a line. */
const swarmingTools = new Set(["Read", "Glob", "Grep"]);

export function createActivityLines(maxChars = 79): (event: LoopEvent) => string[] {
  const denied = new Set<string>();
  let leader: string | undefined;
  let swarm: CallEnd[] = [];
  const linesOfSwarm = () => {
    const calls = swarm;
    swarm = [];
    leader = undefined;
    return calls.length === 0 ? [] : [lineOf(calls, maxChars)];
  };
  return (event) => {
    if (event.type === "call-end" && mayJoin(event) && !denied.has(event.call.id)) {
      if (leader === event.call.name) {
        swarm.push(event);
        return [];
      }
      const lines = [...linesOfSwarm(), endLine(event, maxChars)];
      leader = event.call.name;
      return lines;
    }
    const lines = linesAt(event, denied, maxChars);
    return lines.length > 0 || event.type === "turn-end" ? [...linesOfSwarm(), ...lines] : lines;
  };
}

function mayJoin({ call, result, durationMs }: CallEnd): boolean {
  return swarmingTools.has(call.name) && result.is_error !== true && durationMs < 1000;
}

/** `* Read a.ts (3 lines)`, or for several `* Read a.ts, b.ts and 3 more`, as many names as fit. */
function lineOf(calls: readonly CallEnd[], maxChars: number): string {
  const [first, ...others] = calls;
  if (first === undefined) return "";
  if (others.length === 0) return endLine(first, maxChars);
  const subjects = calls.map(({ call }) => oneLine(subjectOf(call.input)));
  const mostChars = maxChars - " and 9,999 more".length;
  let line = cut(`* ${first.call.name} ${subjects[0]}`, mostChars);
  let shown = 1;
  for (const subject of subjects.slice(1)) {
    if (line.length + subject.length + 2 > mostChars) break;
    line += `, ${subject}`;
    shown += 1;
  }
  const more = calls.length - shown;
  return more === 0 ? line : `${line} and ${more.toLocaleString("en-US")} more`;
}

function endLine({ call, result, durationMs }: CallEnd, maxChars: number): string {
  const told = `(${describeResult(call.name, result)}${duration(durationMs)})`;
  return `* ${describeCall(call, maxChars - told.length - 3)} ${told}`;
}

function linesAt(event: LoopEvent, denied: Set<string>, maxChars: number): string[] {
  switch (event.type) {
    case "call-start":
      return slowTools.has(event.call.name) ? [`* ${describeCall(event.call, maxChars - 6)} ...`] : [];
    case "call-denied":
      denied.add(event.call.id);
      return [`! ${describeCall(event.call, maxChars - 10)}: denied`, `  ${oneLine(event.reason)}`];
    case "call-end": {
      if (denied.delete(event.call.id)) return [];
      if (event.result.is_error !== true) return [endLine(event, maxChars)];
      const call = describeCall(event.call, maxChars - 15);
      const text = oneLine(textOfResult(event.result));
      // The person did it and knows: one line is enough.
      if (/^(?:The user interrupted|Not run: the user interrupted)/.test(text))
        return [`! ${call}: interrupted`];
      return [`! ${call}: failed`, `  ${cut(text, maxChars * 3)}`];
    }
    case "model-retry":
      return [
        `(${event.reason.replace(/\.$/, "")}; asking again in ${(event.delayMs / 1000).toFixed(1)} s, attempt ${event.attempt})`,
      ];
    case "response-discard":
      return [`(what was said last does not count: ${event.reason})`];
    case "compaction-start":
      return ["(the conversation is long: summarising it)"];
    default:
      return [];
  }
}

function duration(durationMs: number): string {
  return durationMs < 1000 ? "" : `, ${(durationMs / 1000).toFixed(1)} s`;
}
