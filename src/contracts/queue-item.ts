/** What wants to reach an agent between its turns (TA-11). */
import * as z from "zod";
import { Block } from "./message.ts";

export const QueueItem = z.object({
  uuid: z.string(),
  mode: z.enum(["prompt", "bash", "task-notification", "orphaned-permission"]),
  priority: z.enum(["now", "next", "later"]),
  /** The agent it is for; absent: the main agent. */
  target: z.string().optional(),
  content: z.array(Block),
});
export type QueueItem = z.infer<typeof QueueItem>;
