/**
 * The order that readers of stream-json rely on: a call stands in an assistant message before anything that comes of
 * it is told. Calls start while their message still streams; until it stands, what comes of them waits.
 */
import type { LoopEvent } from "../../contracts/event.ts";
import type { WireMessage } from "./wire-messages.ts";

/** What one agent says. */
export interface Speech {
  /** Absent: the main agent's, or that of one in the background. */
  parent: Speech | undefined;
  readonly startedMs: number;
  answer: Answer | undefined;
  /** Of one in the background: what was streaming above it when it went there. What streams later does not concern it. */
  behind: readonly Answer[];
}

/** A message that still streams, and what waits for it. */
interface Answer {
  over: boolean;
  waiting: WireMessage[];
  /** Of these, what is told even if the message never comes to be. */
  readonly staying: Set<WireMessage>;
}

export function createSpeech(parent: Speech | undefined, startedMs: number): Speech {
  return { parent, startedMs, answer: undefined, behind: [] };
}

/** An agent's own objects, and what has waited for them. */
export function pass(speech: Speech, event: LoopEvent, messages: WireMessage[]): WireMessage[] {
  switch (event.type) {
    case "turn-start":
      speech.answer ??= createAnswer();
      break;
    case "response-discard": {
      // The message never came to be, so neither did what came of it. Only what is in the background goes on.
      const { waiting = [], staying } = speech.answer ?? {};
      release(speech);
      speech.answer = createAnswer();
      return rise(speech, [...waiting.filter((message) => staying?.has(message)), ...messages]);
    }
    case "call-denied":
      return hold(speech, messages);
    case "message-append":
      return rise(speech, event.message.role === "assistant" ? [...messages, ...release(speech)] : messages);
    case "turn-end":
      return rise(speech, [...release(speech), ...messages]);
  }
  return rise(speech, messages);
}

/** It goes on in the background: `isOwn` tells what was said of it until now. */
export function detach(speech: Speech, isOwn: (message: WireMessage) => boolean): void {
  const behind: Answer[] = [];
  for (let above = speech.parent; above !== undefined; above = above.parent) {
    behind.push(...above.behind);
    if (above.answer === undefined) continue;
    behind.push(above.answer);
    for (const message of above.answer.waiting) if (isOwn(message)) above.answer.staying.add(message);
  }
  speech.parent = undefined;
  speech.behind = behind;
}

export function release(speech: Speech): WireMessage[] {
  const { answer } = speech;
  if (answer === undefined) return [];
  answer.over = true;
  speech.answer = undefined;
  return answer.waiting;
}

/** On the way to the reader each message of an ancestor that is still streaming comes first. */
export function rise(speech: Speech, messages: WireMessage[]): WireMessage[] {
  if (speech.parent !== undefined) return hold(speech.parent, messages);
  if (speech.behind.length === 0) return messages;
  speech.behind = speech.behind.filter(({ over }) => !over);
  const [first] = speech.behind;
  if (first === undefined) return messages;
  for (const message of messages) first.staying.add(message);
  return wait(first, messages);
}

function hold(speech: Speech, messages: WireMessage[]): WireMessage[] {
  return speech.answer === undefined ? rise(speech, messages) : wait(speech.answer, messages);
}

function wait(answer: Answer, messages: WireMessage[]): WireMessage[] {
  for (const message of messages) answer.waiting.push(message);
  return [];
}

function createAnswer(): Answer {
  return { over: false, waiting: [], staying: new Set() };
}
