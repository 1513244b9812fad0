/** What kind of agent it is (AD-1). Wherever a definition comes from, it ends up as this. */
import type { PermissionMode } from "./permission.ts";

/** From low to high: a later one with the same name replaces an earlier one (AD-5). */
export const agentSources = ["built-in", "plugin", "user", "project", "flag", "policy"] as const;
export type AgentSource = (typeof agentSources)[number];

export interface AgentDefinition {
  /** What `subagent_type` names. */
  readonly agentType: string;
  /** Shown to the model that chooses. */
  readonly whenToUse: string;
  /** Its system prompt. Only built-in and library definitions compute it. */
  readonly prompt: string | ((context: PromptContext) => string);
  /** As written; may carry rules such as `Bash(git diff:*)`. Undefined: all tools. Empty: none. */
  readonly tools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  /** An alias, an id, or `inherit`, as written. */
  readonly model?: string;
  readonly effort?: Effort;
  /** A wish: no definition raises an agent above the session that starts it (SP-13). */
  readonly permissionMode?: PermissionMode;
  /** Always in the background. */
  readonly background?: boolean;
  readonly isolation?: "worktree" | "remote";
  readonly maxTurns?: number;
  readonly budget?: AgentBudget;
  readonly color?: string;
  readonly memory?: "user" | "project" | "local";
  /** Names of configured servers, or servers of its own. */
  readonly mcpServers?: readonly AgentMcpServer[];
  /** Patterns of server names without which it cannot start. */
  readonly requiredMcpServers?: readonly string[];
  /** As written; read by whoever runs hooks. */
  readonly hooks?: Readonly<Record<string, unknown>>;
  readonly skills?: readonly string[];
  /** Put before its first user turn. */
  readonly initialPrompt?: string;
  /** It gets its parent's conversation before its own prompt. */
  readonly forkContext?: boolean;
  /** Repeated to it each turn. */
  readonly criticalReminder?: string;
  /** Fields that nobody here knows, as they were written. */
  readonly unknownFields?: Readonly<Record<string, unknown>>;
  readonly source: AgentSource;
  readonly file?: string;
  readonly plugin?: string;
  /** What only built-in and library definitions can say. */
  readonly traits?: AgentTraits;
  /** Library only: called with the result after the agent ended. */
  readonly onEnd?: (result: AgentReport) => void;
}

export interface AgentTraits {
  /** Asked once and not continued: its result goes without id, hint and usage (AD-10). */
  readonly oneShot?: boolean;
  /** It has these tools, but only for what is known to change nothing. */
  readonly readOnlyTools?: readonly string[];
  /** It does without the project's instruction files and the state of git (SP-17). */
  readonly bareContext?: boolean;
  /** It gets a folder of its own in which it may write without asking. */
  readonly scratchFolder?: boolean;
  /** The tools that it names need no question in the mode `dontAsk`. */
  readonly grantsItsTools?: boolean;
}

export interface PromptContext {
  readonly cwd: string;
  readonly scratchFolder?: string;
  /** The user's own: what the guide must know. */
  readonly agents: readonly { agentType: string; whenToUse: string; source: AgentSource }[];
}

/** A word or the number of thinking tokens. */
export type Effort = "low" | "medium" | "high" | "max" | number;

export interface AgentBudget {
  readonly turns?: number;
  readonly tokens?: number;
  readonly usd?: number;
  readonly minutes?: number;
}

export type AgentMcpServer = string | ({ readonly name: string } & Readonly<Record<string, unknown>>);

/** What is left of an agent that ended. */
export interface AgentReport {
  readonly agentId: string;
  readonly agentType: string;
  readonly status: "completed" | "failed" | "killed";
  readonly text: string;
}

/** What loading found (AD-6). */
export interface LoadedAgents {
  /** After replacement, in a stable order. */
  readonly activeAgents: readonly AgentDefinition[];
  readonly allAgents: readonly ListedAgent[];
  /** What could not be saved. */
  readonly failedFiles: readonly { file: string; line: number; reason: string }[];
  /** What was mended on the way, and what a person should look at. */
  readonly repairs: readonly AgentRepair[];
}

export interface ListedAgent {
  readonly definition: AgentDefinition;
  /** The definition that stands in its place. */
  readonly replacedBy?: AgentDefinition;
}

export interface AgentRepair {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}
