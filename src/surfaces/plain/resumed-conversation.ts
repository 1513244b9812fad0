/** What a person sees of a conversation that is gone on with: where it stood. */
import type { Message } from "../../contracts/message.ts";
import { textOf } from "../../contracts/message-content.ts";
import { promptTextOf } from "../../runtime/prompt-text.ts";

const mostPromptChars = 200;
const mostAnswerLines = 15;
const mostAnswerChars = 1500;

/** Empty for one that only begins. */
export function describeResumed(messages: readonly Message[]): string[] {
  const at = messages.findLastIndex((message) => promptTextOf(message) !== undefined);
  const prompt = messages[at];
  if (prompt === undefined) return [];
  const asked = (promptTextOf(prompt) ?? "").replaceAll(/\s+/g, " ");
  return [
    `(this conversation has ${messages.length} ${messages.length === 1 ? "message" : "messages"}; it ended with)`,
    `> ${asked.length > mostPromptChars ? `${asked.slice(0, mostPromptChars)} ...` : asked}`,
    ...answerTo(messages.slice(at + 1)),
  ];
}

/** The end of an answer says more than its beginning. */
function answerTo(messages: readonly Message[]): string[] {
  const answers = messages
    .filter(({ role }) => role === "assistant")
    .map(({ content }) => textOf(content).trim());
  const answer = answers.findLast((text) => text !== "");
  if (answer === undefined) return ["(no answer yet)"];
  const lines = answer.slice(-mostAnswerChars).split("\n");
  const shown = lines.slice(-mostAnswerLines);
  return shown.length < lines.length || answer.length > mostAnswerChars ? ["...", ...shown] : shown;
}
