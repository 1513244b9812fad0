import type { Message } from "../contracts/message.ts";
import type { SentWith } from "../loop/history.ts";

/** Where a fork begins. */
export interface ForkPoint {
  /** Its parent's, up to the message that holds the call. */
  readonly messages: readonly Message[];
  /** How many of them the parent's last request held. */
  readonly sentCount: number | undefined;
  readonly sentWith: SentWith;
}
