import type { World } from "../base/world.ts";
import type { Block, Message } from "../contracts/message.ts";
import type { TranscriptWriter } from "../transcript/writer.ts";

/** What an agent has said and heard. It only grows at its end, and what stands in it never changes (LO-5). */
export interface History {
  readonly messages: readonly Message[];
  /** Also into the transcript; durable before the next request, see `TranscriptWriter.durable`. */
  append(draft: MessageDraft): Message;
  /** How many messages the last request of this conversation held: its cache entry ends there. */
  sentCount: number | undefined;
  /** After compaction: from now on these are the history, of which nothing was sent. */
  restart(messages: readonly Message[]): void;
  /** Providers reject ids that repeat, and some models repeat theirs: the id itself if it is new, else a fresh one. */
  claimCallId(id: string): string;
  newUuid(): string;
}

export type MessageDraft = Pick<Message, "role" | "content"> &
  Partial<Pick<Message, "uuid" | "response" | "queueItems" | "synthetic">>;

export function createHistory(options: {
  world: Pick<World, "clock" | "random">;
  transcript: TranscriptWriter;
  agentId?: string;
  messages?: readonly Message[];
}): History {
  const { world, transcript, agentId } = options;
  let messages = [...(options.messages ?? [])];
  const callIds = new Set(messages.flatMap((message) => callIdsOf(message.content)));

  const history: History = {
    sentCount: undefined,
    get messages() {
      return messages;
    },
    append(draft) {
      const message: Message = {
        uuid: draft.uuid ?? world.random.uuid(),
        parentUuid: messages.at(-1)?.uuid ?? null,
        timestamp: new Date(world.clock.now()).toISOString(),
        ...(agentId !== undefined && { agentId }),
        role: draft.role,
        content: draft.content,
        ...(draft.response && { response: draft.response }),
        ...(draft.queueItems && draft.queueItems.length > 0 && { queueItems: draft.queueItems }),
        ...(draft.synthetic && { synthetic: true }),
      };
      messages.push(message);
      for (const id of callIdsOf(message.content)) callIds.add(id);
      transcript.append({ type: "message", message });
      return message;
    },
    restart(fresh) {
      messages = [...fresh];
      history.sentCount = undefined;
      // A record says what was, so it must not grow with the history.
      transcript.append({ type: "compaction", messages: [...fresh] });
    },
    claimCallId(id) {
      const claimed = id === "" || callIds.has(id) ? `call_${world.random.uuid().replaceAll("-", "")}` : id;
      callIds.add(claimed);
      return claimed;
    },
    newUuid: () => world.random.uuid(),
  };
  return history;
}

function callIdsOf(content: readonly Block[]): string[] {
  return content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
}
