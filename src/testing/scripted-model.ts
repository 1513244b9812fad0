/**
 * A model that says what a test tells it to. A script is either a list of replies, handed out in the order of
 * the requests, or a generator that is replayed from the conversation, so that several agents, forks and
 * resumed sessions can share one model.
 */
import { sleep, throwIfCancelled } from "../base/cancellation.ts";
import type { Clock } from "../base/world.ts";
import type { ModelEvent } from "../contracts/event.ts";
import type { StopReasonOfModel } from "../contracts/message.ts";
import type { Usage } from "../contracts/usage.ts";
import type { Model, ModelRequest } from "../model/model.ts";
import { ModelError } from "../model/model-error.ts";
import { type Exchange, readExchanges } from "../model/offline/conversation.ts";
import type { Call, CallResult, Task } from "../model/offline/playbook.ts";
import { resultsOf } from "../model/offline/replay.ts";
import { eventsOf } from "../model/offline/stream-step.ts";
import { untilCancelled } from "./until-cancelled.ts";

export interface ScriptedModel extends Model {
  /** Every request that was made, also those that failed. */
  readonly requests: readonly ModelRequest[];
}

export type Script = readonly Reply[] | ScriptGenerator;

/**
 * Started with the first prompt of a conversation. A reply without calls ends the turn; what the user says
 * next goes on after that `yield`, and stands at the end of `task.heard`. After `return` the next prompt
 * starts it anew.
 */
export type ScriptGenerator = (task: ScriptTask) => Generator<Reply, LastReply, readonly CallResult[]>;

// biome-ignore lint/suspicious/noConfusingVoidType: a generator without `return` ends with void.
type LastReply = Reply | void;

export interface ScriptTask extends Task {
  readonly system: string;
}

/** A string is a text without calls. */
export type Reply = string | ScriptedReply;

export interface ScriptedReply extends Fault {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly stopReason?: StopReasonOfModel;
  readonly usage?: Partial<Usage>;
}

export interface ScriptedCall extends Omit<Call, "input"> {
  readonly input?: Call["input"];
  /** Sent instead of `input`, whatever it is: broken JSON, an array, nothing. */
  readonly json?: string;
}

/** How an answer can go wrong. */
export interface Fault {
  /** Thrown before the first event. */
  readonly error?: Error;
  /** The stream ends with a `cut` error after this many events. */
  readonly cutAfterEvents?: number;
  /** Sent as they are, instead of the reply's own. */
  readonly events?: readonly ModelEvent[];
  /** Waited before the first event; needs `clock`. */
  readonly delayMs?: number;
  /** Never ends by itself after the events: only the request's signal ends it. */
  readonly hang?: boolean;
}

export interface ScriptedModelOptions {
  readonly id?: string;
  readonly contextWindow?: number;
  readonly clock?: Clock;
  /** By the number of the request, counted from 0. The next request for the same reply goes well. */
  readonly faults?: Readonly<Record<number, Fault>>;
}

export function createScriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
  const id = options.id ?? "scripted";
  const requests: ModelRequest[] = [];
  const replies = Array.isArray(script) ? [...(script as readonly Reply[])] : undefined;
  return {
    provider: "scripted",
    id,
    contextWindow: options.contextWindow ?? 200_000,
    requests,
    async *stream(request) {
      const fault = options.faults?.[requests.length];
      requests.push(request);
      // A fault takes no reply from a list: the retry gets it.
      const reply =
        replies === undefined
          ? replayScript(script as ScriptGenerator, request)
          : fault === undefined
            ? takeReply(replies, requests.length)
            : {};
      yield* play({ ...reply, ...fault }, { request, id, clock: options.clock });
    },
  };
}

function takeReply(replies: Reply[], requestNumber: number): ScriptedReply {
  const reply = replies.shift();
  if (reply !== undefined) return toReply(reply);
  throw new ModelError({
    kind: "rejected",
    message: `The script has no reply for request ${requestNumber}: the loop asked more often than the test expects.`,
  });
}

function toReply(reply: LastReply): ScriptedReply {
  if (reply === undefined) return {};
  return typeof reply === "string" ? { text: reply } : reply;
}

function replayScript(script: ScriptGenerator, request: ModelRequest): ScriptedReply {
  const exchanges = readExchanges(request.messages);
  const toolNames = new Set(request.tools.map((tool) => tool.name));
  const offers = (name: string) => toolNames.has(name);
  let running: { play: ReturnType<ScriptGenerator>; heard: string[] } | undefined;
  let results: readonly CallResult[] = [];
  let reply: ScriptedReply = {};
  for (const [index, exchange] of exchanges.entries()) {
    if (running === undefined) {
      const heard = [...exchange.texts];
      const prompt = promptOf(exchange);
      running = { play: script({ prompt, heard, offers, system: request.system }), heard };
    } else running.heard.push(...exchange.texts);
    const turn = running.play.next(results);
    reply = toReply(turn.value);
    if (turn.done === true) running = undefined;
    // What a cut stream left of the calls has results; the rest never happened.
    results = resultsOf(exchange.answer?.calls ?? [], exchanges[index + 1]) ?? [];
  }
  return reply;
}

function promptOf(exchange: Exchange): string {
  return (exchange.prompts.length > 0 ? exchange.prompts : exchange.texts).join("\n\n");
}

async function* play(
  reply: ScriptedReply,
  context: { request: ModelRequest; id: string; clock: Clock | undefined },
): AsyncGenerator<ModelEvent, void, undefined> {
  const { scope } = context.request;
  throwIfCancelled(scope);
  if (reply.delayMs !== undefined) {
    if (context.clock === undefined)
      throw new Error("A scripted delay needs `clock` in the model's options.");
    await sleep(context.clock, reply.delayMs, scope);
  }
  if (reply.error !== undefined) throw reply.error;
  let sent = 0;
  for (const event of reply.events ?? scriptedEvents(reply, context)) {
    if (sent === reply.cutAfterEvents) break;
    throwIfCancelled(scope);
    yield event;
    sent += 1;
  }
  if (reply.cutAfterEvents !== undefined)
    throw new ModelError({ kind: "cut", message: `The script cut the stream after ${sent} events.` });
  if (reply.hang === true) await untilCancelled(scope);
}

function scriptedEvents(
  reply: ScriptedReply,
  context: { request: ModelRequest; id: string },
): Iterable<ModelEvent> {
  const wire = new Map<Call, string>();
  const calls = (reply.calls ?? []).map(({ json, input, ...rest }): Call => {
    const call: Call = { ...rest, input: input ?? {} };
    wire.set(call, json ?? JSON.stringify(call.input));
    return call;
  });
  return eventsOf(
    { text: reply.text, thinking: reply.thinking, calls },
    {
      request: context.request,
      model: context.id,
      stopReason: reply.stopReason,
      usage: reply.usage,
      inputJson: (call) => wire.get(call) ?? "",
    },
  );
}
