/** What is wanted of an agent: everything that differs from one start to another. */
import type { Scope } from "../base/cancellation.ts";
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { AgentActivity } from "../contracts/event.ts";
import type { Block, Message } from "../contracts/message.ts";
import type { AgentPermissions, EarlyAnswer } from "../tools/tool-context.ts";
import type { PrefixRecord } from "../transcript/record.ts";
import type { TranscriptWriter } from "../transcript/writer.ts";
import type { AgentContext } from "./agent-context.ts";
import type { ForkPoint } from "./fork-point.ts";
import type { EndedRun } from "./run-end.ts";

export interface SpawnRequest {
  readonly parent: AgentContext;
  readonly definition: AgentDefinition;
  /** 3 to 5 words. */
  readonly description: string;
  /** What it is told. Absent: what waits for it in the queue. */
  readonly prompt?: string;
  /** The call that started it; absent when the runtime itself does. */
  readonly toolUseId?: string;
  /** Of this call only. */
  readonly model?: string;
  readonly maxTurns?: number;
  /** Where it begins, inside the folders of its parent. */
  readonly cwd?: string;
  /** It must get a place of its own, or not start at all. */
  readonly isolation?: "worktree";
  /** Nobody waits for it: `early` is answered as soon as it runs, and its end is told by a notification. */
  readonly isBackground: boolean;
  /** Whoever waits for it, and is answered when it goes on in the background. */
  readonly early?: EarlyAnswer | undefined;
  /** What is said of its end when it is in the background, as a prompt and instead of a notification. */
  readonly tellEnd?: (end: EndedRun) => readonly Block[];
  /** Under which SendMessage reaches it. */
  readonly name?: string | undefined;
  /** Ends it; the agent hangs below. */
  readonly scope: Scope;
  readonly report?: (activity: AgentActivity) => void;
  /** It is its parent, from here on. */
  readonly fork?: ForkPoint | undefined;
  /** It goes on from here instead of starting anew. */
  readonly earlier?: EarlierRun;
  /** Stand instead of the allow rules that it would inherit (SP-15). */
  readonly allowedTools?: readonly string[] | undefined;
  /** A program may bring its own. */
  readonly agentId?: string;
  readonly systemPrompt?: string;
}

export interface EarlierRun {
  readonly agentId: string;
  readonly messages: readonly Message[];
  /** What stood before them; used again if the same tools are there, since the provider may have it in its cache. */
  readonly prefix: PrefixRecord | undefined;
  /** Open: whoever starts the agent closes it, also when the start fails. */
  readonly writer: TranscriptWriter;
  /** What is not as it was, in words for the parent. */
  readonly notes: readonly string[];
  /** Of a fork: what its parent was held to. */
  readonly limits?: AgentPermissions;
}
