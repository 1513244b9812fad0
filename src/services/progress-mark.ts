/** How far a service has read a conversation that goes on, and that compaction may have shortened meanwhile. */
import type { Message } from "../contracts/message.ts";

export interface ProgressMark {
  /** Those that it has not seen. */
  unseen(messages: readonly Message[]): readonly Message[];
  /** It has seen all of these. */
  set(messages: readonly Message[]): void;
}

export function createProgressMark(seen: readonly Message[] = []): ProgressMark {
  let lastUuid = seen.at(-1)?.uuid;
  return {
    unseen: (messages) =>
      messages.slice(
        lastUuid === undefined ? 0 : messages.findLastIndex(({ uuid }) => uuid === lastUuid) + 1,
      ),
    set(messages) {
      lastUuid = messages.at(-1)?.uuid;
    },
  };
}
