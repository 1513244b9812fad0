import { parseLine } from "../base/journal-line.ts";
import type { FileSystem } from "../base/world.ts";
import type { Message } from "../contracts/message.ts";
import { MessageRecord } from "./record.ts";
import type { PassedMessage } from "./scan-transcript.ts";

/** The end of a conversation, as much of it as is kept in memory, cut where a conversation can begin (TA-26). */
export interface MessageWindow {
  readonly last: Message | undefined;
  add(message: Message): void;
  /** A message that is not kept: nothing before it is either. */
  pass(message: PassedMessage): void;
  /** After compaction: from now on these are the conversation. */
  restart(messages: readonly Message[]): void;
  close(): Promise<{ readonly messages: readonly Message[]; readonly droppedMessages: number }>;
}

export function createWindow(source: { files: FileSystem; path: string }): MessageWindow {
  let messages: Message[] = [];
  let dropped = 0;
  /** The last one before the window with which a conversation can begin. */
  let opening: Message | PassedMessage | undefined;

  return {
    get last() {
      return messages.at(-1);
    },
    add(message) {
      messages.push(message);
    },
    pass(message) {
      opening = message.canBegin ? message : (messages.findLast(canBegin) ?? opening);
      dropped += messages.length + 1;
      messages = [];
    },
    restart(fresh) {
      messages = [...fresh];
      dropped = 0;
      opening = undefined;
    },
    async close() {
      if (dropped === 0) return { messages, droppedMessages: 0 };
      const start = messages.findIndex(canBegin);
      if (start >= 0 && start <= messages.length / 2)
        return { messages: messages.slice(start), droppedMessages: dropped + start };
      // One prompt with a long work after it: the prompt stays, and of the work what is kept.
      const prompt = await messageOf(opening, source);
      const answer = messages.findIndex(({ role }) => role === "assistant");
      const work = answer < 0 ? [] : messages.slice(answer);
      const kept = prompt === undefined ? messages.slice(Math.max(start, 0)) : [prompt, ...work];
      return { messages: kept, droppedMessages: dropped + messages.length - kept.length };
    },
  };
}

function canBegin({ role, content }: Message): boolean {
  return role === "user" && content.length > 0 && content.every((block) => block.type !== "tool_result");
}

async function messageOf(
  opening: Message | PassedMessage | undefined,
  { files, path }: { files: FileSystem; path: string },
): Promise<Message | undefined> {
  if (opening === undefined || "uuid" in opening) return opening;
  const handle = await files.open(path, "read");
  try {
    const { records } = parseLine(await handle.read(opening.offset, opening.nextOffset - opening.offset));
    return MessageRecord.safeParse(records[0]).data?.message;
  } finally {
    await handle.close();
  }
}
