/** What stands before the messages of an agent: its system prompt and its tools, rendered once (SP-9, SP-17). */
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { PermissionMode } from "../contracts/permission.ts";
import type { Prefix } from "../loop/request.ts";
import { describeTool, type Tool } from "../tools/tool.ts";
import type { AgentHost, Contribution } from "./agent-host.ts";
import { createBranchReader, describeEnvironment, today } from "./environment.ts";
import { type SelectedTools, selectTools } from "./select-tools.ts";

export interface PreparedPrefix {
  readonly prefix: Prefix;
  readonly tools: readonly Tool[];
  readonly selection: SelectedTools;
  /** Of the merge with tools that were contributed. */
  readonly warnings: readonly string[];
}

export interface PrefixWish {
  readonly definition: AgentDefinition;
  readonly cwd: string;
  readonly additionalFolders: readonly string[];
  readonly mode: PermissionMode;
  readonly isBackground: boolean;
  readonly mayStartAgents: boolean;
  readonly scratchFolder: string | undefined;
  readonly contributions: readonly Contribution[];
}

/** Siblings of one kind share one value: its bytes are then equal, and so is what was derived from it. */
export function createPrefixes(
  host: Pick<AgentHost, "world" | "tools" | "isHidden" | "definitions">,
): (wish: PrefixWish) => Promise<PreparedPrefix> {
  const branchAt = createBranchReader(host.world);
  const known = new WeakMap<AgentDefinition, Map<string, PreparedPrefix>>();

  return async (wish) => {
    const { definition } = wish;
    const branch = definition.traits?.bareContext ? undefined : await branchAt(wish.cwd);
    const isPlain =
      wish.contributions.length === 0 &&
      wish.scratchFolder === undefined &&
      typeof definition.prompt === "string";
    if (!isPlain) return await prepare(wish, branch);
    const key = JSON.stringify([
      wish.cwd,
      wish.additionalFolders,
      wish.mode === "plan",
      wish.isBackground,
      wish.mayStartAgents,
      branch,
      today(host.world.clock),
    ]);
    let ofDefinition = known.get(definition);
    if (ofDefinition === undefined || ofDefinition.size > mostKept) {
      ofDefinition = new Map();
      known.set(definition, ofDefinition);
    }
    let prepared = ofDefinition.get(key);
    if (prepared === undefined) {
      prepared = await prepare(wish, branch);
      ofDefinition.set(key, prepared);
    }
    return prepared;
  };

  async function prepare(wish: PrefixWish, branch: string | undefined): Promise<PreparedPrefix> {
    const { definition, contributions } = wish;
    const select = (pool: readonly Tool[], of: AgentDefinition) =>
      selectTools({ ...wish, pool, definition: of, sendMessage: false, isHidden: host.isHidden });
    const selection = select(host.tools(), definition);
    // Contributed tools need not stand in `tools`, but obey all else (SP-11).
    const contributed = contributions.flatMap((each) => each.tools ?? []);
    const { tools: _, ...unrestricted } = definition;
    const added = contributed.length === 0 ? [] : select(contributed, unrestricted).tools;
    const { tools, warnings } = merged(selection.tools, added);
    const system = [
      await promptOf(wish, host),
      describeEnvironment({ ...wish, world: host.world, ...(branch !== undefined && { branch }) }),
      ...contributions.flatMap(({ systemPrompt }) => (systemPrompt ? [systemPrompt] : [])),
    ]
      .filter((part) => part !== "")
      .join("\n\n");
    const unknown =
      selection.unknown.length === 0
        ? []
        : [`unknown tools in its definition: ${selection.unknown.join(", ")}`];
    return {
      prefix: { system, tools: tools.map(describeTool) },
      tools,
      selection,
      warnings: [...unknown, ...warnings, ...contributions.flatMap((each) => each.warnings ?? [])],
    };
  }
}

const mostKept = 32;

async function promptOf(
  { definition, cwd, scratchFolder }: PrefixWish,
  host: Pick<AgentHost, "definitions">,
): Promise<string> {
  if (typeof definition.prompt === "string") return definition.prompt.trim();
  const { activeAgents } = await host.definitions.load();
  return definition
    .prompt({ cwd, agents: activeAgents, ...(scratchFolder !== undefined && { scratchFolder }) })
    .trim();
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
