/** The composition root: everything below is made here, once per session, and handed to the loop. */

import { join } from "node:path";
import { createScope } from "../base/cancellation.ts";
import { isoTime } from "../base/iso-time.ts";
import { createRedactor, runtimeSecrets } from "../base/secrets.ts";
import type { PermissionMode } from "../contracts/permission.ts";
import { noUsage } from "../contracts/usage.ts";
import { assertPriceKnown, createBudget } from "../loop/budget.ts";
import { createHistory } from "../loop/history.ts";
import { costOfRequest } from "../model/pricing.ts";
import { createFileReads } from "../tools/file-reads.ts";
import { createResultStore } from "../tools/result-store.ts";
import { describeTool } from "../tools/tool.ts";
import type { AgentScope } from "../tools/tool-context.ts";
import { createAgentTranscripts } from "../transcript/agent-transcripts.ts";
import { sessionFiles } from "../transcript/location.ts";
import { createUnkeptTranscript } from "../transcript/writer.ts";
import { childEnvironment } from "../workspace/child-environment.ts";
import { agentLoaderFor } from "./agent-loader.ts";
import { beginConversation } from "./begin-conversation.ts";
import { buildTools } from "./build-tools.ts";
import { cacheTtlOf } from "./cache-ttl.ts";
import { createIdleServices } from "./idle-services.ts";
import { keyVariables } from "./key-variables.ts";
import { permissionSetup } from "./permission-setup.ts";
import type { Session, SessionOptions } from "./session.ts";
import { createSessionAgents, defaultMaxLiveAgents, forksIn } from "./session-agents.ts";
import { createSessionCompaction } from "./session-compaction.ts";
import { createSessionControl } from "./session-control.ts";
import { sessionLimits } from "./session-limits.ts";
import { createSessionPermissions } from "./session-permissions.ts";
import { type Conversation, closedEnd, createSessionRuns } from "./session-runs.ts";
import { createSessionTranscript } from "./session-transcript.ts";
import { createSessionWork } from "./session-work.ts";
import { renderSystemPrompt } from "./system-prompt.ts";
import { thinkingOf } from "./thinking-setting.ts";
import { userContent } from "./user-content.ts";

export function createSession(options: SessionOptions): Session {
  const { world, cwd, model, settings, surface, restored } = options;
  const id = restored?.id ?? options.sessionId ?? world.random.uuid();
  const files = restored?.files ?? sessionFiles({ homeFolder: world.homeFolder, cwd, sessionId: id });
  const keeps = options.keepTranscript !== false;
  const additionalFolders = [
    ...(options.additionalFolders ?? []),
    ...(settings.permissions?.additionalDirectories ?? []),
  ];
  const setup = permissionSetup(options);
  const limits = sessionLimits(options);
  const priceKnown = costOfRequest(model, model.id, noUsage) !== undefined;
  assertPriceKnown({ modelId: model.id, priceKnown, limits });

  const transcript = keeps
    ? createSessionTranscript({ world, files, ...(restored && { lock: restored.lock }) })
    : createUnkeptTranscript();
  const agentTranscripts = keeps
    ? (restored?.transcripts ?? createAgentTranscripts({ world, folder: files.subagents }))
    : undefined;
  const scope = createScope();
  const onProblem = options.onProblem ?? (() => {});
  const work = createSessionWork({
    world,
    settings,
    folder: keeps ? files.tasks : join(world.tempFolder, `cadre-${id}`),
    transcript,
    transcripts: agentTranscripts,
    waiting: restored?.waiting ?? [],
    scope,
    isAlive: (agentId) => agents.live.of(agentId) !== undefined,
    messagesOf: (agentId) => agents.live.of(agentId)?.history.messages,
    onProblem,
  });
  const { queue } = work;
  const control = createSessionControl({
    world,
    session: { id, tasks: work.registry, taskOutput: work.output, deliver: work.deliver },
    onProblem,
  });
  const { gate, permissions, modeChanged } = createSessionPermissions({
    world,
    cwd,
    engine: setup.engine,
    sessionFolders: [files.folder, files.transcript],
    nameOfAgent: (agentId) => work.registry.get(agentId)?.agent?.name,
    ...(options.permissionTimeoutMs !== undefined && { questionTimeoutMs: options.permissionTimeoutMs }),
    record: (decision) => transcript.append(decision),
  });
  const loopLimits = {
    concurrency: {
      tool: settings.maxToolConcurrency ?? 10,
      agent: settings.maxLiveAgents ?? defaultMaxLiveAgents,
    },
    startCallsWhileStreaming: settings.streamingTools ?? true,
    cacheTtl: cacheTtlOf(settings, { clock: world.clock, tasks: work.registry }),
  };
  const mayRead: AgentScope["mayRead"] = (path, { folder, permissions: limits }) =>
    setup.engine.mayRead(path, folder, limits);
  const compaction = createSessionCompaction({
    settings,
    tasks: work.registry,
    queue,
    news: (loop) => agents.newsAgain(loop),
    notes: () => services.notes(),
  });
  const agents = createSessionAgents({
    work,
    earlier: restored?.agents ?? [],
    mayFork: forksIn(settings, { env: world.env, isWatched: options.isWatched ?? false }),
    resolvers: () => [control.otherSessions],
    world,
    sessionId: id,
    settings,
    definitions: agentLoaderFor({
      world,
      cwd,
      settings,
      ...(options.settingsSources && { settingsSources: options.settingsSources }),
      ...(options.pluginFolders && { pluginFolders: options.pluginFolders }),
      ...(options.agents && { flag: options.agents }),
      ...(options.agentDefinitions && { library: options.agentDefinitions }),
    }),
    // What it hands in is the answer of the session, which is the main agent's to give.
    tools: () => runs.tools.filter(({ name }) => name !== "StructuredOutput"),
    isHidden: setup.engine.isDenied,
    mayStart: setup.engine.mayStartAgent,
    mayRead,
    modelNamed: options.modelNamed,
    gate,
    isWaiting: (agentId) =>
      work.waits.isWaiting(agentId) || permissions.waiting.some(({ agent }) => agent?.id === agentId),
    transcripts: agentTranscripts,
    folders: { results: files.results, scratch: join(files.folder, "scratch") },
    compaction: compaction.automatic,
    loopLimits,
    contributors: options.contributors ?? [],
    routes: options.routes ?? [],
    ...(options.servers && { servers: options.servers }),
    onProblem,
  });
  const output: { value: unknown } = { value: undefined };
  const tools = buildTools({
    world,
    settings,
    surface,
    agents: agents.tools,
    background: work.shells,
    onProblem,
    extra: options.tools ?? [],
    isHidden: setup.engine.isDenied,
    ...(options.outputSchema && {
      output: {
        schema: options.outputSchema,
        onValue: (value: unknown) => {
          output.value = value;
        },
      },
    }),
  });
  const prefix = beginConversation({
    transcript,
    restored,
    modelId: model.id,
    head: { sessionId: id, cwd, timestamp: isoTime(world.clock.now()) },
    fresh: {
      system: renderSystemPrompt({
        world,
        cwd,
        additionalFolders,
        ...(options.systemPrompt !== undefined && { replacement: options.systemPrompt }),
        ...(options.appendSystemPrompt !== undefined && { addition: options.appendSystemPrompt }),
      }),
      tools: tools.map(describeTool),
    },
  });
  const history = createHistory({ world, transcript, ...(restored && { messages: restored.messages }) });
  const keyNames = keyVariables(settings);
  const agent: AgentScope = {
    sessionId: id,
    source: { kind: "main" },
    folder: { root: cwd, roots: [cwd, ...additionalFolders], current: cwd },
    mayRead,
    fileReads: createFileReads(),
    results: createResultStore({ world, folder: files.results }),
    todos: { items: [] },
    mode: { current: setup.mode },
    toolEnv: childEnvironment({ ...world.env, ...settings.env }, { secretNames: keyNames }),
    redactor: createRedactor(runtimeSecrets(world.env, keyNames)),
  };
  const budget = createBudget(limits, { clock: world.clock });
  const thinking = thinkingOf(settings.thinking);
  /** What is the same for every run of the session. */
  const conversation: Conversation = {
    world,
    agent,
    model,
    history,
    transcript,
    scope,
    priceOf: costOfRequest,
    gate,
    queue,
    compaction: compaction.automatic,
    limits: {
      ...loopLimits,
      ...(options.maxTurns !== undefined && { maxTurns: options.maxTurns }),
      ...(thinking && { thinking }),
    },
  };
  const runs = createSessionRuns({
    conversation,
    prefix,
    tools,
    budget,
    agents,
    services: () => services,
    compaction,
    reports: restored?.reports ?? [],
    output,
  });
  const services = createIdleServices({
    world,
    settings,
    isWatched: options.isWatched ?? false,
    sessionId: id,
    files,
    keeps,
    budget,
    scope,
    engine: setup.engine,
    conversation: runs.loop,
    restored: restored?.messages ?? [],
    live: agents.live,
    tasks: work.registry,
    onSuggestion: surface?.onSuggestion,
    onProblem,
  });
  return {
    id,
    transcriptPath: transcript.path,
    cwd,
    toolNames: tools.map((tool) => tool.name),
    get agentNames() {
      return agents.names;
    },
    modelId: model.id,
    get permissionMode() {
      return agent.mode.current;
    },
    permissions,
    tasks: work.registry,
    onActivity: work.onActivity,
    taskOutput: work.output,
    nextWork: work.nextWork,
    deliver: work.deliver,
    listen: control.open,
    get messages() {
      return history.messages;
    },
    totals: budget,
    prepare: agents.prepare,
    submit: runs.submit,
    compact: runs.compact,
    async enqueue(text) {
      const content = userContent(text);
      await queue.add({ uuid: world.random.uuid(), mode: "prompt", priority: "next", content });
    },
    onQueued: (listener) =>
      queue.onAdd(({ target }) => {
        if (target === undefined) listener();
      }),
    get queued() {
      return queue.waiting(undefined);
    },
    async runCommand(command, commandOptions) {
      const { runForkedCommand } = await import("../commands/run-forked.ts");
      const ports = { ...agents.starting, main: runs.main, tell: runs.tell };
      return await runForkedCommand(command, { mode: "foreground", ...commandOptions, ...ports });
    },
    async branch() {
      const { branchOpenSession } = await import("./branch-session.ts");
      const { messages } = history;
      return await branchOpenSession({ world, cwd, id, files, transcript, messages });
    },
    askAside: services.askAside,
    watchAgents: services.watchAgents,
    get serviceCosts() {
      return services.costs;
    },
    interrupt: runs.interrupt,
    setPermissionMode(mode: PermissionMode) {
      setup.assertAllowed(mode);
      agent.mode.current = mode;
      modeChanged();
    },
    async close() {
      const served = services.close();
      // Without a run they may have something to keep; with one they end as it does.
      if (!runs.isRunning) await served;
      // What they had begun they still have to say, and how their tasks ended.
      const ended = work.close();
      scope.cancel(closedEnd.why);
      await runs.end();
      await ended;
      await served;
      await control.close();
      await agentTranscripts?.close();
      await transcript.close();
    },
  };
}
