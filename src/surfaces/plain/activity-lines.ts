/** Tool calls and the like as plain lines, in ASCII but for what stands in them. */
import type { LoopEvent } from "../../contracts/event.ts";
import { cut, describeCall, describeResult, oneLine, textOfResult } from "./describe-call.ts";

/** Calls that may take long say when they begin; others only when they ended. */
const slowTools = new Set(["Bash", "WebFetch", "WebSearch", "Agent", "Task"]);

export function createActivityLines(maxChars = 79): (event: LoopEvent) => string[] {
  const denied = new Set<string>();
  return (event) => {
    switch (event.type) {
      case "call-start":
        return slowTools.has(event.call.name) ? [`* ${describeCall(event.call, maxChars - 6)} ...`] : [];
      case "call-denied":
        denied.add(event.call.id);
        return [`! ${describeCall(event.call, maxChars - 10)}: denied`, `  ${oneLine(event.reason)}`];
      case "call-end": {
        if (denied.delete(event.call.id)) return [];
        const call = describeCall(event.call, maxChars - 24);
        if (event.result.is_error !== true)
          return [`* ${call} (${describeResult(event.result)}${duration(event.durationMs)})`];
        return [`! ${call}: failed`, `  ${cut(oneLine(textOfResult(event.result)), maxChars * 3)}`];
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
  };
}

function duration(durationMs: number): string {
  return durationMs < 1000 ? "" : `, ${(durationMs / 1000).toFixed(1)} s`;
}
