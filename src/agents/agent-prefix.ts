/** What stands before the messages of an agent: its system prompt and its tools, rendered once (SP-9, SP-17). */
import { neutralizeTags } from "../base/markup.ts";
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { RunSource } from "../contracts/event.ts";
import type { PermissionMode } from "../contracts/permission.ts";
import type { Prefix } from "../loop/request.ts";
import { describeTool, type Tool } from "../tools/tool.ts";
import type { AgentPermissions, WorkingFolder } from "../tools/tool-context.ts";
import type { AgentHost, Contribution } from "./agent-host.ts";
import { permissionsOfKind } from "./agent-permissions.ts";
import { createBranchReader, describeEnvironment, today } from "./environment.ts";
import { selectTools } from "./select-tools.ts";

export interface PreparedPrefix {
  readonly prefix: Prefix;
  readonly tools: readonly Tool[];
  /** What follows from its definition. */
  readonly permissions: AgentPermissions | undefined;
  readonly source: RunSource;
  /** What of its definition, and of what was contributed, could not be followed. */
  readonly warnings: readonly string[];
}

export interface PrefixWish {
  readonly definition: AgentDefinition;
  readonly folder: Pick<WorkingFolder, "current" | "roots">;
  readonly mode: PermissionMode;
  readonly isBackground: boolean;
  /** There are others whom it could write to. */
  readonly sendMessage: boolean;
  readonly mayStartAgents: boolean;
  readonly scratchFolder: string | undefined;
  readonly contributions: readonly Contribution[];
}

type PrefixHost = Pick<AgentHost, "world" | "tools" | "isHidden" | "definitions">;

/** Siblings of one kind share one value: its bytes are then equal, and so is what was derived from it. */
export function createPrefixes(host: PrefixHost): (wish: PrefixWish) => Promise<PreparedPrefix> {
  const branchAt = createBranchReader(host.world);
  let known = new WeakMap<AgentDefinition, Map<string, PreparedPrefix>>();
  let pool: readonly Tool[] = [];

  return async (wish) => {
    const { definition } = wish;
    const branch = definition.traits?.bareContext ? undefined : await branchAt(wish.folder.current);
    renewPool();
    if (!isPlain(wish)) return await prepare(host, { wish, pool, branch });
    const kept = keptFor(definition);
    const key = keyOf(wish, [branch, today(host.world.clock)]);
    const before = kept.get(key);
    if (before !== undefined) return before;
    const prepared = await prepare(host, { wish, pool, branch });
    kept.set(key, prepared);
    return prepared;
  };

  /** What was made of other tools is void. */
  function renewPool(): void {
    const now = host.tools();
    if (now.length === pool.length && now.every((tool, index) => tool === pool[index])) return;
    pool = now;
    known = new WeakMap();
  }

  function keptFor(definition: AgentDefinition): Map<string, PreparedPrefix> {
    const before = known.get(definition);
    if (before !== undefined && before.size < mostKept) return before;
    const kept = new Map<string, PreparedPrefix>();
    known.set(definition, kept);
    return kept;
  }
}

const mostKept = 32;

/** Nothing in it is this one agent's. */
function isPlain({ contributions, scratchFolder, definition }: PrefixWish): boolean {
  return contributions.length === 0 && scratchFolder === undefined && typeof definition.prompt === "string";
}

function keyOf(wish: PrefixWish, facts: readonly (string | undefined)[]): string {
  const { folder, mode, isBackground, sendMessage, mayStartAgents } = wish;
  const kind = [mode === "plan", isBackground, sendMessage, mayStartAgents];
  return JSON.stringify([folder.current, folder.roots, kind, facts]);
}

async function prepare(
  host: PrefixHost,
  options: { wish: PrefixWish; pool: readonly Tool[]; branch: string | undefined },
): Promise<PreparedPrefix> {
  const { wish, pool, branch } = options;
  const { definition, contributions } = wish;
  const select = (from: readonly Tool[], of: AgentDefinition) =>
    selectTools({ ...wish, pool: from, definition: of, isHidden: host.isHidden });
  const selection = select(pool, definition);
  // Contributed tools need not stand in `tools`, but obey all else (SP-11).
  const contributed = contributions.flatMap((each) => each.tools ?? []);
  const { tools: _, ...unrestricted } = definition;
  const added = contributed.length === 0 ? [] : select(contributed, unrestricted).tools;
  const { tools, warnings } = merged(selection.tools, added);
  const system = [
    await promptOf(wish, host),
    describeEnvironment({ ...wish, world: host.world, ...(branch !== undefined && { branch }) }),
    ...contributions.flatMap(({ systemPrompt }) => (systemPrompt ? [systemPrompt] : [])),
  ];
  return {
    prefix: { system: system.filter((part) => part !== "").join("\n\n"), tools: tools.map(describeTool) },
    tools,
    permissions: permissionsOfKind(definition, selection),
    source: { kind: "agent", agentType: definition.agentType },
    warnings: [
      ...unknownTools(selection.unknown),
      ...warnings,
      ...contributions.flatMap((each) => each.warnings ?? []),
    ],
  };
}

/** What a file says is its author's word: it cannot speak as the runtime. */
async function promptOf(
  { definition, folder, scratchFolder }: PrefixWish,
  host: Pick<AgentHost, "definitions">,
): Promise<string> {
  if (typeof definition.prompt === "string") return neutralizeTags(definition.prompt.trim());
  const { activeAgents } = await host.definitions.load();
  const context = { cwd: folder.current, agents: activeAgents };
  return definition.prompt({ ...context, ...(scratchFolder !== undefined && { scratchFolder }) }).trim();
}

function merged(
  own: readonly Tool[],
  added: readonly Tool[],
): { tools: readonly Tool[]; warnings: string[] } {
  const tools = [...own];
  const warnings: string[] = [];
  for (const tool of added) {
    if (tools.some(({ name }) => name === tool.name))
      warnings.push(`a tool named ${tool.name} exists already; the one that was to be added was left out`);
    else tools.push(tool);
  }
  return { tools, warnings };
}

function unknownTools(unknown: readonly string[]): string[] {
  return unknown.length === 0 ? [] : [`unknown tools in its definition: ${unknown.join(", ")}`];
}
