/** What the calls of one agent are judged by, beside the mode and the rules of the session (SP-9, SP-12). */
import type { PermissionDecision } from "../contracts/permission.ts";
import { findUncovered } from "./allowing-rule.ts";
import type { PathSurroundings } from "./inspect-path.ts";
import { meansCall } from "./judge-tool.ts";
import { factsOf } from "./path-access.ts";
import type { RuleBook } from "./rule-book.ts";
import { takeApart } from "./take-apart.ts";
import { fileToolOf } from "./tool-kinds.ts";

export interface AgentLimits {
  /** By tool name: only calls that one of these rules covers. They grant nothing. */
  readonly within?: ReadonlyMap<string, readonly string[]>;
  /** Calls that one of these rules means are denied. */
  readonly denied?: readonly string[];
  /** Tools that it has only for what is known to change nothing. */
  readonly readOnlyTools?: ReadonlySet<string>;
  /** Folders in which it reads and writes without asking; in plan mode it only reads there, too. */
  readonly ownFolders?: readonly string[];
  /** Tools that need no question in the mode `dontAsk`. Which files and commands is judged all the same. */
  readonly grantedTools?: ReadonlySet<string>;
}

export interface LimitedCall {
  readonly toolName: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The tool's name and its other names. */
  readonly names: ReadonlySet<string>;
  /** Where relative paths start. */
  readonly current: string;
}

/** The rules to which one of the names is narrowed; undefined when nothing narrows it. */
export function narrowingOf(
  limits: AgentLimits | undefined,
  names: ReadonlySet<string>,
): readonly string[] | undefined {
  if (limits?.within === undefined) return undefined;
  for (const name of names) {
    const rules = limits.within.get(name);
    if (rules !== undefined) return rules;
  }
  return undefined;
}

/** A denial when none of the rules covers the call, also where it only reads. */
export async function judgeNarrowing(
  call: LimitedCall,
  rules: readonly string[],
  surroundings: PathSurroundings,
): Promise<PermissionDecision | undefined> {
  const part = await findOutside(call, surroundings);
  if (part === undefined) return undefined;
  const about = part === "" ? "this call" : `"${part}"`;
  return {
    decision: "deny",
    reason: `this agent has ${call.toolName} only for ${rules.join(", ")}, and ${about} is not covered by that`,
    ...(part !== "" && { part }),
  };
}

/** The piece of the call that no rule of the book covers, empty when there is no word for it. */
async function findOutside(call: LimitedCall, surroundings: PathSurroundings): Promise<string | undefined> {
  const { toolName, input, names, current } = call;
  const { book, homeFolder } = surroundings;
  const rules = book.rulesFor("allow", names);
  if (rules.some((rule) => rule.content === undefined)) return undefined;
  if (toolName === "Bash") {
    if (typeof input.command !== "string") return "";
    return findUncovered(input.command, takeApart(input.command, { folder: current, homeFolder }), rules);
  }
  const fileTool = fileToolOf(toolName);
  if (fileTool === undefined) return rules.some((rule) => meansCall(rule, call) === "yes") ? undefined : "";
  const paths = fileTool.pathsOf(input);
  if (paths === undefined || paths.length === 0) return "";
  for (const path of paths) {
    const use = { path, folder: current, access: fileTool.access, tool: toolName };
    if ((await factsOf(surroundings, use)).allow === undefined) return path;
  }
  return undefined;
}

/** Whether an agent of this type may be started: what `decide` would say, for lists of what there is. */
export function mayStart(
  agentType: string,
  rules: { book: RuleBook; narrowing: RuleBook | undefined },
): boolean {
  const names = new Set(["Agent"]);
  const call = { toolName: "Agent", input: { subagent_type: agentType } };
  if (rules.book.rulesFor("deny", names).some((rule) => meansCall(rule, call) === "yes")) return false;
  const { narrowing } = rules;
  return (
    narrowing === undefined ||
    narrowing.rulesFor("allow", names).some((rule) => meansCall(rule, call) === "yes")
  );
}
