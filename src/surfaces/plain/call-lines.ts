/** The tool calls of one agent, and what else a person should know of its run, as lines. */
import { groupDigits } from "../../base/group-digits.ts";
import type { LoopEvent } from "../../contracts/event.ts";
import { subjectOf } from "../../contracts/subject-of-call.ts";
import { cut, describeCall, describeResult, oneLine, textOfResult } from "./describe-call.ts";

export type CallLines = (event: LoopEvent) => string[];

type CallEnd = LoopEvent & { type: "call-end" };

/** Calls that may take long say when they begin; others only when they ended. Agents say so themselves. */
const slowTools = new Set(["Bash", "WebFetch", "WebSearch"]);
/** Calls that come in swarms: the first is shown at once, those that follow it in a turn share a line. */
const swarmingTools = new Set(["Read", "Glob", "Grep"]);

/** `who`: the agent that every line names; absent for the main one. */
export function createCallLines(options: { maxChars: number; who?: string }): CallLines {
  const layout = layoutFor(options);
  const denied = new Set<string>();
  let leader: string | undefined;
  let swarm: CallEnd[] = [];
  const linesOfSwarm = () => {
    const calls = swarm;
    swarm = [];
    leader = undefined;
    return calls.length === 0 ? [] : [lineOf(calls, layout)];
  };
  return (event) => {
    if (event.type === "call-end" && mayJoin(event) && !denied.has(event.call.id)) {
      if (leader === event.call.name) {
        swarm.push(event);
        return [];
      }
      const lines = [...linesOfSwarm(), endLine(event, layout)];
      leader = event.call.name;
      return lines;
    }
    const lines = linesAt(event, denied, layout);
    return lines.length > 0 || event.type === "turn-end" ? [...linesOfSwarm(), ...lines] : lines;
  };
}

/** How a line begins, and how many characters it may have after that. */
interface Layout {
  readonly call: string;
  readonly problem: string;
  readonly detail: string;
  readonly remark: string;
  readonly room: number;
}

function layoutFor({ maxChars, who }: { maxChars: number; who?: string }): Layout {
  if (who === undefined)
    return { call: "* ", problem: "! ", detail: "  ", remark: "", room: maxChars - "* ".length };
  const call = `  ${who}: `;
  const problem = `  ! ${who}: `;
  return { call, problem, detail: "    ", remark: call, room: maxChars - problem.length };
}

function mayJoin({ call, result, durationMs }: CallEnd): boolean {
  return swarmingTools.has(call.name) && result.is_error !== true && durationMs < 1000;
}

/** `* Read a.ts (3 lines)`, or for several `* Read a.ts, b.ts and 3 more`, as many names as fit. */
function lineOf(calls: readonly CallEnd[], layout: Layout): string {
  const [first, ...others] = calls;
  if (first === undefined) return "";
  if (others.length === 0) return endLine(first, layout);
  const subjects = calls.map(({ call }) => oneLine(subjectOf(call.input)));
  const mostChars = layout.room - " and 9,999 more".length;
  let line = cut(`${first.call.name} ${subjects[0]}`, mostChars);
  let shown = 1;
  for (const subject of subjects.slice(1)) {
    if (line.length + subject.length + 2 > mostChars) break;
    line += `, ${subject}`;
    shown += 1;
  }
  const more = calls.length - shown;
  return layout.call + (more === 0 ? line : `${line} and ${groupDigits(more)} more`);
}

function endLine({ call, result, output, durationMs }: CallEnd, layout: Layout): string {
  const told = `(${describeResult(call.name, result, output)}${duration(durationMs)})`;
  return `${layout.call}${describeCall(call, layout.room - told.length - 1)} ${told}`;
}

function linesAt(event: LoopEvent, denied: Set<string>, layout: Layout): string[] {
  const { call, problem, detail, remark, room } = layout;
  switch (event.type) {
    case "call-start":
      if (!slowTools.has(event.call.name)) return [];
      return [call + cut(`${describeCall(event.call, Number.POSITIVE_INFINITY)} ...`, room)];
    case "call-denied":
      denied.add(event.call.id);
      return [`${problem}${describeCall(event.call, room - 8)}: denied`, `${detail}${oneLine(event.reason)}`];
    case "call-end": {
      if (denied.delete(event.call.id)) return [];
      if (event.result.is_error !== true) return [endLine(event, layout)];
      const failed = `${problem}${describeCall(event.call, room - 13)}`;
      const reason = reasonOfFailure(event, room);
      // The person did it and knows: one line is enough.
      return reason === undefined ? [`${failed}: interrupted`] : [`${failed}: failed`, `${detail}${reason}`];
    }
    case "model-retry":
      return [
        `${remark}(${event.reason.replace(/\.$/, "")}; asking again in ${(event.delayMs / 1000).toFixed(1)} s, attempt ${event.attempt})`,
      ];
    case "response-discard":
      return [`${remark}(what was said last does not count: ${event.reason})`];
    case "compaction-start":
      return [`${remark}(${event.trigger === "manual" ? "" : "the conversation is long: "}summarising it)`];
    case "compaction-end":
      // Whoever asked for it is answered.
      if (event.trigger === "manual") return [];
      if (event.problem !== undefined)
        return [`${remark}(it stays as it was: ${cut(oneLine(event.problem), room)})`];
      return [`${remark}(from here on the model has a summary; ${lengthBefore(event)})`];
    default:
      return [];
  }
}

function lengthBefore({ promptTokensBefore }: { promptTokensBefore: number }): string {
  return promptTokensBefore > 0
    ? `before, it had ${groupDigits(promptTokensBefore)} tokens`
    : "the transcript has everything";
}

/** Undefined when the person interrupted it. */
export function reasonOfFailure({ result }: CallEnd, maxChars: number): string | undefined {
  const text = oneLine(textOfResult(result));
  if (/^(?:The user interrupted|Not run: the user interrupted)/.test(text)) return undefined;
  return cut(text, maxChars * 3);
}

function duration(durationMs: number): string {
  return durationMs < 1000 ? "" : `, ${(durationMs / 1000).toFixed(1)} s`;
}
