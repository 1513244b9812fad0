/** What an agent's calls are judged by, beside rules and mode (SP-12). */
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { AgentPermissions } from "../tools/tool-context.ts";
import type { SelectedTools } from "./select-tools.ts";

/** Of all agents of one kind: they share the value, and what is derived from it. */
export function permissionsOfKind(
  { tools, traits }: Pick<AgentDefinition, "tools" | "traits">,
  { within, denied }: SelectedTools,
): AgentPermissions | undefined {
  return orNothing({
    ...(within.size > 0 && { within }),
    ...(denied.length > 0 && { denied }),
    ...(traits?.readOnlyTools && { readOnlyTools: new Set(traits.readOnlyTools) }),
    ...(traits?.grantsItsTools && tools && { grantedTools: new Set(tools) }),
  });
}

/** With what is this one agent's. */
export function permissionsOfAgent(
  kind: AgentPermissions | undefined,
  own: {
    ownFolders: readonly string[];
    allowedTools: readonly string[] | undefined;
  },
): AgentPermissions | undefined {
  const { ownFolders, allowedTools } = own;
  if (ownFolders.length === 0 && allowedTools === undefined) return kind;
  return {
    ...kind,
    ...(ownFolders.length > 0 && { ownFolders }),
    ...(allowedTools && { allowInstead: allowedTools }),
  };
}

function orNothing(permissions: AgentPermissions): AgentPermissions | undefined {
  return Object.keys(permissions).length === 0 ? undefined : permissions;
}
