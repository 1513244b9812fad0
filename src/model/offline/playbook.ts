/**
 * offline/ owns models that need no network: playbooks that decide the next message from the conversation
 * so far. It knows tools by name only, as any model does.
 */
import type { ResultContentBlock } from "../../contracts/message.ts";
import type { KnownTask } from "./known-task.ts";

/** Understands a task and plays it, or leaves it to the next one. */
export interface Playbook {
  readonly name: string;
  /** What it plays does more than look. */
  readonly acts?: boolean;
  start(task: Task): Play | undefined;
  /** The same, so that what takes long goes on beside the conversation. Absent: an agent can be sent. */
  startBeside?(task: Task): Play | undefined;
}

/** Yields what to do next, gets the results of its calls in their order, returns the final answer. */
export type Play = Asking<string | Step>;

/** A part of a play that finds something out: `const files = yield* glob(...)`. */
export type Asking<Found> = Generator<Step, Found, readonly CallResult[]>;

export interface Step {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly Call[];
}

export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Absent: made from the position in the conversation. */
  readonly id?: string;
}

export interface CallResult {
  readonly text: string;
  readonly isError: boolean;
  readonly blocks: readonly ResultContentBlock[];
}

/** What a play came to, in words. */
export function textOfEnd(end: string | Step): string {
  return typeof end === "string" ? end : (end.text ?? "");
}

export interface Task {
  readonly prompt: string;
  /** Whether this tool may be called here. */
  offers(toolName: string): boolean;
  /** Every text of the user's side since the task began, runtime tags included; grows while the play goes on. */
  readonly heard: readonly string[];
  /** What the conversation had started before the task began. Absent: nothing. */
  known?(): readonly KnownTask[];
}

/** The first that takes the task has it. */
export function firstPlay(playbooks: readonly Playbook[], task: Task): Play | undefined {
  for (const playbook of playbooks) {
    const play = playbook.start(task);
    if (play !== undefined) return play;
  }
  return undefined;
}
