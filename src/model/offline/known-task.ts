/** An agent or a command that a conversation has started. */
export interface KnownTask {
  readonly id: string;
  readonly kind: "agent" | "command";
  /** A few words, or the command. */
  readonly description: string;
  /** Of an agent. */
  readonly agentType?: string;
  /** Under which SendMessage reaches it. */
  readonly name?: string;
  /** How it ended, as far as this conversation was told. Absent: it may still run. */
  readonly end?: string;
}
