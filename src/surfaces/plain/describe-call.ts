import type { ToolResultBlock } from "../../contracts/message.ts";

/** The field of a tool's input that tells people most, by the order of telling. */
const tellingFields = [
  "command",
  "file_path",
  "notebook_path",
  "pattern",
  "url",
  "query",
  "description",
  "path",
  "prompt",
];

/** `Bash npm test`: one line, cut at `maxChars`. Not yet safe for a terminal. */
export function describeCall(
  call: { name: string; input: Readonly<Record<string, unknown>> },
  maxChars = 100,
): string {
  const subject = subjectOf(call.input);
  return cut(oneLine(subject === "" ? call.name : `${call.name} ${subject}`), maxChars);
}

function subjectOf(input: Readonly<Record<string, unknown>>): string {
  for (const field of tellingFields) {
    const value = input[field];
    if (typeof value === "string" && value !== "") return value;
  }
  return Object.keys(input).length === 0 ? "" : (JSON.stringify(input) ?? "");
}

/** `42 lines`, `1 image`, or nothing for a result that is not worth a word. */
export function describeResult(result: ToolResultBlock): string {
  const lines = textOfResult(result).replace(/\n$/, "").split("\n");
  const images =
    typeof result.content === "string" ? 0 : result.content.filter((block) => block.type !== "text").length;
  if (images > 0) return images === 1 ? "1 image or document" : `${images} images or documents`;
  if (lines.length === 1) return lines[0] === "" ? "no output" : "1 line";
  return `${lines.length} lines`;
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
  return `${text.slice(0, maxChars - 3).replace(/[\uD800-\uDBFF]$/, "")}...`;
}
