import { counted } from "../../base/counted.ts";
import type { ToolResultBlock } from "../../contracts/message.ts";
import { subjectOf } from "../../contracts/subject-of-call.ts";

/** `Bash npm test`: one line, cut at `maxChars`. Not yet safe for a terminal. */
export function describeCall(
  call: { name: string; input: Readonly<Record<string, unknown>> },
  maxChars = 100,
): string {
  return cut(oneLine(isAgentCall(call) ? agentCallInWords(call.input) : callInWords(call)), maxChars);
}

/** `Task` is the same tool by another name. */
function isAgentCall({ name }: { name: string }): boolean {
  return name === "Agent" || name === "Task";
}

/** `Agent Explore: find the parser` */
function agentCallInWords(input: Readonly<Record<string, unknown>>): string {
  const { subagent_type: type, resume, description, prompt } = input;
  const who = [type, resume].find(isFilled);
  const about = [description, prompt].find(isFilled);
  return `Agent${who === undefined ? "" : ` ${who}`}${about === undefined ? "" : `: ${about}`}`;
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function callInWords(call: { name: string; input: Readonly<Record<string, unknown>> }): string {
  const subject = subjectOf(call.input);
  return subject === "" ? call.name : `${call.name} ${subject}`;
}

/** `42 lines`, `7 files`, `1 image or document`, or that there was nothing. */
export function describeResult(toolName: string, result: ToolResultBlock, output?: unknown): string {
  if (goesOn(output)) return "in the background";
  const others =
    typeof result.content === "string" ? 0 : result.content.filter((block) => block.type !== "text").length;
  if (others > 0) return others === 1 ? "1 image or document" : `${others} images or documents`;
  const text = textOfResult(result).replace(/\n$/, "");
  if (text === "") return "no output";
  const lines = text.split("\n");
  switch (toolName) {
    case "Glob":
      return lines[0]?.startsWith("No files match ") ? "no files" : counted(filesIn(lines), "file");
    case "Grep":
      return lines[0] === "No matches." ? "no matches" : counted(lines.length, "line");
    case "Read": {
      // Notes about what was left out are no lines of the file.
      const numbered = lines.filter((line) => /^ *\d+\t/.test(line)).length;
      return counted(numbered > 0 ? numbered : lines.length, "line");
    }
    default:
      return counted(lines.length, "line");
  }
}

/** What the call has started is not over: an agent, or a command. */
function goesOn(output: unknown): boolean {
  if (typeof output !== "object" || output === null || !("status" in output)) return false;
  return output.status === "async_launched" || output.status === "background";
}

function filesIn(lines: readonly string[]): number {
  const more = /^\(([\d,]+) more files?: /.exec(lines.at(-1) ?? "")?.[1];
  return more === undefined ? lines.length : lines.length - 1 + Number(more.replaceAll(",", ""));
}

export function textOfResult(result: ToolResultBlock): string {
  if (typeof result.content === "string") return result.content;
  return result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

export function cut(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  // Never half of a surrogate pair.
  return `${text.slice(0, Math.max(0, maxChars - 3)).replace(/[\uD800-\uDBFF]$/, "")}...`;
}
