/** Questions and answers in a terminal, a line each. Lines that were pasted together answer one after the other. */
import { createInterface } from "node:readline";
import { CancelledError } from "../base/errors.ts";
import { forTerminal } from "../base/markup.ts";

export interface LineQuestions {
  /** The answer without the spaces around it. Throws a `CancelledError` when none will come. */
  ask(question: string): Promise<string>;
  /** Lines up to one that holds only a dot, or up to the end of the input. */
  askText(question: string): Promise<string>;
  say(text: string): void;
  close(): void;
}

export function createLineQuestions(options: {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  terminal: boolean;
}): LineQuestions {
  const { output } = options;
  const reader = createInterface({ ...options, crlfDelay: Number.POSITIVE_INFINITY, historySize: 0 });
  const lines: string[] = [];
  let ended: "no" | "closed" | "interrupted" = "no";
  let wake = () => {};
  const end = (how: typeof ended) => {
    if (ended === "no") ended = how;
    wake();
  };
  reader.on("line", (line) => {
    lines.push(line);
    wake();
  });
  reader.on("SIGINT", () => end("interrupted"));
  reader.on("close", () => end("closed"));

  /** Undefined when the input has ended. */
  async function next(prompt: string): Promise<string | undefined> {
    if (lines.length === 0 && ended === "no") {
      reader.setPrompt(forTerminal(prompt));
      reader.prompt();
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (ended === "interrupted") throw interrupted();
    return lines.shift();
  }

  const say = (text: string) => void output.write(`${forTerminal(text)}\n`);
  return {
    say,
    async ask(question) {
      // Answered before it was asked: what was pasted came without its question.
      if (lines[0] !== undefined) say(`${question} ${lines[0]}`);
      const line = await next(`${question} `);
      if (line === undefined) throw interrupted();
      return line.trim();
    },
    async askText(question) {
      say(question);
      const text: string[] = [];
      for (;;) {
        const line = await next("  ");
        if (line === undefined && text.length === 0) throw interrupted();
        if (line === undefined || line.trim() === ".") return text.join("\n").trim();
        text.push(line);
      }
    },
    close: () => reader.close(),
  };
}

function interrupted(): CancelledError {
  return new CancelledError("the questions were left unanswered");
}
