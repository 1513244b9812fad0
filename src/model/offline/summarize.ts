/** What a model without understanding can say of a conversation that is to be shortened: what was asked, and what was touched. */
import type { Message, ToolUseBlock } from "../../contracts/message.ts";
import { textOf, toolUsesOf } from "../../contracts/message-content.ts";
import { ownWordsOf } from "./conversation.ts";
import { unsigned } from "./everyday-playbook.ts";
import type { Step } from "./playbook.ts";
import { readReminders, readSummaries } from "./runtime-words.ts";

/** Undefined: nobody has asked for a summary. */
export function summarizeIfAsked(messages: readonly Message[]): Step | undefined {
  const last = messages.at(-1);
  if (last?.role !== "user") return undefined;
  const asked = readReminders(textOf(last.content)).some((text) => text.startsWith(request));
  return asked ? { text: summaryOf(messages.slice(0, -1)) } : undefined;
}

const request = "This is a request of the runtime (service: compaction).";

/** Of an earlier summary the same sections are read again, so that nothing is summarised twice. */
function summaryOf(messages: readonly Message[]): string {
  const earlier = messages.flatMap((message) => (message.role === "user" ? earlierLines(message) : []));
  const calls = messages.flatMap(({ content }) => toolUsesOf(content));
  const before = (title: string) => earlier.filter((line) => line.title === title).map(({ text }) => text);
  const section = (title: string, lines: readonly string[], most: number) => {
    const all = [...new Set([...before(title), ...lines])];
    return all.length === 0 ? [] : [`## ${title}\n${all.slice(-most).join("\n")}`];
  };
  const answer = lastAnswer(messages);
  const sections = [
    ...section("Goal and instructions", messages.flatMap(requestLines), 100),
    ...section("Files", calls.flatMap(fileLine), 60),
    ...section("Commands", calls.flatMap(commandLine), 30),
    ...(answer === "" ? section("Last answer", [], 20) : [`## Last answer\n${answer}`]),
  ];
  return sections.length === 0 ? "Nothing was asked so far." : sections.join("\n\n");
}

interface Line {
  readonly title: string;
  readonly text: string;
}

function earlierLines({ content }: Message): Line[] {
  return readSummaries(textOf(content)).flatMap((summary) =>
    summary.split(/^## /m).flatMap((part) => {
      const [title = "", ...lines] = part.split("\n");
      return lines.filter((line) => line.trim() !== "").map((text) => ({ title: title.trim(), text }));
    }),
  );
}

const longestRequest = 500;

function requestLines(message: Message): string[] {
  return ownWordsOf(message).map((words) => `- ${inOneLine(words, longestRequest)}`);
}

const verbs: Readonly<Record<string, string>> = { Read: "read", Edit: "changed", Write: "written" };

function fileLine({ name, input }: ToolUseBlock): string[] {
  const verb = verbs[name];
  return verb !== undefined && typeof input.file_path === "string" ? [`- ${input.file_path} (${verb})`] : [];
}

function commandLine({ name, input }: ToolUseBlock): string[] {
  return name === "Bash" && typeof input.command === "string" ? [`- ${inOneLine(input.command, 200)}`] : [];
}

const longestAnswer = 1_500;

function lastAnswer(messages: readonly Message[]): string {
  for (const { role, content } of messages.toReversed()) {
    const text = role === "assistant" ? unsigned(textOf(content)).trim() : "";
    // A heading in it would be taken for one of the summary.
    if (text !== "") return text.slice(0, longestAnswer).replace(/^#/gm, " #");
  }
  return "";
}

function inOneLine(text: string, maxChars: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxChars ? `${line.slice(0, maxChars)}...` : line;
}
