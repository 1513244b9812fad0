/** `Agent`: starts another agent, waits for it, and hands its report to the model. */
import type { AgentActivity } from "../contracts/event.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { AgentContext } from "./agent-context.ts";
import type { AgentHost } from "./agent-host.ts";
import { AgentInput, type AgentInputGates, shownAgentInput } from "./agent-input.ts";
import { describeAgentTool } from "./agent-prompt.ts";
import { type AgentToolOutput, toAgentResult } from "./agent-result.ts";
import { findDefinition, requireServers } from "./find-definition.ts";
import { loadEarlierRun } from "./resume-agent.ts";
import type { Spawn } from "./spawn.ts";
import type { SpawnRequest } from "./spawn-request.ts";
import { maxDepthOf } from "./start-agent.ts";

export function createAgentTool(options: {
  host: AgentHost;
  spawn: Spawn;
  gates: AgentInputGates;
  /** Only when it shall stand in the description (AD-13). */
  list?: string;
}): Tool {
  const { host, spawn, gates } = options;
  return defineTool({
    name: "Agent",
    aliases: ["Task"],
    description: describeAgentTool({
      ...gates,
      adviseParallel: host.settings.adviseParallelAgents ?? true,
      ...(options.list !== undefined && { list: options.list }),
    }),
    input: AgentInput,
    shownInput: shownAgentInput(gates),
    // Agents work side by side; what each of them does is judged and recorded on its own.
    isConcurrencySafe: () => true,
    interruptBehavior: "cancel",
    lane: "agent",
    maxResultChars,
    call: (input, context) => startFor(input, context, { host, spawn }),
    toResult: (output) => toAgentResult(output, gates),
  });
}

/** A report is what the parent asked for: it is cut later than other results. */
const maxResultChars = 100_000;

async function startFor(
  input: AgentInput,
  context: ToolContext,
  { host, spawn }: { host: AgentHost; spawn: Spawn },
): Promise<AgentToolOutput> {
  const parent = host.live.of(context.agent.agentId);
  if (parent === undefined) throw new Error("the agent that calls is not alive");
  const report = (data: AgentActivity) => context.report?.({ data });
  const { toolUseId, signal } = context;
  const route = host.routes.find((each) => each.matches(input, parent));
  if (route !== undefined) return await route.start({ input, parent, toolUseId, signal, report });
  assertFits(input, host, parent);
  const base = {
    parent,
    description: input.description,
    prompt: input.prompt,
    toolUseId,
    signal,
    report,
    isBackground: false,
    ...(input.model !== undefined && { model: input.model }),
    ...(input.max_turns !== undefined && { maxTurns: input.max_turns }),
    ...(input.cwd !== undefined && { cwd: input.cwd }),
  } satisfies Partial<SpawnRequest>;
  if (input.resume !== undefined)
    return await spawn({ ...base, ...(await loadEarlierRun(input.resume, host, parent)) });
  const definition = await findDefinition(input.subagent_type, host, parent);
  await requireServers(definition, host, signal);
  return await spawn({ ...base, definition });
}

/** What cannot be done here is an error that says so, never something else instead. */
function assertFits(input: AgentInput, host: AgentHost, parent: AgentContext): void {
  const most = maxDepthOf(host);
  if (parent.depth >= most)
    throw new ToolFailure(
      `Agents may be nested ${most} deep here, and this one is at depth ${parent.depth}: do the work yourself. (Setting: maxAgentDepth.)`,
      { code: "agent-depth" },
    );
  if (input.team_name !== undefined) throw unavailable("team_name", "there are no teams in this session");
  if (input.isolation === "remote") throw unavailable("isolation: remote", "no remote engine is set up");
  if (input.isolation === "worktree" && input.cwd !== undefined)
    throw new ToolFailure(
      "cwd and isolation: worktree exclude each other: a worktree is a folder of its own.",
    );
  if (input.isolation === "worktree" && !host.contributors.some(({ stage }) => stage === "place"))
    throw unavailable("isolation: worktree", "worktrees are not available in this session");
  if (input.cwd !== undefined && !host.settings.agentCwd)
    throw unavailable("cwd", "the setting agentCwd is off");
}

function unavailable(what: string, why: string): ToolFailure {
  return new ToolFailure(`${what} cannot be used: ${why}. Leave it out.`, { code: "agent-parameter" });
}
