import { isoTime } from "../base/iso-time.ts";
import type { World } from "../base/world.ts";
import type { Block, Message } from "../contracts/message.ts";
import type { Tool } from "../tools/tool.ts";
import type { TranscriptWriter } from "../transcript/writer.ts";
import type { Prefix } from "./request.ts";

/** What an agent has said and heard. It only grows at its end, and what stands in it never changes (LO-5). */
export interface History {
  readonly messages: readonly Message[];
  /** Also into the transcript; durable before the next request, see `TranscriptWriter.durable`. */
  append(draft: MessageDraft): Message;
  /** How many messages the last request of this conversation held: its cache entry ends there. */
  sentCount: number | undefined;
  /** What else that request was made of. */
  sentWith: SentWith | undefined;
  /** It begins with the conversation of another agent, up to the last of these messages. */
  inherit(start: InheritedStart): void;
  /** After compaction: from now on these are the history, of which nothing was sent. */
  restart(messages: readonly Message[]): void;
  /** Providers reject ids that repeat, and some models repeat theirs: the id itself if it is new, else a fresh one. */
  claimCallId(id: string): string;
  newUuid(): string;
}

/** All that stands before the messages of a request, and how it is asked. */
export interface SentWith {
  readonly prefix: Prefix;
  readonly tools: readonly Tool[];
  readonly limits: { readonly thinking?: { budgetTokens: number } | undefined };
}

export interface InheritedStart {
  readonly messages: readonly Message[];
  readonly sentCount: number | undefined;
  /** Whose they are; absent: the main agent's. */
  readonly agentId: string | undefined;
}

export type MessageDraft = Pick<Message, "role" | "content"> &
  Partial<Pick<Message, "uuid" | "response" | "queueItems" | "synthetic">>;

interface HistoryOptions {
  readonly world: Pick<World, "clock" | "random">;
  readonly transcript: TranscriptWriter;
  readonly agentId?: string;
  readonly messages?: readonly Message[];
}

export function createHistory(options: HistoryOptions): History {
  return new RecordedHistory(options);
}

class RecordedHistory implements History {
  sentCount: number | undefined;
  sentWith: SentWith | undefined;
  readonly #world: HistoryOptions["world"];
  readonly #transcript: TranscriptWriter;
  readonly #agentId: string | undefined;
  #messages: Message[];
  readonly #callIds: Set<string>;

  constructor({ world, transcript, agentId, messages = [] }: HistoryOptions) {
    this.#world = world;
    this.#transcript = transcript;
    this.#agentId = agentId;
    this.#messages = [...messages];
    this.#callIds = new Set(messages.flatMap((message) => callIdsOf(message.content)));
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  append(draft: MessageDraft): Message {
    const message: Message = {
      uuid: draft.uuid ?? this.newUuid(),
      parentUuid: this.#messages.at(-1)?.uuid ?? null,
      timestamp: isoTime(this.#world.clock.now()),
      ...(this.#agentId !== undefined && { agentId: this.#agentId }),
      role: draft.role,
      // A copy has no room for more, which an array that grew would keep as long as the conversation.
      content: draft.content.slice(),
      ...(draft.response && { response: draft.response }),
      ...(draft.queueItems && draft.queueItems.length > 0 && { queueItems: draft.queueItems }),
      ...(draft.synthetic && { synthetic: true }),
    };
    this.#messages.push(message);
    for (const id of callIdsOf(message.content)) this.#callIds.add(id);
    this.#transcript.append({ type: "message", message });
    return message;
  }

  inherit({ messages, sentCount, agentId }: InheritedStart): void {
    const lastUuid = messages.at(-1)?.uuid;
    if (lastUuid === undefined) return;
    this.#messages = [...messages];
    this.sentCount = sentCount;
    for (const { content } of messages) for (const id of callIdsOf(content)) this.#callIds.add(id);
    // They stand in the other transcript: a hundred forks do not write them a hundred times.
    this.#transcript.append({ type: "inherits", ...(agentId !== undefined && { agentId }), lastUuid });
  }

  restart(fresh: readonly Message[]): void {
    this.#messages = [...fresh];
    this.sentCount = undefined;
    // A record says what was, so it must not grow with the history.
    this.#transcript.append({ type: "compaction", messages: [...fresh] });
  }

  claimCallId(id: string): string {
    const claimed = id === "" || this.#callIds.has(id) ? `call_${this.newUuid().replaceAll("-", "")}` : id;
    this.#callIds.add(claimed);
    return claimed;
  }

  newUuid(): string {
    return this.#world.random.uuid();
  }
}

function callIdsOf(content: readonly Block[]): string[] {
  return content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
}
