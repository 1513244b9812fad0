/** Brings an agent to the point where its loop can run, in the order of SP-18. What fails undoes what was done. */
import { join } from "node:path";
import { createScope, type Scope } from "../base/cancellation.ts";
import type { CleanUp } from "../base/clean-up.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import type { Effort } from "../contracts/agent-definition.ts";
import { noUsage } from "../contracts/usage.ts";
import { assertPriceKnown } from "../loop/budget.ts";
import { createInterrupt } from "../loop/interrupt.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import { costOfRequest } from "../model/pricing.ts";
import { newTaskId, type TaskRun } from "../tasks/registry.ts";
import { createFileReads } from "../tools/file-reads.ts";
import { createResultStore } from "../tools/result-store.ts";
import type { AgentPermissions, AgentScope } from "../tools/tool-context.ts";
import type { AgentContext } from "./agent-context.ts";
import type { AgentHost, AgentStart, Contribution, Contributor } from "./agent-host.ts";
import { agentLimits, thinkingFor } from "./agent-limits.ts";
import { modelForAgent } from "./agent-model.ts";
import type { PrefixWish, PreparedPrefix } from "./agent-prefix.ts";
import { createChildMode } from "./child-mode.ts";
import type { SpawnRequest } from "./spawn-request.ts";
import { firstTurn, startConversation } from "./start-conversation.ts";

export interface StartedAgent {
  readonly request: SpawnRequest;
  readonly agentId: string;
  readonly context: AgentContext;
  readonly loop: LoopOptions;
  readonly task: TaskRun;
  /** What of its definition could not be followed. */
  readonly warnings: readonly string[];
}

export type AgentStarter = (request: SpawnRequest, cleanUp: CleanUp) => Promise<StartedAgent>;

export function createAgentStarter(
  host: AgentHost,
  prefixOf: (wish: PrefixWish) => Promise<PreparedPrefix>,
): AgentStarter {
  const { world } = host;
  // It knows nothing of an agent but where results are put.
  const results = createResultStore({ world, folder: host.folders.results });

  return async (request, cleanUp) => {
    const { parent, definition } = request;
    const agentId = request.earlier?.agentId ?? request.agentId ?? newTaskId("local_agent", world.random);
    const slot = host.slots.take();
    cleanUp.add("its slot", slot.free);
    const cancellation = createScope(request.signal);
    cleanUp.add("its cancellation", () => cancellation.release());

    const start: AgentStart = {
      agentId,
      definition,
      parent,
      description: request.description,
      prompt: request.prompt,
      cwd: request.cwd ?? parent.agent.folder.root,
      signal: cancellation.signal,
    };
    const placed = await contribute(host.contributors, "place", start, cleanUp);
    const cwd = placed.findLast((each) => each.cwd !== undefined)?.cwd ?? start.cwd;
    const task = register(host, { ...request, agentId, cancellation }, cleanUp);

    const { model, warnings: modelWarnings } = await modelForAgent(host, request);
    const limits = agentLimits({
      ...request,
      maxTurns: request.maxTurns,
      setting: host.settings.budgets?.agent,
    });
    const budget = parent.budget.child(limits.budget, { whose: `the agent ${definition.agentType}` });
    const priceKnown = costOfRequest(model, model.id, noUsage) !== undefined;
    assertPriceKnown({ modelId: model.id, priceKnown, limits: budget });
    const mode = createChildMode({
      ...(definition.permissionMode && { wish: definition.permissionMode }),
      parent: parent.agent.mode,
    });
    const scratchFolder = await scratchFor(host, start, cleanUp);
    const begun = await contribute(host.contributors, "start", { ...start, cwd }, cleanUp);
    const contributions = placed.length === 0 ? begun : [...placed, ...begun];
    const additionalFolders = parent.agent.folder.roots.slice(1);
    const prepared = await prefixOf({
      definition,
      cwd,
      additionalFolders,
      mode: mode.current,
      isBackground: request.isBackground,
      mayStartAgents: parent.depth + 1 < maxDepthOf(host),
      scratchFolder,
      contributions,
    });
    const agent: AgentScope = {
      sessionId: host.sessionId,
      agentId,
      source: { kind: "agent", agentType: definition.agentType },
      folder: { root: cwd, roots: [cwd, ...additionalFolders], current: cwd },
      mayRead: (path) => host.mayRead(path, agent),
      fileReads: createFileReads(),
      results,
      todos: { items: [] },
      mode,
      ...permissionsOf(request, prepared, [
        ...(scratchFolder === undefined ? [] : [scratchFolder]),
        ...contributions.flatMap((each) => each.ownFolders ?? []),
      ]),
      toolEnv: parent.agent.toolEnv,
      ...(parent.agent.redactor && { redactor: parent.agent.redactor }),
    };
    const effort: Effort | undefined = definition.effort ?? parent.effort;
    const { transcript, history, prefix } = startConversation(host, {
      request,
      agentId,
      cwd,
      model,
      fresh: prepared.prefix,
    });
    cleanUp.add("its transcript", () => transcript.close());
    const context: AgentContext = {
      agent,
      depth: parent.depth + 1,
      model,
      ...(effort !== undefined && { effort }),
      budget,
      cancellation,
      history,
      ...(prepared.selection.agentTypes && { agentTypes: prepared.selection.agentTypes }),
    };
    const thinking = thinkingFor(effort, model);
    const hooks = contributions.find((each) => each.hooks !== undefined)?.hooks;
    const loop: LoopOptions = {
      world,
      source: agent.source,
      model,
      prefix,
      tools: prepared.tools,
      history,
      transcript,
      input: { content: firstTurn(request, contributions, history) },
      scope: cancellation,
      interrupt: createInterrupt(),
      limits: {
        ...host.loopLimits,
        ...(limits.maxTurns !== undefined && { maxTurns: limits.maxTurns }),
        ...(thinking && { thinking }),
      },
      budget,
      priceOf: (modelId, usage) => costOfRequest(model, modelId, usage),
      contextOf: (call, signal) => ({ world, signal, toolUseId: call.id, agent }),
      gate: host.gate,
      queue: {
        take: () => host.queue.take(agentId),
        waiting: () => host.queue.waiting(agentId),
        acknowledge: host.queue.acknowledge,
      },
      ...(hooks && { hooks }),
      ...(definition.criticalReminder !== undefined && { reminder: definition.criticalReminder }),
    };
    const warnings = [...(request.earlier?.notes ?? []), ...modelWarnings, ...prepared.warnings];
    return { request, agentId, context, loop, task, warnings };
  };
}

async function contribute(
  contributors: readonly Contributor[],
  stage: Contributor["stage"],
  start: AgentStart,
  cleanUp: CleanUp,
): Promise<Contribution[]> {
  const given: Contribution[] = [];
  for (const contributor of contributors) {
    if (contributor.stage !== stage) continue;
    const contribution = await contributor.contribute(start);
    if (contribution === undefined) continue;
    const { release } = contribution;
    if (release) cleanUp.add(contributor.name, () => release.call(contribution));
    given.push(contribution);
  }
  return given;
}

function register(
  host: AgentHost,
  run: SpawnRequest & { agentId: string; cancellation: Scope },
  cleanUp: CleanUp,
): TaskRun {
  const { agentId, parent } = run;
  const task = host.tasks.register(
    {
      id: agentId,
      kind: "local_agent",
      description: run.description,
      ...(run.toolUseId !== undefined && { toolUseId: run.toolUseId }),
      ...(parent.agent.agentId !== undefined && { parentAgentId: parent.agent.agentId }),
      isBackgrounded: run.isBackground,
      agent: {
        agentType: run.definition.agentType,
        prompt: run.prompt,
        depth: parent.depth + 1,
        progress: { toolUses: 0, usage: noUsage, lastActivities: [] },
      },
    },
    { stop: (reason) => run.cancellation.cancel(reason) },
  );
  cleanUp.add("its task", () => {
    // One that never came to run has no other end.
    task.end({ status: "failed", error: "it could not be started" });
    host.tasks.remove(agentId);
  });
  return task;
}

async function scratchFor(host: AgentHost, start: AgentStart, cleanUp: CleanUp): Promise<string | undefined> {
  if (!start.definition.traits?.scratchFolder) return undefined;
  const folder = join(host.folders.scratch, start.agentId);
  await ensurePrivateFolder(host.world, folder);
  cleanUp.add("its scratch folder", () => host.world.files.remove(folder, { recursive: true, force: true }));
  return folder;
}

function permissionsOf(
  { definition, allowedTools, isBackground }: SpawnRequest,
  { selection }: PreparedPrefix,
  ownFolders: readonly string[],
): { permissions?: AgentPermissions } {
  const { traits } = definition;
  const permissions: AgentPermissions = {
    ...(selection.within.size > 0 && { within: selection.within }),
    ...(selection.denied.length > 0 && { denied: selection.denied }),
    ...(traits?.readOnlyTools && { readOnlyTools: new Set(traits.readOnlyTools) }),
    ...(ownFolders.length > 0 && { ownFolders }),
    ...(allowedTools && { allowInstead: allowedTools }),
    ...(traits?.grantsItsTools && definition.tools && { grantedTools: new Set(definition.tools) }),
    ...(isBackground && { canAsk: false }),
  };
  return Object.keys(permissions).length === 0 ? {} : { permissions };
}

export const defaultMaxDepth = 1;

export function maxDepthOf({ settings }: Pick<AgentHost, "settings">): number {
  return settings.maxAgentDepth ?? defaultMaxDepth;
}
