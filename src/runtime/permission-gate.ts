/** Joins the pure judgement with the files it is about, the mode of the moment and the person who can be asked. */
import { dirname, relative, sep } from "node:path";
import { isCancelled, systemCodeOf } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import { decide, type Rules } from "../permissions/decide.ts";
import { resolvePath } from "../toolbox/resolve-path.ts";
import type { Gate } from "../tools/executor.ts";
import type { BoundCall } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { Surface } from "./session.ts";

export function createPermissionGate(options: { rules: Rules; surface: Surface | undefined }): Gate {
  /** Tools that the person allowed for the rest of the session. */
  const granted = new Set<string>();

  return async ({ tool, call, bound, context }) => {
    const facts = {
      toolName: tool.name,
      aliases: tool.aliases,
      isReadOnly: bound.isReadOnly,
      writesInside: await writesInside(bound, context),
    };
    const rules = { deny: options.rules.deny, allow: [...options.rules.allow, ...granted] };
    const own = await bound.checkPermissions(context);
    const decision =
      own !== undefined && own.decision !== "allow"
        ? own
        : decide({ facts, rules, mode: context.agent.mode.current });
    if (decision.decision === "allow") return { allowed: true };
    if (decision.decision === "deny") return { allowed: false, message: `Not allowed: ${decision.reason}.` };

    const ask = options.surface?.askPermission;
    if (!ask) return { allowed: false, message: nobodyToAsk(tool.name, decision.reason) };
    const request = {
      toolName: tool.name,
      toolUseId: call.id,
      input: bound.input,
      reason: decision.reason,
      ...(context.agent.agentId !== undefined && { agentId: context.agent.agentId }),
    };
    const answer = await ask(request, context.signal);
    if (answer.answer === "session") granted.add(tool.name);
    if (answer.answer !== "no") return { allowed: true };
    const words = answer.message ? ` They said: ${answer.message}` : "";
    return { allowed: false, message: `The user did not allow this call.${words}` };
  };
}

function nobodyToAsk(toolName: string, reason: string): string {
  return `Not allowed: ${reason}, and nobody can be asked here. It can be allowed at the start with --allowed-tools ${toolName}.`;
}

/** Whether the file that a call would write is inside a working folder, links of its existing part resolved. */
async function writesInside(bound: BoundCall, context: ToolContext): Promise<boolean | undefined> {
  const path = bound.input.file_path ?? bound.input.notebook_path;
  if (bound.isReadOnly || typeof path !== "string") return undefined;
  const { files } = context.world;
  try {
    const target = await resolveExisting(files, resolvePath(path, context));
    const roots = await Promise.all(context.agent.folder.roots.map((root) => files.realPath(root)));
    return roots.some((root) => isInside(root, target));
  } catch (error) {
    if (isCancelled(error)) throw error;
    return false;
  }
}

async function resolveExisting(files: World["files"], path: string): Promise<string> {
  try {
    return await files.realPath(path);
  } catch (error) {
    const parent = dirname(path);
    if (systemCodeOf(error) !== "ENOENT" || parent === path) throw error;
    return `${await resolveExisting(files, parent)}${sep}${path.slice(parent.length).replace(/^[/\\]/, "")}`;
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`));
}
