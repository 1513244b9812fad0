/** Which tools an agent has, and for what (SP-9). Pure: the same definition and pool give the same list. */
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { PermissionMode } from "../contracts/permission.ts";
import { parseRule } from "../permissions/rule.ts";
import { namesTool } from "../permissions/rule-book.ts";
import type { Tool } from "../tools/tool.ts";

export interface ToolWishes {
  /** All tools there are, in the order in which models see them. */
  readonly pool: readonly Tool[];
  readonly definition: Pick<AgentDefinition, "tools" | "disallowedTools" | "source">;
  readonly isBackground: boolean;
  readonly isTeammate?: boolean;
  /** The agent's own. */
  readonly mode: PermissionMode;
  /** It is above the limit of depth. */
  readonly mayStartAgents: boolean;
  /** There are others whom it could write to. */
  readonly sendMessage: boolean;
  /** Denied as a whole by the rules of the session. */
  readonly isHidden: (toolName: string) => boolean;
}

export interface SelectedTools {
  /** In the order of the pool. */
  readonly tools: Tool[];
  /** By tool name: the rules of which one must cover a call. */
  readonly within: Map<string, string[]>;
  /** Rules of `disallowedTools`: calls that they mean are denied. */
  readonly denied: string[];
  /** The only types of agents it may start. Absent: all, or those that a pattern in `within` means. */
  readonly agentTypes?: string[];
  /** Entries that mean no tool of the pool, as they were written. */
  readonly unknown: string[];
}

export function selectTools(wishes: ToolWishes): SelectedTools {
  const { pool, definition } = wishes;
  const available = pool.filter((tool) => !wishes.isHidden(tool.name) && isForAgents(tool.name, wishes));
  const { taken, denied, unknown } = readDisallowed(definition.disallowedTools ?? [], pool);
  const left = available.filter((tool) => !taken.has(tool));
  const given = definition.tools;
  if (given === undefined || given.some((entry) => entry.trim() === "*"))
    return { tools: left, within: new Map(), denied, unknown };
  const wanted = readWanted(given, pool);
  const tools = left.filter((tool) => wanted.uses.has(tool));
  const within = new Map<string, string[]>();
  for (const tool of tools) {
    const rules = wanted.uses.get(tool);
    if (rules !== undefined && rules !== "any") within.set(tool.name, rules);
  }
  const agentTypes = within.get("Agent")?.map((rule) => rule.slice("Agent(".length, -1));
  return {
    tools,
    within,
    denied,
    ...(agentTypes && !agentTypes.some((type) => type.includes("*")) && { agentTypes }),
    unknown: [...wanted.unknown, ...unknown],
  };
}

/** What belongs to the main conversation. */
const mainOnly = new Set([
  "TaskOutput",
  "TaskStop",
  "AskUserQuestion",
  "EnterPlanMode",
  "TeamCreate",
  "TeamDelete",
]);

const builtInOnly = new Set(["EnterWorktree", "ExitWorktree"]);

const backgroundTools = new Set(
  `Read Write Edit NotebookEdit Glob Grep Bash WebFetch WebSearch TodoWrite Skill StructuredOutput SendMessage
  EnterWorktree ExitWorktree`.split(/\s+/),
);

/** What a teammate has beside them: the shared list of tasks, and agents of its own (SP-3, SP-7). */
const teammateTools = new Set(["TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "Agent"]);

/** The first three steps. Tools of MCP servers pass them. */
function isForAgents(name: string, wishes: ToolWishes): boolean {
  if (name.startsWith("mcp__")) return true;
  const { isTeammate = false } = wishes;
  if (mainOnly.has(name)) return false;
  if (name === "ExitPlanMode" && wishes.mode !== "plan") return false;
  if (name === "SendMessage" && !isTeammate && !wishes.sendMessage) return false;
  if (name === "Agent" && !wishes.mayStartAgents) return false;
  if (wishes.definition.source !== "built-in" && (builtInOnly.has(name) || isScheduling(name))) return false;
  if (!wishes.isBackground) return true;
  return backgroundTools.has(name) || (isTeammate && teammateTools.has(name));
}

/** A fork is in the background. It has its parent's list; Agent itself says why it is not for it. */
export function isForForks(name: string): boolean {
  // The answer of the session is the main agent's to give.
  if (name === "StructuredOutput") return false;
  return name === "Agent" || name === "SendMessage" || backgroundTools.has(name) || name.startsWith("mcp__");
}

function isScheduling(name: string): boolean {
  return /^(Schedule|Cron)(?![a-z])/.test(name);
}

interface Entry {
  readonly name: string;
  /** What stands between the parentheses; undefined: there are none. */
  readonly content: string | undefined;
  readonly isBroken: boolean;
}

function readEntry(text: string): Entry {
  const open = text.indexOf("(");
  if (open < 0) return { name: text.trim(), content: undefined, isBroken: false };
  const name = text.slice(0, open).trim();
  const end = text.trimEnd();
  if (!end.endsWith(")")) return { name, content: undefined, isBroken: true };
  return { name, content: end.slice(open + 1, -1), isBroken: false };
}

/** By names as rules match them: exactly for what gives, in any case for what takes away. */
function toolsNamed(name: string, pool: readonly Tool[], behavior: "allow" | "deny"): Tool[] {
  return pool.filter((tool) => namesOf(tool).some((each) => namesTool(name, each, behavior)));
}

/** People write `bash` and `read`: where nothing has that very name, the case does not count. */
function toolsMeant(name: string, pool: readonly Tool[]): Tool[] {
  const exact = toolsNamed(name, pool, "allow");
  return exact.length > 0 ? exact : toolsNamed(name, pool, "deny");
}

/** `Agent` has been called `Task`, and both are written. */
function namesOf(tool: Tool): string[] {
  return [tool.name, ...tool.aliases, ...(tool.name === "Agent" ? ["Task"] : [])];
}

/** For each tool the rules that give it, or that nothing narrows it. */
type Uses = Map<Tool, string[] | "any">;

function readWanted(entries: readonly string[], pool: readonly Tool[]): { uses: Uses; unknown: string[] } {
  const uses: Uses = new Map();
  const unknown: string[] = [];
  for (const text of entries) {
    const entry = readEntry(text);
    const found = toolsMeant(entry.name, pool).map((tool) => ({ tool, rules: rulesOf(entry, tool) }));
    // What is not understood gives nothing.
    const usable = found.filter(({ rules }) => rules !== "broken");
    if (usable.length === 0) unknown.push(text);
    for (const { tool, rules } of usable) {
      const before = uses.get(tool);
      if (rules === "any" || before === "any") uses.set(tool, "any");
      else if (rules !== "broken") uses.set(tool, [...(before ?? []), ...rules]);
    }
  }
  return { uses, unknown };
}

function readDisallowed(
  entries: readonly string[],
  pool: readonly Tool[],
): { taken: Set<Tool>; denied: string[]; unknown: string[] } {
  const taken = new Set<Tool>();
  const denied: string[] = [];
  const unknown: string[] = [];
  for (const text of entries) {
    const entry = readEntry(text);
    const found = toolsNamed(entry.name, pool, "deny");
    if (found.length === 0 && !isKnownName(entry.name)) unknown.push(text);
    for (const tool of found) {
      const rules = rulesOf(entry, tool);
      // What is not understood takes all away rather than nothing.
      if (rules === "any" || rules === "broken") taken.add(tool);
      else denied.push(...rules);
    }
  }
  return { taken, denied, unknown };
}

/** The entry as rules of the permission engine, under the tool's own name. */
function rulesOf({ content, isBroken }: Entry, tool: Tool): string[] | "any" | "broken" {
  if (isBroken) return "broken";
  if (content === undefined) return "any";
  const contents = tool.name === "Agent" ? content.split(",").map((type) => type.trim()) : [content];
  const rules = contents.filter((each) => each !== "" || contents.length === 1);
  const parsed = rules.map((each) =>
    parseRule(`${tool.name}(${each})`, { source: "agent", ignoreCase: false }),
  );
  if (parsed.some((each) => !("rule" in each))) return "broken";
  if (parsed.some((each) => "rule" in each && each.rule.content === undefined)) return "any";
  return rules.map((each) => `${tool.name}(${each})`);
}

/** A tool that another session would have is no mistake in a list of what an agent must not have. */
function isKnownName(name: string): boolean {
  const known = [
    ...mainOnly,
    ...builtInOnly,
    ...backgroundTools,
    ...teammateTools,
    "ExitPlanMode",
    "Task",
    "KillShell",
  ];
  return (
    name === "*" ||
    name.startsWith("mcp__") ||
    known.some((each) => each.toLowerCase() === name.toLowerCase())
  );
}
