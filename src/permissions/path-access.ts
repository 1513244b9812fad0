/** Whether one file may be read or written, for the file tools and for what shell commands touch. */
import type { PermissionDecision, PermissionMode } from "../contracts/permission.ts";
import { inspectPath, type PathFacts, type PathSurroundings } from "./inspect-path.ts";
import type { Behavior } from "./rule.ts";
import { citeRule } from "./rule-book.ts";

/** How a refusal of plan mode begins. */
export const onlyReads = "plan mode only reads";

export interface PathUse {
  readonly path: string;
  readonly folder: string;
  readonly access: "read" | "write";
  /** The tool that asks; undefined for a shell command. */
  readonly tool: string | undefined;
}

type Tools = Readonly<Record<Behavior, ReadonlySet<string>>>;

/** A rule for Edit is about every way to change a file, one for Read about every way to see into it. */
const writers = new Set(["edit", "write", "notebookedit", "multiedit"]);
const editing = new Set(["Edit", "NotebookEdit", "MultiEdit"]);

function toolsFor({ access, tool }: PathUse): Tools {
  if (access === "read") {
    const names = new Set(["Read", ...(tool === undefined ? [] : [tool])]);
    return { allow: names, ask: names, deny: names };
  }
  const names = tool === undefined ? new Set(["Edit", "Write"]) : new Set(["Edit", tool]);
  // To edit is to see what was there.
  const strict = tool !== undefined && editing.has(tool) ? new Set([...names, "Read"]) : names;
  return { allow: names, ask: strict, deny: strict };
}

export async function factsOf(surroundings: PathSurroundings, use: PathUse): Promise<PathFacts> {
  return await inspectPath(surroundings, {
    path: use.path,
    folder: use.folder,
    physical: use.tool === undefined,
    changes: use.access === "write",
    tools: toolsFor(use),
    // `Read` alone names the tool; `Edit` alone means changing files in any way.
    wholeToolCounts: (rule) =>
      rule.tool === "*" ||
      rule.tool.toLowerCase() === use.tool?.toLowerCase() ||
      (use.access === "write" && writers.has(rule.tool.toLowerCase())),
  });
}

/** What stands whatever the mode allows; undefined when nothing does. */
export function restrictionOn(
  facts: PathFacts,
  use: PathUse,
  mode: PermissionMode,
): PermissionDecision | undefined {
  const part = use.path;
  const doing = use.access === "read" ? "reading" : "writing";
  if (use.path.includes("\0"))
    return {
      decision: "deny",
      reason: "the path contains a NUL character, which no file name can have",
      part,
    };
  if (facts.deny !== undefined)
    return {
      decision: "deny",
      reason: `${doing} ${part} is denied by the ${facts.deny.source} rule ${facts.deny.text}`,
      part,
      ...citeRule(facts.deny),
    };
  if (use.access === "write" && mode === "plan")
    return { decision: "deny", reason: `${onlyReads}, and this writes ${part}`, part };
  // A link to nowhere may lead to a protected file by the time it is written.
  if (use.access === "write" && !facts.resolved)
    return {
      decision: "ask",
      reason: `where ${part} leads to can not be known, so that writing it is always asked`,
      part,
      protected: true,
    };
  if (use.access === "write" && facts.isProtected)
    return {
      decision: "ask",
      reason: `${part} controls the agent or the machine, so that writing it is always asked`,
      part,
      protected: true,
    };
  if (facts.ask !== undefined && mode !== "bypassPermissions")
    return {
      decision: "ask",
      reason: `${doing} ${part} is to be asked by the ${facts.ask.source} rule ${facts.ask.text}`,
      part,
      ...citeRule(facts.ask),
    };
  return undefined;
}

/** Whether it goes on without a question, given that nothing restricts it. */
export function permissionFor(facts: PathFacts, use: PathUse, mode: PermissionMode): PermissionDecision {
  const part = use.path;
  if (mode === "bypassPermissions") return { decision: "allow", reason: "permissions are bypassed" };
  if (use.access === "read") {
    if (facts.inside) return { decision: "allow", reason: "it only reads inside the working folders" };
    if (facts.ofSession) return { decision: "allow", reason: "it reads the session's own files" };
  }
  if (facts.own === "content" || (facts.own === "folder" && use.access === "read"))
    return { decision: "allow", reason: "it stays in a folder of the agent's own" };
  if (facts.allow !== undefined)
    return {
      decision: "allow",
      reason: `allowed by the ${facts.allow.source} rule ${facts.allow.text}`,
      ...citeRule(facts.allow),
    };
  if (use.access === "write" && mode === "acceptEdits" && facts.inside && !facts.isRoot)
    return { decision: "allow", reason: "edits inside the working folders are accepted in this mode" };
  if (!facts.resolved) return { decision: "ask", reason: `where ${part} leads to can not be known`, part };
  const doing = use.access === "read" ? "reads" : "writes";
  return facts.inside
    ? { decision: "ask", reason: `it ${doing} ${part} and no rule allows that`, part }
    : { decision: "ask", reason: `it ${doing} ${part}, which is outside the working folders`, part };
}
