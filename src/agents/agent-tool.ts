/** `Agent`: starts another agent, and hands its report to the model, or the word that it runs in the background. */
import type { AgentDefinition } from "../contracts/agent-definition.ts";
import type { AgentActivity } from "../contracts/event.ts";
import { defineTool, type Tool, ToolFailure } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import type { AgentContext } from "./agent-context.ts";
import { folderNamed } from "./agent-folder.ts";
import type { AgentHost } from "./agent-host.ts";
import { AgentInput, type AgentInputGates, shownAgentInput } from "./agent-input.ts";
import { maxDepthOf } from "./agent-limits.ts";
import { describeAgentTool } from "./agent-prompt.ts";
import { type AgentToolOutput, toAgentResult } from "./agent-result.ts";
import { findDefinition, requireServers } from "./find-definition.ts";
import type { Spawn } from "./spawn.ts";
import type { SpawnRequest } from "./spawn-request.ts";

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
    // A fork begins with the whole message in which it was called.
    needsWholeMessage: gates.fork,
    lane: "agent",
    maxResultChars,
    call: (input, context) => startFor(input, context, { host, spawn, gates }),
    facts: (output) => ("agentId" in output ? { taskId: output.agentId } : undefined),
    toResult: (output) => toAgentResult(output, gates),
  });
}

/** A report is what the parent asked for: it is cut later than other results. */
const maxResultChars = 100_000;

async function startFor(
  input: AgentInput,
  { agent, toolUseId, scope, report: tell, early }: ToolContext,
  { host, spawn, gates }: { host: AgentHost; spawn: Spawn; gates: AgentInputGates },
): Promise<AgentToolOutput> {
  const parent = host.live.of(agent.agentId);
  if (parent === undefined) throw new Error("the agent that calls is not alive");
  // A fork is told that it is one, however deep it is.
  if (agent.source.kind !== "fork") assertDepth(parent, host);
  const { assertNoFork, forkDefinition, forkPointOf } = await import("./fork.ts");
  assertNoFork(parent);
  const forks = gates.fork && input.subagent_type === undefined && input.resume === undefined;
  // At this moment: siblings of one message all begin with the same.
  const fork = forks ? forkPointOf(parent) : undefined;
  const definition = fork
    ? forkDefinition
    : input.resume === undefined
      ? await findDefinition(input.subagent_type, host, agent.permissions)
      : undefined;
  const isolation = input.isolation ?? definition?.isolation;
  const wanted = isolation === input.isolation ? input : { ...input, isolation };
  const route = host.routes.find((each) => each.matches(wanted, parent));
  if (route === undefined) assertFits(wanted, host);
  if (definition !== undefined) await requireServers(definition, host, scope);
  const report = (data: AgentActivity) => tell?.({ data });
  if (route !== undefined)
    return await route.start({ input: wanted, definition, parent, toolUseId, scope, report });

  const cwd =
    input.cwd === undefined ? undefined : await folderNamed(input.cwd, parent.agent.folder, host.world);
  const begin: Pick<SpawnRequest, "definition" | "earlier" | "cwd" | "parent" | "allowedTools"> = definition
    ? { definition, parent }
    : await (await import("./resume-agent.ts")).loadEarlierRun(input.resume ?? "", {
        host,
        parentOf: () => parent,
        scope,
      });
  const isBackground =
    host.background !== undefined && (gates.fork || wantsBackground(input, begin.definition));
  // Not awaited here: as long as the agent runs, nothing of this waits with it.
  return spawn({
    definition: begin.definition,
    earlier: begin.earlier,
    cwd: cwd ?? begin.cwd,
    isolation: isolation === "worktree" ? isolation : undefined,
    model: input.model,
    maxTurns: input.max_turns,
    parent: begin.parent,
    allowedTools: begin.allowedTools,
    description: input.description,
    prompt: input.prompt,
    toolUseId,
    scope,
    report,
    early,
    isBackground,
    fork,
    name: input.name,
  });
}

/** The call wishes, or the definition always does (TA-1). */
function wantsBackground(input: AgentInput, { background }: AgentDefinition): boolean {
  return input.run_in_background === true || background === true;
}

/** Counted through the whole chain, whatever kind each of them is (SP-7). */
function assertDepth({ depth }: AgentContext, host: AgentHost): void {
  const most = maxDepthOf(host);
  if (depth < most) return;
  throw new ToolFailure(
    `Agents may be nested ${most} deep here, and this one is at depth ${depth}: do the work yourself. (Setting: maxAgentDepth.)`,
    { code: "agent-depth" },
  );
}

/** What cannot be done here is an error that says so, never something else instead. */
function assertFits(input: AgentInput, { contributors, settings }: AgentHost): void {
  const { prompt, team_name, isolation, cwd } = input;
  if (!/\S/.test(prompt)) throw unfit("The prompt is empty: say what the agent shall do.");
  if (team_name !== undefined) throw unavailable("team_name", "there are no teams in this session");
  if (isolation === "remote") throw unavailable("isolation: remote", "no remote engine is set up");
  if (isolation === "worktree" && cwd !== undefined)
    throw unfit("cwd and isolation: worktree exclude each other: a worktree is a folder of its own.");
  if (isolation === "worktree" && !contributors.some(({ stage }) => stage === "place"))
    throw unavailable("isolation: worktree", "worktrees are not available in this session");
  if (cwd !== undefined && !settings.agentCwd) throw unavailable("cwd", "the setting agentCwd is off");
}

function unavailable(what: string, why: string): ToolFailure {
  return unfit(`${what} cannot be used: ${why}. Leave it out, or use an agent that does not ask for it.`);
}

function unfit(message: string): ToolFailure {
  return new ToolFailure(message, { code: "agent-parameter" });
}
