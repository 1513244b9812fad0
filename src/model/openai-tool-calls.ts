/**
 * The tool calls of a chat completions stream, put together from deltas. Servers agree on little: calls come
 * whole or in pieces, with or without an index or an id, the arguments as text or as an object. What cannot be
 * mistaken is accepted.
 */
import type { ModelEvent } from "../contracts/event.ts";
import { createObjectScanner, type ObjectScanner } from "./object-scanner.ts";
import { type Fields, isFields, MalformedStream, textOr } from "./wire-fields.ts";

export interface CallCollector {
  /** `deltas`: what a chunk has under `tool_calls`. */
  add(deltas: readonly unknown[]): ModelEvent[];
  /** Ends the calls that did not end by themselves. */
  finish(): ModelEvent[];
  readonly count: number;
  /** Characters of names and arguments so far. */
  readonly chars: number;
}

interface Call {
  readonly key: unknown;
  readonly scanner: ObjectScanner;
  id: string;
  name: string;
  json: string;
  /** How much of `json` was handed on. */
  told: number;
  /** Its place in the answer, once its start was told. */
  index: number | undefined;
  /** Its arguments are an object that is whole. */
  whole: boolean;
  ended: boolean;
}

export function createCallCollector(options: {
  /** Names as the model knows them, and what they are called here. */
  offered: ReadonlyMap<string, string>;
  nextIndex: () => number;
  newId: () => string;
}): CallCollector {
  const { offered } = options;
  const calls: Call[] = [];
  let chars = 0;

  const callFor = (delta: Delta): Call => {
    const known = calls.findLast((call) =>
      delta.index !== undefined ? call.key === delta.index : delta.id !== "" && call.id === delta.id,
    );
    const last = delta.index === undefined && delta.name === "" ? calls.at(-1) : undefined;
    const candidate = known ?? last;
    if (candidate !== undefined && !isAnother(delta, candidate)) return candidate;
    const call: Call = {
      key: delta.index,
      scanner: createObjectScanner(),
      id: delta.id,
      name: "",
      json: "",
      told: 0,
      index: undefined,
      whole: false,
      ended: false,
    };
    calls.push(call);
    return call;
  };

  const extend = (delta: Delta): ModelEvent[] => {
    const call = callFor(delta);
    if (call.whole && !isEmptyObject(call)) {
      if (delta.json.trim() === "" || delta.json === call.json) return [];
      throw new MalformedStream(`the arguments of ${call.name} go on after their end`);
    }
    call.id ||= delta.id;
    if (call.json.trim() === "") call.name = mergeNames(call.name, delta.name, [...offered.keys()]);
    // Some send an empty object first and the arguments after it.
    if (isEmptyObject(call) && call.told === 0 && delta.json.trim() !== "") {
      call.json = "";
      call.scanner.reset();
    }
    call.json += delta.json;
    chars += delta.json.length + delta.name.length;
    call.whole = call.scanner.push(delta.json);
    const ended = endWhole();
    const isTellable = call.name !== "" && call.json.trim() !== "" && !isEmptyObject(call) && !call.ended;
    return isTellable ? [...ended, ...start(call), ...tell(call)] : ended;
  };

  /** Calls end in the order in which they were made, since that is the order in which they may run. */
  const endWhole = (): ModelEvent[] => {
    const events: ModelEvent[] = [];
    for (const call of calls) {
      if (call.ended) continue;
      const mayGoOn = !call.whole || (isEmptyObject(call) && call === calls.at(-1));
      if (mayGoOn || call.name === "") break;
      events.push(...end(call));
    }
    return events;
  };

  const start = (call: Call): ModelEvent[] => {
    if (call.index !== undefined) return [];
    call.index = options.nextIndex();
    const name = offered.get(call.name) ?? call.name;
    const block = { type: "tool_use" as const, id: call.id || options.newId(), name };
    return [{ type: "block-start", index: call.index, block }];
  };

  const tell = (call: Call): ModelEvent[] => {
    const json = call.json.slice(call.told);
    call.told = call.json.length;
    if (json === "" || call.index === undefined) return [];
    return [{ type: "block-delta", index: call.index, delta: { type: "input-json", json } }];
  };

  const end = (call: Call): ModelEvent[] => {
    const events = [...start(call), ...tell(call)];
    call.ended = true;
    return call.index === undefined ? events : [...events, { type: "block-stop", index: call.index }];
  };

  return {
    add: (deltas) => deltas.flatMap((each) => extend(toDelta(each))),
    finish: () =>
      calls.flatMap((call) => {
        if (call.ended) return [];
        if (call.name !== "") return end(call);
        if (call.json.trim() === "") return [];
        throw new MalformedStream("a tool call without a name");
      }),
    get count() {
      return calls.filter((call) => call.name !== "").length;
    },
    get chars() {
      return chars;
    },
  };
}

interface Delta {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly json: string;
}

function toDelta(value: unknown): Delta {
  if (!isFields(value)) throw new MalformedStream("a tool call that is not an object");
  const called: Fields = isFields(value.function) ? value.function : value;
  return {
    index: typeof value.index === "number" ? value.index : undefined,
    id: textOr(value.id, ""),
    name: textOr(called.name, ""),
    json: isFields(called.arguments) ? JSON.stringify(called.arguments) : textOr(called.arguments, ""),
  };
}

/** Some servers number every call 0. A new call has a name; an id alone may just be made anew for each delta. */
function isAnother(delta: Delta, call: Call): boolean {
  if (delta.name === "") return false;
  if (delta.id !== "" && call.id !== "") return delta.id !== call.id;
  if (isEmptyObject(call)) return delta.name !== call.name;
  return call.whole && delta.json !== call.json;
}

function isEmptyObject({ json }: Call): boolean {
  return json === "{}";
}

/** A name may come in pieces, or whole with every delta. */
function mergeNames(name: string, piece: string, offered: readonly string[]): string {
  if (piece === "" || name === "") return name + piece;
  const whole = name + piece;
  if (offered.some((other) => other.startsWith(whole))) return whole;
  return offered.includes(name) || name === piece ? name : whole;
}
