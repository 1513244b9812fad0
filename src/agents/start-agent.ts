/** Brings an agent to the point where its loop can run, in the order of SP-18. What fails undoes what was done. */
import { join } from "node:path";
import type { CleanUp } from "../base/clean-up.ts";
import { ensurePrivateFolder } from "../base/files.ts";
import type { Block } from "../contracts/message.ts";
import { noUsage } from "../contracts/usage.ts";
import { assertPriceKnown } from "../loop/budget.ts";
import { createInterrupt } from "../loop/interrupt.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import { costOfRequest } from "../model/pricing.ts";
import type { TaskRun } from "../tasks/registry.ts";
import { createFileReads } from "../tools/file-reads.ts";
import { createResultStore, type ResultStore } from "../tools/result-store.ts";
import { ToolFailure } from "../tools/tool.ts";
import type { AgentScope } from "../tools/tool-context.ts";
import type { AgentContext } from "./agent-context.ts";
import type { AgentHost, Contribution } from "./agent-host.ts";
import { maxDepthOf, thinkingFor } from "./agent-limits.ts";
import { modelForAgent } from "./agent-model.ts";
import type { AgentNews } from "./agent-news.ts";
import { permissionsOfAgent } from "./agent-permissions.ts";
import type { PrefixWish, PreparedPrefix } from "./agent-prefix.ts";
import type { AgentSlot } from "./agent-slots.ts";
import { createChildMode } from "./child-mode.ts";
import { contribute, hooksOf } from "./contributions.ts";
import { forkPrefix, forkTurn, forkType } from "./fork.ts";
import { type PlacedAgent, placeAgent, type StartingRun } from "./place-agent.ts";
import type { SpawnRequest } from "./spawn-request.ts";
import { firstTurn, type StartedConversation, startConversation } from "./start-conversation.ts";

export interface StartedAgent {
  readonly request: SpawnRequest;
  readonly agentId: string;
  readonly context: AgentContext;
  readonly loop: LoopOptions;
  readonly task: TaskRun;
  readonly slot: AgentSlot;
  /** What of its definition could not be followed. */
  readonly warnings: readonly string[];
}

export type AgentStarter = (
  request: SpawnRequest,
  /**
   * `undo`: what is undone only if the start fails, since the run itself lets go of it at its end. `cleanUp`: what is
   * undone in either case.
   */
  options: { undo: CleanUp; cleanUp: CleanUp; run: StartingRun },
) => Promise<StartedAgent>;

export interface StarterParts {
  readonly prefixOf: (wish: PrefixWish) => Promise<PreparedPrefix>;
  readonly news: AgentNews;
}

export function createAgentStarter(host: AgentHost, parts: StarterParts): AgentStarter {
  const { news } = parts;
  // It knows nothing of an agent but where results are put.
  const results = createResultStore({ world: host.world, folder: host.folders.results });

  return async (request, { undo, cleanUp, run }) => {
    const placed = await placeAgent(host, request, { undo, cleanUp, run });
    const { start, task, budget } = placed;
    const { model, warnings } = isForked(request)
      ? { model: request.parent.model, warnings: [] }
      : await modelForAgent(host, request);
    const priceKnown = costOfRequest(model, model.id, noUsage) !== undefined;
    assertPriceKnown({ modelId: model.id, priceKnown, limits: budget });
    task.update({ agent: { modelId: model.id } });

    const equipped = await equip(host, parts, { request, placed, results, cleanUp });
    const { agent, prepared } = equipped;
    const conversation = startConversation(host, { request, start, agent, model, fresh: prepared.prefix });
    // Of an agent that goes on it was open before anything else.
    const { transcript } = conversation;
    if (!request.earlier) undo.add("its transcript", () => transcript.close());
    const { parent, definition } = request;
    const effort = definition.effort ?? parent.effort;
    const context: AgentContext = {
      agent,
      parent,
      depth: parent.depth + 1,
      model,
      ...(effort !== undefined && { effort }),
      budget,
      cancellation: start.scope,
      interrupt: createInterrupt(),
      history: conversation.history,
    };
    const { contributions } = equipped;
    const heard = await newsFor(context, prepared);
    const input = inputOf(host, {
      request,
      context,
      before: { ...conversation, news: heard, contributions },
    });
    return {
      request,
      agentId: start.agentId,
      context,
      loop: loopOf(host, { request, placed, equipped, conversation, context, input, run }),
      task,
      slot: placed.slot,
      warnings: warnings.length === 0 ? prepared.warnings : [...warnings, ...prepared.warnings],
    };
  };

  /** Which agents it can start itself, unless the description of the tool says so. */
  async function newsFor(
    { agent, history }: AgentContext,
    { tools }: PreparedPrefix,
  ): Promise<readonly Block[]> {
    if (agent.source.kind === "fork") return [];
    if (host.settings.agentListIn === "tool" || !tools.some(({ name }) => name === "Agent")) return [];
    return news.of(await news.startable(agent.permissions), history.messages);
  }
}

/** Now, or when it was started. */
function isForked({ definition }: SpawnRequest): boolean {
  return definition.agentType === forkType && definition.source === "built-in";
}

/** The last step, since what is taken from the queue must be said. */
function inputOf(
  { queue }: AgentHost,
  options: { request: SpawnRequest; context: AgentContext; before: Parameters<typeof firstTurn>[1] },
): NonNullable<LoopOptions["input"]> {
  const { request, context, before } = options;
  const content = request.fork
    ? forkTurn(request.fork, {
        prompt: request.prompt ?? "",
        contributions: before.contributions,
        ...(request.isolation && {
          place: { root: context.agent.folder.root, parentRoot: request.parent.agent.folder.root },
        }),
      })
    : firstTurn(request, before);
  if (request.prompt !== undefined) return { content };
  const items = queue.take(context.agent.agentId);
  if (items.length === 0)
    throw new ToolFailure("The agent was not started: nothing waits for it.", { code: "nothing-to-say" });
  queue.acknowledge(items);
  return {
    content: [...content, ...items.flatMap((item) => item.content)],
    queueItems: items.map((item) => item.uuid),
  };
}

const nothingToDo: AgentScope["todos"]["items"] = [];

/** What it works with. */
interface EquippedAgent {
  readonly agent: AgentScope;
  readonly prepared: PreparedPrefix;
  readonly contributions: readonly Contribution[];
}

async function equip(
  host: AgentHost,
  { prefixOf }: StarterParts,
  options: { request: SpawnRequest; placed: PlacedAgent; results: ResultStore; cleanUp: CleanUp },
): Promise<EquippedAgent> {
  const { request, placed, results, cleanUp } = options;
  const { parent, definition, isBackground, allowedTools } = request;
  const { start, folder } = placed;
  const mode = createChildMode({ parent: parent.agent.mode, wish: definition.permissionMode });
  const scratchFolder = await scratchFor(host, placed, cleanUp);
  const begun = await contribute(host.contributors, "start", { start, cleanUp });
  const contributions = placed.contributions.length === 0 ? begun : [...placed.contributions, ...begun];
  const prepared = isForked(request)
    ? forkPrefix(host, request)
    : await prefixOf({
        definition,
        folder,
        mode: mode.current,
        isBackground,
        sendMessage: host.names.exist,
        mayStartAgents: parent.depth + 1 < maxDepthOf(host),
        scratchFolder,
        contributions,
      });
  const ownFolders = contributions.flatMap((each) => each.ownFolders ?? []);
  if (scratchFolder !== undefined) ownFolders.push(scratchFolder);
  const permissions = permissionsOfAgent(prepared.permissions, { ownFolders, allowedTools });
  const agent: AgentScope = {
    sessionId: host.sessionId,
    agentId: start.agentId,
    source: prepared.source,
    folder,
    mayRead: host.mayRead,
    fileReads: request.fork ? parent.agent.fileReads.copy() : createFileReads(),
    results,
    todos: { items: nothingToDo },
    mode,
    ...(permissions && { permissions }),
    toolEnv: parent.agent.toolEnv,
    ...(parent.agent.redactor && { redactor: parent.agent.redactor }),
  };
  return { agent, prepared, contributions };
}

async function scratchFor(
  host: AgentHost,
  { start }: PlacedAgent,
  cleanUp: CleanUp,
): Promise<string | undefined> {
  if (!start.definition.traits?.scratchFolder) return undefined;
  const folder = join(host.folders.scratch, start.agentId);
  cleanUp.add("its scratch folder", () => host.world.files.remove(folder, { recursive: true, force: true }));
  await ensurePrivateFolder(host.world, folder);
  return folder;
}

function loopOf(
  host: AgentHost,
  options: {
    request: SpawnRequest;
    placed: PlacedAgent;
    equipped: EquippedAgent;
    conversation: StartedConversation;
    context: AgentContext;
    input: NonNullable<LoopOptions["input"]>;
    run: StartingRun;
  },
): LoopOptions {
  const { request, placed, equipped, conversation, context, input, run } = options;
  const { world, queue } = host;
  const { agent, model, budget } = context;
  const { criticalReminder } = request.definition;
  const thinking = request.fork ? request.fork.sentWith.limits.thinking : thinkingFor(context.effort, model);
  const hooks = hooksOf(equipped.contributions);
  return {
    world,
    agent,
    model,
    prefix: conversation.prefix,
    tools: equipped.prepared.tools,
    history: conversation.history,
    transcript: conversation.transcript,
    input,
    scope: context.cancellation,
    listener: run,
    interrupt: context.interrupt,
    limits:
      placed.maxTurns === undefined && thinking === undefined
        ? host.loopLimits
        : { ...host.loopLimits, maxTurns: placed.maxTurns, thinking },
    budget,
    priceOf: costOfRequest,
    gate: host.gate,
    queue,
    hooks,
    reminder: criticalReminder,
    compaction: host.compaction,
  };
}
