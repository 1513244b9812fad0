/** What is wanted of an agent: everything that differs from one start to another. */
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { AgentActivity } from "../contracts/event.ts";
import type { Message } from "../contracts/message.ts";
import type { PrefixRecord } from "../transcript/record.ts";
import type { TranscriptWriter } from "../transcript/writer.ts";
import type { AgentContext } from "./agent-context.ts";

export interface SpawnRequest {
  readonly parent: AgentContext;
  readonly definition: AgentDefinition;
  /** 3 to 5 words. */
  readonly description: string;
  readonly prompt: string;
  /** The call that started it; absent when the runtime itself does. */
  readonly toolUseId?: string;
  /** Of this call only. */
  readonly model?: string;
  readonly maxTurns?: number;
  readonly cwd?: string;
  readonly isBackground: boolean;
  /** Ends it. */
  readonly signal: AbortSignal;
  readonly report?: (activity: AgentActivity) => void;
  /** It goes on from here instead of starting anew. */
  readonly earlier?: EarlierRun;
  /** Stand instead of the allow rules that it would inherit (SP-15). */
  readonly allowedTools?: readonly string[];
  /** A program may bring its own. */
  readonly agentId?: string;
  readonly systemPrompt?: string;
}

export interface EarlierRun {
  readonly agentId: string;
  readonly messages: readonly Message[];
  /** What stood before them; used again if the same tools are there, since the provider may have it in its cache. */
  readonly prefix: PrefixRecord | undefined;
  readonly writer: TranscriptWriter;
  readonly notes: readonly string[];
}
