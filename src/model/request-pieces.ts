/**
 * The parts of request bodies that all providers share: JSON that is made once per message, tool or system
 * prompt and kept by identity. What was sent once is sent again byte for byte, and a long history costs a copy
 * of its bytes per turn, not a serialisation.
 */
import type { Message } from "../contracts/message.ts";

/** Makes it once per object; the object must not change. */
export function keepByIdentity<Source extends object, Made extends object | string>(
  make: (source: Source) => Made,
): (source: Source) => Made {
  const kept = new WeakMap<Source, Made>();
  return (source) => {
    let made = kept.get(source);
    if (made === undefined) {
      made = make(source);
      kept.set(source, made);
    }
    return made;
  };
}

const maxKeptTexts = 64;

export function keepByText<Made>(make: (text: string) => Made): (text: string) => Made {
  const kept = new Map<string, { made: Made }>();
  return (text) => {
    let entry = kept.get(text);
    if (entry === undefined) {
      if (kept.size >= maxKeptTexts) kept.clear();
      entry = { made: make(text) };
      kept.set(text, entry);
    }
    return entry.made;
  };
}

/** The JSON of the first `count` messages of a conversation. Kept by its first message. */
interface Beginning {
  readonly messages: readonly Message[];
  readonly count: number;
  readonly json: string;
}

/** Joins the JSON of messages, of which all but the newest were joined like this before. */
export function createMessageJoiner(
  jsonOf: (message: Message) => string,
): (messages: readonly Message[], count: number) => string {
  const beginnings = new WeakMap<Message, Beginning>();
  return (messages, count) => {
    const [first] = messages;
    if (first === undefined || count === 0) return "";
    const known = beginnings.get(first);
    const reusable = known !== undefined && isBeginningOf(known, messages, count) ? known : undefined;
    let json = reusable?.json ?? "";
    for (let index = reusable?.count ?? 0; index < count; index++) {
      const message = messages[index];
      if (message !== undefined) json = joined(json, jsonOf(message));
    }
    json = flat(json);
    beginnings.set(first, { messages, count, json });
    return json;
  };
}

/**
 * The same text in one piece. The engine keeps `a + b` as a tree and makes bytes of it by walking through it; of a
 * text that grows every turn the tree would grow, too. Looking at a character makes it one piece.
 */
function flat(text: string): string {
  return text.charCodeAt(0) === 0 ? "" : text;
}

function isBeginningOf(known: Beginning, messages: readonly Message[], count: number): boolean {
  if (known.count > count) return false;
  for (let index = 0; index < known.count; index++) {
    if (known.messages[index] !== messages[index]) return false;
  }
  return true;
}

/** A message of which nothing can be sent leaves no gap. */
export function joined(json: string, piece: string): string {
  if (piece === "") return json;
  return json === "" ? piece : `${json},${piece}`;
}

/** Providers reject text that is empty or holds only white space. */
export function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

/**
 * `JSON.stringify` writes half of a surrogate pair (text that was cut in the middle of an emoji) as an
 * escape, which providers reject; a whole pair it writes as it is. So every such escape is a broken one.
 */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!json.includes("\\ud")) return json;
  return json.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (sequence) =>
    sequence.startsWith("\\ud") ? "\\ufffd" : sequence,
  );
}
