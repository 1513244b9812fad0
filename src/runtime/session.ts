/**
 * runtime/ owns the composition: it closes the circle of which the lower folders are parts. This file is
 * what surfaces and the library see of a session.
 */
import type { AgentRoute, Contributor, ServerPort } from "../agents/agent-host.ts";
import type { World } from "../base/world.ts";
import type { ForkedCommand, ForkedCommandEnd, ForkedCommandOptions } from "../commands/run-forked.ts";
import type { LoadedSource } from "../config/settings.ts";
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { BackgroundActivity, LoopEnd, LoopEvent } from "../contracts/event.ts";
import type { Block, Message } from "../contracts/message.ts";
import type { PermissionMode } from "../contracts/permission.ts";
import type { Settings } from "../contracts/settings.ts";
import type { Usage } from "../contracts/usage.ts";
import type { Model } from "../model/model.ts";
import type { Questions } from "../permissions/broker.ts";
import type { ServiceCost } from "../services/service-host.ts";
import type { TaskRegistry } from "../tasks/registry.ts";
import type { AskUser } from "../toolbox/ask-user-question.ts";
import type { ApprovePlan } from "../toolbox/plan-mode.ts";
import type { Tool } from "../tools/tool.ts";
import type { DecisionRecord } from "../transcript/record.ts";
import type { RestoredSession } from "./restore-session.ts";

export interface SessionOptions {
  readonly world: World;
  /** Absolute. */
  readonly cwd: string;
  readonly additionalFolders?: readonly string[];
  readonly model: Model;
  readonly settings: Settings;
  /** In place of the built-in one. */
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  /** Beside the built-in ones; a name that exists replaces the built-in tool. */
  readonly tools?: readonly Tool[];
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly permissionMode?: PermissionMode;
  /** Without it `bypassPermissions` is refused, wherever it comes from. */
  readonly dangerouslySkipPermissions?: boolean;
  /** Of the main agent, per run. Those of all agents are limited by the setting `budgets.session.turns`. */
  readonly maxTurns?: number;
  /** Of all agents together. */
  readonly maxCostUsd?: number;
  readonly maxTokens?: number;
  /** From the moment the session is made. */
  readonly maxMinutes?: number;
  /** A UUID; default: a new one. */
  readonly sessionId?: string;
  /** It goes on instead of beginning. */
  readonly restored?: RestoredSession;
  /** Definitions of agents by name, as in the settings. */
  readonly agents?: Readonly<Record<string, unknown>>;
  /** The settings one by one: a definition of one source replaces another's, and is never mixed with it. */
  readonly settingsSources?: readonly LoadedSource[];
  /** Of plugins, beside those of the settings. Absolute. */
  readonly pluginFolders?: readonly string[];
  /** The same from a program: these may compute their prompt. */
  readonly agentDefinitions?: readonly AgentDefinition[];
  /** Other models than its own, for agents, by id or alias. Default: there are none, and agents have that of the session. */
  readonly modelNamed?: (name: string) => Promise<Model>;
  /** What is added to the start of every agent. */
  readonly contributors?: readonly Contributor[];
  /** Ways to start something else than a local agent. */
  readonly routes?: readonly AgentRoute[];
  /** The MCP servers there are, for agents that need some. Default: there are none. */
  readonly servers?: ServerPort;
  /** Something went wrong that nobody waits for: in words for a person. */
  readonly onProblem?: (message: string) => void;
  /** The final answer must fit this JSON schema. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** False: no transcript is written, and nothing can be resumed. */
  readonly keepTranscript?: boolean;
  /** How long a permission question waits before it counts as refused. Default: as long as it takes. */
  readonly permissionTimeoutMs?: number;
  /** Absent: nobody can be asked. */
  readonly surface?: Surface;
  /** A person follows it as it happens. */
  readonly isWatched?: boolean;
}

/**
 * Who can be asked. What is missing is answered with a refusal that says so. Questions of permission are not
 * among these: several surfaces can show them, see `Session.permissions`.
 */
export interface Surface {
  askQuestions?: AskUser;
  approvePlan?: ApprovePlan;
  /** What the user may want next, to be offered until they say something. Absent: none is made. */
  onSuggestion?: (text: string) => void;
}

/** The permission questions of all agents of a session. Without a subscriber, what would ask is denied. */
export interface SessionPermissions extends Questions {
  /** The latest ones, oldest first; the transcript has all. What was allowed because it only reads is not among them. */
  readonly decisions: readonly DecisionRecord[];
  /** Rules that are not understood, in words for a person. */
  readonly warnings: readonly string[];
}

export interface Session {
  readonly id: string;
  /** Undefined when nothing is kept. */
  readonly transcriptPath: string | undefined;
  readonly cwd: string;
  readonly toolNames: readonly string[];
  /** Of the agents that can be started. */
  readonly agentNames: readonly string[];
  readonly modelId: string;
  readonly permissionMode: PermissionMode;
  readonly permissions: SessionPermissions;
  /** What goes on beside its turns; every agent that runs is among them. */
  readonly tasks: Pick<TaskRegistry, "get" | "list" | "stop" | "stopAll" | "toBackground" | "onChange">;
  /** What agents in the background do. Those in the foreground tell it in the events of the run. */
  onActivity(listener: (activity: BackgroundActivity) => void): () => void;
  /** What a task has written or done so far; of much the end. Throws `task-unknown`. */
  taskOutput(taskId: string, options?: { maxBytes?: number }): Promise<TaskText>;
  /**
   * True as soon as something waits for the main agent: `submit()` runs it. False when nothing does and nothing in the
   * background is left that could bring something. Rejects with the signal's `CancelledError`.
   */
  nextWork(signal?: AbortSignal): Promise<boolean>;
  /** Something from elsewhere for the main agent, marked as not from the user. Resolves when it can no longer be lost. */
  deliver(message: { readonly from: string; readonly id?: string; readonly text: string }): Promise<void>;
  readonly messages: readonly Message[];
  /** Of all runs so far. */
  readonly totals: {
    readonly usage: Usage;
    readonly usageByModel: Readonly<Record<string, Usage>>;
    readonly costUsd: number | undefined;
  };
  /** Looks at what it will offer, so that `agentNames` tells. A run does so by itself. */
  prepare(): Promise<void>;
  /**
   * Runs one prompt, and what waits in the queue, to its end: events as they happen, at last how it ended.
   * Without a prompt it runs what waits. One at a time.
   */
  submit(content?: string | Block[]): AsyncGenerator<LoopEvent, RunResult, undefined>;
  /**
   * Replaces the conversation by a summary and what is still going on; `instructions` say what matters. Only when no run
   * goes on. What does not succeed leaves the conversation as it was, and the result says why.
   */
  compact(instructions?: string, onEvent?: (event: LoopEvent) => void): Promise<CompactionResult>;
  /** Input while a run goes on: reaches the model between tool rounds. Resolves when it can no longer be lost. */
  enqueue(text: string): Promise<void>;
  /** Lets other processes of the same user reach it. The first task in the background does so, too. Never rejects. */
  listen(): Promise<void>;
  /** Called when something for the main agent is in the queue, from whoever it came. */
  onQueued(listener: () => void): () => void;
  /** How much was queued and no run has taken yet. */
  readonly queued: number;
  /**
   * Answers from what the conversation knows, without entering it, also while a run goes on. Rejects with a `CadreError`
   * that says why there is no answer.
   */
  askAside(question: string, signal?: AbortSignal): Promise<string>;
  /** Somebody looks at the running agents: until the returned function is called, `progress.summary` tells what they do. */
  watchAgents(): () => void;
  /** What the runtime's own services have used, each by itself; `totals` has it, too. */
  readonly serviceCosts: readonly ServiceCost[];
  /** Ends the present run as soon as what may not be cut off is done. Does nothing when idle. */
  interrupt(): void;
  setPermissionMode(mode: PermissionMode): void;
  /**
   * Runs a command in an agent of its own, beside a run as well. What it comes to is part of the conversation, and starts
   * no run; during one, the model hears of it at its next step. Rejects with a `CadreError` if it could not be started.
   */
  runCommand(command: ForkedCommand, options?: RunCommandOptions): Promise<ForkedCommandEnd>;
  /**
   * A copy of the conversation as it stands, under an id of its own, to be gone on with by `restoreSession`. What is at
   * work stays here. Rejects with a `CadreError`: nothing is kept, or nothing was said yet.
   */
  branch(): Promise<{ readonly id: string }>;
  /** Stops the present run at once, makes everything durable and lets go of files. */
  close(): Promise<void>;
}

/** `forgotten`: started, and what it comes to is a prompt of its own in the queue. Default: `foreground`. */
export type RunCommandOptions = Partial<Pick<ForkedCommandOptions, "mode" | "signal" | "onEvent">>;

export interface TaskText {
  readonly text: string;
  readonly totalBytes: number;
  /** Its beginning is left out. */
  readonly truncated: boolean;
}

export interface CompactionResult {
  readonly ok: boolean;
  /** What stood before the model until then, as far as one can tell. */
  readonly promptTokensBefore: number;
  readonly problem?: string;
  /** Of the summary. */
  readonly usage: Usage;
  readonly costUsd: number | undefined;
}

export interface RunResult {
  readonly end: LoopEnd;
  /** The text of the last assistant message that has one. */
  readonly text: string;
  readonly turns: number;
  readonly usage: Usage;
  readonly usageByModel: Readonly<Record<string, Usage>>;
  /** Undefined when a model with an unknown price was used. */
  readonly costUsd: number | undefined;
  readonly durationMs: number;
  readonly apiDurationMs: number;
  readonly permissionDenials: readonly { toolName: string; toolUseId: string; input: unknown }[];
  readonly structuredOutput?: unknown;
}
