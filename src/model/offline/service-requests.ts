/** What a model without understanding can say to the runtime's own services: what was asked and done, or that it has nothing. */
import type { Message, ToolUseBlock } from "../../contracts/message.ts";
import { textOf, toolUsesOf } from "../../contracts/message-content.ts";
import { ownWordsOf } from "./conversation.ts";
import { signature } from "./everyday-playbook.ts";
import type { Step } from "./playbook.ts";
import { readReminders } from "./runtime-words.ts";

const request = /^This is a request of the runtime \(service: (\w+)\)\./;

/** Undefined: no service asks. */
export function answerService(messages: readonly Message[]): Step | undefined {
  const last = messages.at(-1);
  if (last?.role !== "user") return undefined;
  const reminder = readReminders(textOf(last.content)).find((text) => request.test(text));
  const name = request.exec(reminder ?? "")?.[1];
  if (name === undefined) return undefined;
  const before = messages.slice(0, -1);
  return { text: (Object.hasOwn(answers, name) ? answers[name]?.(before) : undefined) ?? "NONE" };
}

const answers: Readonly<Record<string, (messages: readonly Message[]) => string | undefined>> = {
  sessionMemory: notesOf,
  extractMemories: standingWishes,
  agentSummary: latestCall,
  suggest: checkAfterChange,
  sideQuestion: (messages) =>
    [
      "The offline model follows rules and cannot answer from a conversation.",
      ...asked(messages)
        .slice(-1)
        .map((words) => `The last request was: ${shortened(words, 200)}`),
      signature,
    ].join("\n\n"),
};

function asked(messages: readonly Message[]): string[] {
  return messages.flatMap(ownWordsOf);
}

function notesOf(messages: readonly Message[]): string | undefined {
  const requests = asked(messages);
  const [first] = requests;
  if (first === undefined) return undefined;
  const files = messages.flatMap(({ content }) => toolUsesOf(content)).flatMap(pathOf);
  return [
    shortened(first, 60),
    `Asked for:\n${requests.map((words) => `- ${shortened(words, 200)}`).join("\n")}`,
    ...(files.length === 0 ? [] : [`Files:\n${[...new Set(files)].map((path) => `- ${path}`).join("\n")}`]),
  ].join("\n\n");
}

const wish = /\b(always|never|prefer|from now on|remember (that|to))\b/i;

function standingWishes(messages: readonly Message[]): string | undefined {
  const sentences = asked(messages).flatMap((words) => words.split(/(?<=[.!?])\s+|\n+/));
  const wishes = sentences.filter((sentence) => wish.test(sentence) && !sentence.includes("?"));
  return wishes.length === 0 ? undefined : wishes.map((words) => `USER HERE: ${words}`).join("\n");
}

/** What was just changed and not yet tried. */
function checkAfterChange(messages: readonly Message[]): string | undefined {
  const asked = messages.findLastIndex((message) => ownWordsOf(message).length > 0);
  const calls = messages.slice(asked + 1).flatMap(({ content }) => toolUsesOf(content));
  return calls.some(({ name }) => name === "Edit" || name === "Write") ? "run the tests" : undefined;
}

function latestCall(messages: readonly Message[]): string | undefined {
  const call = messages.flatMap(({ content }) => toolUsesOf(content)).at(-1);
  if (call === undefined) return undefined;
  const [path] = pathOf(call);
  return path === undefined ? `calls ${call.name}` : `calls ${call.name} on ${path}`;
}

function pathOf({ input }: ToolUseBlock): string[] {
  return typeof input.file_path === "string" ? [input.file_path] : [];
}

function shortened(text: string, maxChars: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxChars ? `${line.slice(0, maxChars)}...` : line;
}
