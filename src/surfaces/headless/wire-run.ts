/**
 * The events of a run as the objects of stream-json, in the order that their readers rely on: a call stands in an
 * assistant message before anything that comes of it is told.
 */
import type { LoopEvent } from "../../contracts/event.ts";
import { createAgentWatch, type Moment, type WatchedAgent } from "./watch-agents.ts";
import { type WireContext, type WireMessage, wireAgentMessagesOf, wireMessagesOf } from "./wire-messages.ts";
import { wireTaskBackgrounded, wireTaskEnded, wireTaskProgress, wireTaskStarted } from "./wire-tasks.ts";

export interface WireRun {
  messagesOf(event: LoopEvent): WireMessage[];
  /** The run is over: ends what is still open. */
  close(): WireMessage[];
}

export function createWireRun(options: {
  context: WireContext;
  /** Whether agents' own words are told, beside their calls and the results. */
  withAgentText: boolean;
}): WireRun {
  const { context } = options;
  const watch = createAgentWatch();
  const main = createSpeech(undefined, 0);
  const speeches = new Map<WatchedAgent, Speech>();
  const speechOf = (agent: WatchedAgent | undefined) =>
    (agent === undefined ? undefined : speeches.get(agent)) ?? main;

  const messagesOfEvent = (moment: Extract<Moment, { type: "event" }>): WireMessage[] => {
    const { agent, event } = moment;
    if (agent === undefined) return pass(main, event, wireMessagesOf(event, context));
    const speech = speechOf(agent);
    const messages = wireAgentMessagesOf(event, { context, agent, withText: options.withAgentText });
    if (event.type === "turn-end")
      messages.push(wireTaskProgress(agent, context.now() - speech.startedMs, context));
    return pass(speech, event, messages);
  };

  const messagesAt = (moment: Moment): WireMessage[] => {
    if (moment.type === "event") return messagesOfEvent(moment);
    const { agent } = moment;
    if (moment.type === "agent-start") {
      const speech = createSpeech(speechOf(agent.parent), context.now());
      speeches.set(agent, speech);
      return rise(speech, [wireTaskStarted(agent, moment.prompt, context)]);
    }
    const speech = speechOf(agent);
    speeches.delete(agent);
    if (moment.type === "agent-leave")
      return rise(speech, [...release(speech), wireTaskBackgrounded(agent, context)]);
    const durationMs = moment.durationMs ?? context.now() - speech.startedMs;
    return rise(speech, [...release(speech), ...wireTaskEnded(moment, durationMs, context)]);
  };

  return {
    messagesOf: (event) => watch.see(event).flatMap(messagesAt),
    close() {
      const ends = watch.close().flatMap(messagesAt);
      return [...release(main), ...ends];
    },
  };
}

/** What one agent says. Calls start while their message still streams: until it stands, what comes of them waits. */
interface Speech {
  /** Absent: the main agent's. */
  readonly parent: Speech | undefined;
  readonly startedMs: number;
  answering: boolean;
  waiting: WireMessage[];
}

function createSpeech(parent: Speech | undefined, startedMs: number): Speech {
  return { parent, startedMs, answering: false, waiting: [] };
}

/** An agent's own objects, and what has waited for them. */
function pass(speech: Speech, event: LoopEvent, messages: WireMessage[]): WireMessage[] {
  switch (event.type) {
    case "turn-start":
      speech.answering = true;
      break;
    case "response-discard":
      // The message never came to be, so neither did what came of it.
      speech.waiting = [];
      break;
    case "call-denied":
      return hold(speech, messages);
    case "message-append":
      return rise(speech, event.message.role === "assistant" ? [...messages, ...release(speech)] : messages);
    case "turn-end":
      return rise(speech, [...release(speech), ...messages]);
  }
  return rise(speech, messages);
}

function release(speech: Speech): WireMessage[] {
  const { waiting } = speech;
  speech.answering = false;
  speech.waiting = [];
  return waiting;
}

/** On the way to the reader each message of an ancestor that is still streaming comes first. */
function rise(speech: Speech, messages: WireMessage[]): WireMessage[] {
  return speech.parent === undefined ? messages : hold(speech.parent, messages);
}

function hold(speech: Speech, messages: WireMessage[]): WireMessage[] {
  if (!speech.answering) return rise(speech, messages);
  for (const message of messages) speech.waiting.push(message);
  return [];
}
