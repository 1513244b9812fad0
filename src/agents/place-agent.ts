/** The first steps of a start: an id, a slot and a budget, a place to work in, and an entry among the tasks. */
import type { Scope } from "../base/cancellation.ts";
import type { CleanUp } from "../base/clean-up.ts";
import type { Task } from "../contracts/task.ts";
import { noUsage } from "../contracts/usage.ts";
import type { Budget } from "../loop/budget.ts";
import type { Listener } from "../loop/loop-options.ts";
import { hasEnded, newTaskId, type TaskHandle, type TaskRun } from "../tasks/registry.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { WorkingFolder } from "../tools/tool-context.ts";
import { workingFolder } from "./agent-folder.ts";
import type { AgentHost, AgentStart, Contribution } from "./agent-host.ts";
import { agentLimits } from "./agent-limits.ts";
import type { AgentSlot } from "./agent-slots.ts";
import { contribute } from "./contributions.ts";
import type { SpawnRequest } from "./spawn-request.ts";

/** One run of an agent, as those see it who start it. */
export interface StartingRun extends Listener, TaskHandle {
  /** Ends it: from now on it can be stopped. */
  placed(scope: Scope): void;
}

export interface PlacedAgent {
  readonly start: AgentStart;
  readonly budget: Budget;
  readonly maxTurns: number | undefined;
  readonly folder: WorkingFolder;
  readonly task: TaskRun;
  readonly slot: AgentSlot;
  /** Of the stage `place`. */
  readonly contributions: readonly Contribution[];
}

export async function placeAgent(
  host: AgentHost,
  request: SpawnRequest,
  { undo, cleanUp, run }: { undo: CleanUp; cleanUp: CleanUp; run: StartingRun },
): Promise<PlacedAgent> {
  const { parent, definition, earlier, isolation } = request;
  if (earlier) undo.add("its transcript", () => earlier.writer.close());
  const agentId = earlier?.agentId ?? request.agentId ?? newTaskId("local_agent", host.world.random);
  const slot = host.slots.take();
  undo.add("its slot", slot.free);
  const { maxTurns, budget } = agentLimits({
    maxTurns: request.maxTurns,
    definition,
    setting: host.settings.budgets?.agent,
  });
  const scope = request.scope.child();
  run.placed(scope);
  undo.add("its cancellation", () => scope.release());

  const start: AgentStart = {
    agentId,
    definition,
    parent,
    description: request.description,
    prompt: request.prompt ?? "",
    cwd: request.cwd ?? parent.agent.folder.root,
    ...(isolation && { isolation }),
    scope,
  };
  const contributions = await contribute(host.contributors, "place", { start, cleanUp });
  const ownPlace = contributions.findLast((each) => each.cwd !== undefined)?.cwd;
  if (isolation !== undefined && ownPlace === undefined)
    throw new ToolFailure("The agent was not started: there was no worktree for it.", {
      code: "agent-parameter",
    });
  const folder = workingFolder(parent.agent.folder, { ownPlace, cwd: request.cwd });
  const placed = ownPlace === undefined ? start : { ...start, cwd: ownPlace };
  return {
    start: placed,
    budget: parent.budget.child(budget, { whose: `the agent ${definition.agentType}` }),
    maxTurns,
    folder,
    task: register(host, { request, start: placed, undo, run }),
    slot,
    contributions,
  };
}

function register(
  host: AgentHost,
  options: { request: SpawnRequest; start: AgentStart; undo: CleanUp; run: StartingRun },
): TaskRun {
  const { request, start, undo, run } = options;
  const { agentId, parent, scope } = start;
  const { name } = request;
  const giveNameBack =
    name === undefined ? undefined : host.names.claim(name, agentId, (id) => isAtWork(host.tasks.get(id)));
  const task = host.tasks.register(
    {
      id: agentId,
      kind: "local_agent",
      description: start.description,
      ...(request.toolUseId !== undefined && { toolUseId: request.toolUseId }),
      ...(parent.agent.agentId !== undefined && { parentAgentId: parent.agent.agentId }),
      isBackgrounded: false,
      agent: {
        agentType: start.definition.agentType,
        ...nameOf(host, agentId),
        prompt: start.prompt,
        depth: parent.depth + 1,
        progress: nothingDone,
      },
    },
    run,
  );
  undo.add("its task", () => {
    task.end({ status: scope.cancelled ? "killed" : "failed", error: "it could not be started" });
    host.tasks.remove(agentId);
    giveNameBack?.();
  });
  return task;
}

/** As it was written at its start, also when it goes on. */
function nameOf({ names }: AgentHost, agentId: string): { name?: string } {
  const name = names.nameOf(agentId);
  return name === undefined ? {} : { name };
}

/** From its registration on, before it runs: two calls of one message may want the same name. */
function isAtWork(task: Task | undefined): boolean {
  return task !== undefined && !hasEnded(task);
}

const nothingDone = { toolUses: 0, usage: noUsage, lastActivities: [] };
