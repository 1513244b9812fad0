/** What an agent did, as the executor saw it. Nothing here comes from a model's words. */
import * as z from "zod";

/** What a tool itself knows of a call that it has run. */
export const CallFacts = z.object({
  /** The file that it read or changed. Absolute. */
  path: z.string().optional(),
  /** SHA-256 of what the file held, in hex; null: there was no such file. Absent: it was only read. */
  before: z.string().nullable().optional(),
  after: z.string().nullable().optional(),
  command: z.string().optional(),
  /** Null: a signal ended the command. */
  exitCode: z.number().nullable().optional(),
  /** The call has started this task, which goes on. */
  taskId: z.string().optional(),
});
export type CallFacts = z.infer<typeof CallFacts>;

export const CallReceipt = CallFacts.extend({
  toolUseId: z.string(),
  tool: z.string(),
  /** `stopped`: it was cut off, and what it had done until then may stand. */
  outcome: z.enum(["done", "failed", "denied", "stopped"]),
});
export type CallReceipt = z.infer<typeof CallReceipt>;

/** Of a whole run. */
export const Receipt = z.object({
  calls: z.array(CallReceipt),
  /** So many more were made than are listed. */
  omittedCalls: z.number(),
});
export type Receipt = z.infer<typeof Receipt>;

/** In a few words and numbers, for results, lists and the stream. */
export const ReceiptSummary = z.object({
  calls: z.number(),
  /** Those that were cut off, too. */
  failed: z.number(),
  denied: z.number(),
  /** Each file once: what it held before the first change and after the last. */
  files: z.array(z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() })),
  /** So many more have changed. */
  omittedFiles: z.number().optional(),
  commands: z.array(
    z.object({
      command: z.string(),
      /** Null: it did not end by itself, or goes on as the task `taskId`. */
      exitCode: z.number().nullable(),
      taskId: z.string().optional(),
    }),
  ),
  /** So many more have run. */
  omittedCommands: z.number().optional(),
});
export type ReceiptSummary = z.infer<typeof ReceiptSummary>;
