/** Whether a call of a tool for files may run: all files that it names must be allowed, and one denied denies it. */
import type { PermissionDecision, PermissionMode } from "../contracts/permission.ts";
import type { PathSurroundings } from "./inspect-path.ts";
import { factsOf, type PathUse, permissionFor, restrictionOn } from "./path-access.ts";
import type { FileTool } from "./tool-kinds.ts";

export async function judgeFile(options: {
  fileTool: FileTool;
  toolName: string;
  input: Readonly<Record<string, unknown>>;
  mode: PermissionMode;
  surroundings: PathSurroundings;
  /** Where relative paths start. */
  current: string;
}): Promise<PermissionDecision> {
  const { fileTool, toolName, mode, surroundings } = options;
  const paths = fileTool.pathsOf(options.input);
  if (paths === undefined || paths.includes(""))
    return { decision: "ask", reason: `which file ${toolName} is about is not known` };
  const judged = await Promise.all(
    paths.map(async (path) => {
      const use: PathUse = { path, folder: options.current, access: fileTool.access, tool: toolName };
      const facts = await factsOf(surroundings, use);
      const decision = restrictionOn(facts, use, mode) ?? permissionFor(facts, use, mode);
      const part = decision.part === undefined ? facts.path : decision.part;
      return { decision: { ...decision, part }, real: facts.real };
    }),
  );
  const decisions = judged.map(({ decision }) => decision);
  const strictest =
    decisions.find((each) => each.decision === "deny") ??
    decisions.find((each) => each.protected) ??
    decisions.find((each) => each.decision === "ask") ??
    decisions[0];
  if (strictest === undefined)
    return { decision: "ask", reason: `which file ${toolName} is about is not known` };
  const targets = judged.flatMap(({ real }) => (real === undefined ? [] : [real]));
  return targets.length < judged.length ? strictest : { ...strictest, targets };
}
