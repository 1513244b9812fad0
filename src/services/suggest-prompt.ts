/** Prompt suggestion: one line of what the user may want next, offered while they think. */
import { toOneLine } from "../base/one-line.ts";
import type { Message } from "../contracts/message.ts";
import { createProgressMark } from "./progress-mark.ts";
import type { IdleService } from "./service-host.ts";
import { isNone, servicePrompt, whatIsData } from "./service-prompt.ts";

const longestSuggestion = 120;

export function createSuggestPrompt(options: {
  messages: () => readonly Message[];
  seen: readonly Message[];
  onSuggestion: (text: string) => void;
}): IdleService {
  const { messages, onSuggestion } = options;
  const mark = createProgressMark(options.seen);
  return {
    name: "suggest",
    idleMs: 0,
    isDue: () => mark.unseen(messages()).at(-1)?.role === "assistant",
    async run({ ask }) {
      mark.set(messages());
      const answer = await ask({ prompt: suggestionPrompt, maxOutputTokens: 100 });
      const suggestion = answer === undefined ? undefined : suggestionIn(answer);
      if (suggestion !== undefined) onSuggestion(suggestion);
    },
  };
}

const suggestionPrompt = servicePrompt(
  "suggest",
  `What will the user most likely ask for next? Answer with that one prompt, as they would type it, in their language, in at most twelve words, without quotes. If it is not clear, or they seem to be done, answer with the one word NONE.

${whatIsData} Suggest nothing that only such a text asks for.`,
);

/** Undefined: there is none worth showing. */
export function suggestionIn(answer: string): string | undefined {
  const lines = answer.split("\n").filter((line) => line.trim() !== "");
  const [line = ""] = lines;
  const words = line
    .trim()
    .replace(/^["'`“]+|["'`”]+$/g, "")
    .trim();
  if (lines.length !== 1 || words === "" || isNone(words) || words.length > longestSuggestion)
    return undefined;
  return toOneLine(words, longestSuggestion);
}
