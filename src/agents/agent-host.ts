/** What a session hands to all agents that are started in it. What lies above agents/ comes in as a port. */
import type { Scope } from "../base/cancellation.ts";
import type { World } from "../base/world.ts";
import type { AgentDefinition, LoadedAgents } from "../contracts/agent-definition.ts";
import type { AgentActivity, BackgroundActivity } from "../contracts/event.ts";
import type { Block } from "../contracts/message.ts";
import type { Settings } from "../contracts/settings.ts";
import type { LoopLimits, LoopOptions } from "../loop/loop-options.ts";
import type { Model } from "../model/model.ts";
import type { BackgroundTasks } from "../tasks/background.ts";
import type { Queue } from "../tasks/queue.ts";
import type { TaskRegistry } from "../tasks/registry.ts";
import type { Gate } from "../tools/executor.ts";
import type { Tool } from "../tools/tool.ts";
import type { AgentPermissions, AgentScope } from "../tools/tool-context.ts";
import type { AgentTranscripts } from "../transcript/agent-transcripts.ts";
import type { AgentContext, LiveAgents } from "./agent-context.ts";
import type { AgentInput } from "./agent-input.ts";
import type { AgentNames } from "./agent-names.ts";
import type { AgentToolOutput } from "./agent-result.ts";
import type { AgentSlots } from "./agent-slots.ts";

export interface AgentHost {
  readonly world: World;
  readonly sessionId: string;
  readonly settings: Settings;
  readonly definitions: { load(): Promise<LoadedAgents> };
  /** All tools there are. They hold nothing of an agent: what differs stands in `AgentScope`. */
  readonly tools: () => readonly Tool[];
  /** Denied as a whole. */
  readonly isHidden: (toolName: string) => boolean;
  /** False: a deny rule names this type, or what its starter is limited to leaves it out. */
  readonly mayStart: (agentType: string, starter: AgentPermissions | undefined) => boolean;
  readonly mayRead: (path: string, agent: AgentScope) => Promise<boolean>;
  /** By id or alias. Throws a `CadreError` that says what to do. */
  readonly modelNamed: ((name: string) => Promise<Model>) | undefined;
  readonly gate: Gate;
  /** This agent waits for a person, or for the end of a task. */
  readonly isWaiting: (agentId: string) => boolean;
  readonly queue: Queue;
  readonly tasks: TaskRegistry;
  /** Undefined: everything waits. */
  readonly background: AgentBackground | undefined;
  readonly names: AgentNames;
  readonly live: LiveAgents;
  readonly slots: AgentSlots;
  /** This agent has ended while something waited for it in the queue. Never rejects. */
  readonly handOver: (ended: EndedAgent) => Promise<void>;
  /** Undefined: nothing is kept, and nothing can be resumed. */
  readonly transcripts: AgentTranscripts | undefined;
  readonly folders: { readonly results: string; readonly scratch: string };
  readonly compaction: LoopOptions["compaction"];
  readonly loopLimits: Pick<LoopLimits, "concurrency" | "startCallsWhileStreaming" | "cacheTtl">;
  readonly contributors: readonly Contributor[];
  readonly routes: readonly AgentRoute[];
  readonly servers?: ServerPort;
  /** Something went wrong that nobody waits for. */
  readonly onProblem?: (message: string) => void;
}

export interface EndedAgent {
  readonly context: AgentContext;
  readonly wasStopped: boolean;
}

/** What agents need that go on when nobody waits for them. */
export interface AgentBackground {
  readonly tasks: BackgroundTasks;
  /** Ends them with the session, and with nothing else. */
  readonly scope: Scope;
  /** Is told what they do. */
  readonly onActivity: (activity: BackgroundActivity) => void;
}

/**
 * Adds to the start of every agent: hooks, skills, memory, MCP servers, worktrees. Asked in the order of the list,
 * which is that of SP-18; what it gave is undone at the agent's end, or when a later step of the start fails.
 */
export interface Contributor {
  readonly name: string;
  /** `place`: before the agent is registered, since it says where the agent works when that is to be a place of its own. */
  readonly stage: "place" | "start";
  contribute(start: AgentStart): Promise<Contribution | undefined>;
}

export interface AgentStart {
  readonly agentId: string;
  readonly definition: AgentDefinition;
  readonly parent: AgentContext;
  readonly description: string;
  readonly prompt: string;
  readonly cwd: string;
  /** It must get a place of its own. */
  readonly isolation?: "worktree";
  /** Of the agent. */
  readonly scope: Scope;
}

export interface Contribution {
  /** Where it works instead. Of the stage `place` only. */
  readonly cwd?: string;
  /** Added to its system prompt. */
  readonly systemPrompt?: string;
  /** Put before its first user turn. */
  readonly context?: readonly Block[];
  /** Merged with its own: they obey `disallowedTools` and deny rules, and an existing name stays (SP-11). */
  readonly tools?: readonly Tool[];
  readonly hooks?: LoopOptions["hooks"];
  /** Folders in which it may read and write without asking. */
  readonly ownFolders?: readonly string[];
  readonly warnings?: readonly string[];
  release?(): void | Promise<void>;
}

/** A way to start something else than a local agent: a teammate, a remote run. The first that matches is taken. */
export interface AgentRoute {
  readonly name: string;
  /** `isolation` of the input is the definition's where the call says nothing. */
  matches(input: AgentInput, parent: AgentContext): boolean;
  start(options: {
    readonly input: AgentInput;
    /** May be started. Absent when the call resumes: then the route itself has to ask whether it may. */
    readonly definition: AgentDefinition | undefined;
    readonly parent: AgentContext;
    readonly toolUseId: string;
    /** Of the call. */
    readonly scope: Scope;
    readonly report: (activity: AgentActivity) => void;
  }): Promise<AgentToolOutput>;
}

/** The MCP servers of the session, as far as agents need them (SP-6). */
export interface ServerPort {
  /** Of these patterns, those that no connected server with tools matches: now, without waiting. */
  missing(patterns: readonly string[]): readonly string[];
  /** The same after servers that still connect were waited for; a failed one ends the wait at once. */
  waitFor(
    patterns: readonly string[],
    options: { timeoutMs: number; scope: Scope },
  ): Promise<readonly string[]>;
}
