import type { Scope } from "../base/cancellation.ts";
import type { Redactor } from "../base/secrets.ts";
import type { World } from "../base/world.ts";
import type { RunSource, ToolProgress } from "../contracts/event.ts";
import type { PermissionMode } from "../contracts/permission.ts";
import type { FileReads } from "./file-reads.ts";
import type { ResultStore } from "./result-store.ts";
import type { ToolOutcome } from "./tool-outcome.ts";

/** What a call is given. It reaches the outside only through `world` and stops when `signal` fires. */
export interface ToolContext extends CallDetails {
  readonly world: World;
  readonly signal: AbortSignal;
  /** The same as `signal`, for whoever starts something below this call. */
  readonly scope: Scope;
  readonly toolUseId: string;
  readonly agent: AgentScope;
}

/** What is known of a call only when it runs. */
export interface CallDetails {
  /** Tells what happens meanwhile. Absent: nobody listens. */
  readonly report?: ((progress: ToolProgress) => void) | undefined;
  /**
   * Where the paths in the input led, links resolved, when the call was judged. A tool that opens or writes a file
   * makes sure that it is one of these: a link may have been exchanged since (PE-4).
   */
  readonly judgedTargets?: readonly string[] | undefined;
  /** Lets the call be answered while what it does goes on as a task. Absent: whoever calls waits to the end. */
  readonly early?: EarlyAnswer | undefined;
}

/** The first answer counts; the promise of the call is of no interest after that. */
export interface EarlyAnswer {
  answer(outcome: ToolOutcome): void;
}

export function createToolContext(call: Omit<ToolContext, "signal">): ToolContext {
  return new CallContext(call);
}

/** A class, so that a signal is made only for tools that use it. */
class CallContext implements ToolContext {
  readonly world: World;
  readonly scope: Scope;
  readonly toolUseId: string;
  readonly agent: AgentScope;
  readonly report: CallDetails["report"];
  readonly judgedTargets: CallDetails["judgedTargets"];
  readonly early: CallDetails["early"];

  constructor(call: Omit<ToolContext, "signal">) {
    this.world = call.world;
    this.scope = call.scope;
    this.toolUseId = call.toolUseId;
    this.agent = call.agent;
    this.report = call.report;
    this.judgedTargets = call.judgedTargets;
    this.early = call.early;
  }

  get signal(): AbortSignal {
    return this.scope.signal;
  }
}

/** What belongs to one agent and to no other (SP-16). Built in one place, by whoever starts the agent. */
export interface AgentScope {
  readonly sessionId: string;
  /** Absent for the main agent. */
  readonly agentId?: string;
  readonly source: RunSource;
  /** Where the agent works: its shell may move `current`, the roots stay. */
  readonly folder: WorkingFolder;
  /** Whether no rule keeps this file from being read: asked by tools that come across many. Absent: none does. */
  readonly mayRead?: (path: string, agent: AgentScope) => Promise<boolean>;
  readonly fileReads: FileReads;
  readonly results: ResultStore;
  readonly todos: TodoList;
  readonly mode: ModeSwitch;
  /** What else its calls are judged by, beside rules and mode. Absent: nothing. */
  readonly permissions?: AgentPermissions;
  /** The environment of child processes: secrets of the runtime are already taken out. */
  readonly toolEnv: Readonly<Record<string, string | undefined>>;
  /** Takes the runtime's secrets out of what tools answer. Absent: there are none. */
  readonly redactor?: Redactor;
}

/** Of an agent that was started by another. Nothing here raises it above its parent. */
export interface AgentPermissions {
  /** By tool name: only calls that one of these rules covers (`Bash(git diff:*)` in its list of tools). */
  readonly within?: ReadonlyMap<string, readonly string[]>;
  /** Rules in its `disallowedTools` that name less than a whole tool. */
  readonly denied?: readonly string[];
  /** Tools that it has only for what is known to change nothing. */
  readonly readOnlyTools?: ReadonlySet<string>;
  /** Tools that stand in its list and are not for it: a fork has the list of its parent (FK-5). */
  readonly refusedTools?: ReadonlySet<string>;
  /** Folders in which it may read and write without asking: its scratch folder, its memory. */
  readonly ownFolders?: readonly string[];
  /** Stand instead of the allow rules that it would inherit (SP-15). */
  readonly allowInstead?: readonly string[];
  /** Tools that need no question in the mode `dontAsk`: those that a built-in definition names. */
  readonly grantedTools?: ReadonlySet<string>;
}

export interface WorkingFolder {
  /** The folder the agent was started in. Absolute. */
  readonly root: string;
  /** `root` and the additional folders. Absolute. */
  readonly roots: readonly string[];
  /** Where relative paths start and where the next shell command runs. */
  current: string;
}

export interface ModeSwitch {
  current: PermissionMode;
}

export interface TodoItem {
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly activeForm: string;
}

export interface TodoList {
  items: readonly TodoItem[];
}
