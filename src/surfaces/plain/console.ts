/**
 * Lines in, text out, and nothing that moves the cursor on its own: it works in a dumb terminal and with a
 * screen reader. Everything that is shown passes through `forTerminal`.
 */
import { createInterface } from "node:readline";
import { throwIfCancelled, unlessCancelled } from "../../base/cancellation.ts";
import { forTerminal } from "../../base/markup.ts";
import type { Clock } from "../../base/world.ts";

export interface PlainConsole {
  /** Text as it streams. */
  show(text: string): void;
  /** Ends the line that streamed text left open. */
  endLine(): void;
  /** Whole lines of their own. */
  line(text: string): void;
  /** Shows that it is the person's turn. */
  prompt(): void;
  /**
   * The next line that is typed, or undefined if none will come. One question at a time; what is shown meanwhile
   * waits for the answer, so that the question stays the last thing on the screen.
   */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
  /** Resolves when no question is open. */
  unasked(): Promise<void>;
  /** Something is half typed, or a question is open. */
  readonly isInUse: boolean;
  close(): void;
}

export interface ConsoleEvents {
  /** What was typed or pasted, when no question was open. */
  onText(text: string): void;
  /** Ctrl+C. */
  onInterrupt(): void;
  /** Ctrl+D, which leaves it open, or the input ended. */
  onEnd(): void;
  /** Ctrl+B. False: it has no meaning now, and moves the cursor as usual. */
  onSendAway(): boolean;
}

export function createPlainConsole(options: {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  /** Line editing and history; off for a plain pipe. */
  terminal: boolean;
  events: ConsoleEvents;
  clock: Pick<Clock, "setTimer">;
}): PlainConsole {
  const { input, output, terminal, events, clock } = options;
  let inputEnded = false;
  // Before the reader hears of it.
  input.once("end", () => {
    inputEnded = true;
  });
  const reader = createInterface({
    input,
    output,
    terminal,
    prompt: "> ",
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  let atLineStart = true;
  let heldBack = "";
  let closed = false;
  /** The person's turn is the last thing on the screen, but for what they type. */
  let prompted = false;
  let answer: ((line: string | undefined) => void) | undefined;
  let lastQuestion: Promise<unknown> = Promise.resolve();

  const write = (text: string) => {
    if (text === "") return;
    output.write(text);
    prompted = false;
    atLineStart = text.endsWith("\n");
  };
  const showNow = (text: string) => {
    const whole = heldBack + text;
    // Half a character, or half a line break, at the border of two pieces waits for its other half.
    heldBack = /[\uD800-\uDBFF\r]$/.test(whole) ? whole.slice(-1) : "";
    write(forTerminal(heldBack === "" ? whole : whole.slice(0, -1)));
  };
  const endLineNow = () => {
    write(forTerminal(heldBack));
    heldBack = "";
    if (!atLineStart) write("\n");
  };
  const lineNow = (text: string) => {
    endLineNow();
    write(`${forTerminal(text)}\n`);
  };
  /** What was to be shown while a question was open, in order. */
  let waiting: (() => void)[] = [];
  const unlessAsking = (print: () => void) => {
    if (answer === undefined) print();
    else waiting.push(print);
  };

  const showPrompt = () => {
    // It stands on a line of its own: what was typed so far is not to be looked for above it.
    Object.assign(reader, { prevRows: 0 });
    reader.prompt(true);
    atLineStart = false;
  };
  const showMainPrompt = () => {
    if (closed || prompted) return;
    endLineNow();
    showPrompt();
    prompted = true;
  };

  const paste = createPaste(events.onText);
  reader.on("line", (typed) => {
    atLineStart = true;
    prompted = false;
    if (answer === undefined) paste.take(typed);
    else answer(typed);
  });
  // An answer is not something to call back later.
  reader.on("history", (history: string[]) => {
    if (answer !== undefined) history.shift();
  });
  reader.on("SIGINT", () => {
    // What was being typed is dropped first, as shells do it.
    if (reader.line !== "" && answer === undefined) {
      dropDraft(reader);
      write("\n");
      showMainPrompt();
    } else events.onInterrupt();
  });
  reader.on("close", () => {
    closed = true;
    answer?.(undefined);
    events.onEnd();
  });
  const closeReader = reader.close.bind(reader);
  // Ctrl+D would close it, and nothing could be asked any more.
  reader.close = () => {
    if (inputEnded) closeReader();
    else {
      answer?.(undefined);
      events.onEnd();
    }
  };
  if (terminal) onSendAwayKey({ input, reader, wants: () => answer === undefined && events.onSendAway() });

  const askNow = async (question: string, signal: AbortSignal): Promise<string | undefined> => {
    throwIfCancelled(signal);
    if (closed) return undefined;
    const wasPrompted = prompted;
    const draft = reader.line;
    if (draft !== "") {
      dropDraft(reader);
      write("\n");
    }
    const newline = question.lastIndexOf("\n");
    if (newline >= 0) lineNow(question.slice(0, newline));
    else endLineNow();
    reader.setPrompt(forTerminal(question.slice(newline + 1)));
    const answered = new Promise<string | undefined>((resolve) => {
      answer = resolve;
    });
    let left = false;
    try {
      showPrompt();
      const typed = await unlessCancelled(answered, signal);
      left = typed === undefined;
      return typed;
    } finally {
      answer = undefined;
      if (!closed) reader.setPrompt("> ");
      const missed = waiting;
      waiting = [];
      for (const print of missed) print();
      if (wasPrompted && !prompted && !left) showMainPrompt();
      if (!closed && draft !== "") reader.write(draft);
    }
  };

  return {
    show: (text) => unlessAsking(() => showNow(text)),
    endLine: () => unlessAsking(endLineNow),
    line: (text) => unlessAsking(() => lineNow(text)),
    prompt: () => unlessAsking(showMainPrompt),
    ask(question, signal) {
      const asked = lastQuestion.then(() => askNow(question, signal));
      // Questions are often withdrawn together: the next one waits until it is known whether it still stands.
      lastQuestion = asked.catch(() => new Promise<void>((resolve) => clock.setTimer(0, resolve)));
      return asked;
    },
    async unasked() {
      for (let last: unknown; last !== lastQuestion; ) {
        last = lastQuestion;
        await lastQuestion;
      }
    },
    get isInUse() {
      // Without line editing the reader has no line.
      return answer !== undefined || paste.isOpen || (terminal && reader.line !== "");
    },
    close() {
      if (!closed) closeReader();
    },
  };
}

/** Lines that arrive together were pasted together, and a line that ends in a backslash goes on. */
function createPaste(onText: (text: string) => void): {
  take(line: string): void;
  /** More is to come. */
  readonly isOpen: boolean;
} {
  let lines: string[] = [];
  let scheduled = false;
  return {
    get isOpen() {
      return lines.length > 0;
    },
    take(line) {
      lines.push(line);
      if (scheduled) return;
      scheduled = true;
      queueMicrotask(() => {
        scheduled = false;
        if (lines.at(-1)?.endsWith("\\") === true) return;
        const text = lines.map((each) => each.replace(/\\$/, "")).join("\n");
        lines = [];
        onText(text);
      });
    },
  };
}

/** By its fields, because a dumb terminal has no keys that would do it. */
function dropDraft(reader: ReturnType<typeof createInterface>): void {
  Object.assign(reader, { line: "", cursor: 0 });
}

/** The reader takes Ctrl+B for a step to the left, which is undone where it means something else. */
function onSendAwayKey(options: {
  input: NodeJS.ReadableStream;
  reader: ReturnType<typeof createInterface>;
  wants: () => boolean;
}): void {
  const { input, reader, wants } = options;
  const isIt = (key: { ctrl?: boolean; name?: string } | undefined) => key?.ctrl === true && key.name === "b";
  let cursorBefore = 0;
  input.prependListener("keypress", (_text, key) => {
    if (isIt(key)) cursorBefore = reader.cursor;
  });
  input.on("keypress", (_text, key) => {
    if (!isIt(key) || !wants() || reader.cursor === cursorBefore) return;
    reader.write(null, { ctrl: true, name: "f" });
  });
}
