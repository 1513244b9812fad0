/** The composition root: everything below is made here, once per session, and handed to the loop. */

import { join } from "node:path";
import type { AgentContext } from "../agents/agent-context.ts";
import { createScope } from "../base/cancellation.ts";
import { CadreError } from "../base/errors.ts";
import { isoTime } from "../base/iso-time.ts";
import { createRedactor, runtimeSecrets } from "../base/secrets.ts";
import type { LoopEnd, LoopEvent } from "../contracts/event.ts";
import type { Block } from "../contracts/message.ts";
import type { PermissionMode } from "../contracts/permission.ts";
import { noUsage } from "../contracts/usage.ts";
import { assertPriceKnown, type Budget, createBudget } from "../loop/budget.ts";
import { createHistory } from "../loop/history.ts";
import { createInterrupt, type Interrupt } from "../loop/interrupt.ts";
import { iterateLoop } from "../loop/iterate-loop.ts";
import type { LoopOptions, PrefixChange } from "../loop/loop-options.ts";
import { createRunRecorder } from "../loop/run-recorder.ts";
import { costOfRequest } from "../model/pricing.ts";
import type { Queue } from "../tasks/queue.ts";
import { createFileReads } from "../tools/file-reads.ts";
import { createResultStore } from "../tools/result-store.ts";
import { describeTool, type Tool } from "../tools/tool.ts";
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
import { runResult } from "./run-result.ts";
import type { RunResult, Session, SessionOptions } from "./session.ts";
import { createSessionAgents, defaultMaxLiveAgents, forksIn } from "./session-agents.ts";
import { createSessionCompaction } from "./session-compaction.ts";
import { createSessionControl } from "./session-control.ts";
import { sessionLimits } from "./session-limits.ts";
import { createSessionPermissions } from "./session-permissions.ts";
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
    tools: () => tools.filter(({ name }) => name !== "StructuredOutput"),
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
  let structuredOutput: unknown;
  let tools = buildTools({
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
          structuredOutput = value;
        },
      },
    }),
  });
  let prefix = beginConversation({
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
  const conversation: Omit<LoopOptions, "interrupt" | "budget" | "prefix" | "tools" | "listener"> = {
    world,
    agent,
    model,
    renewPrefix() {
      const change = prefixChange;
      prefixChange = undefined;
      return change;
    },
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
    conversation: () => ({ ...conversation, prefix, tools, budget }),
    restored: restored?.messages ?? [],
    live: agents.live,
    tasks: work.registry,
    onSuggestion: surface?.onSuggestion,
    onProblem,
  });
  /** Of agents that were running when the process died: told with the next prompt. */
  const reports = [...(restored?.reports ?? [])];
  let prefixChange: PrefixChange | undefined;
  let running: Interrupt | undefined;
  let endRun: (() => Promise<void>) | undefined;

  async function* submit(content?: string | Block[]): AsyncGenerator<LoopEvent, RunResult, undefined> {
    if (running) throw busy();
    const interrupt = createInterrupt();
    running = interrupt;
    services.runBegan();
    structuredOutput = undefined;
    let run: AsyncGenerator<LoopEvent, LoopEnd, undefined> | undefined;
    try {
      const input = await nextInput(content);
      const runBudget = budget.child({});
      enter(runBudget, interrupt);
      if (restored) await agents.wakeWaiting();
      const recorder = createRunRecorder({ clock: world.clock, budget: runBudget });
      const loop = iterateLoop({ ...conversation, prefix, tools, interrupt, input, budget: runBudget });
      run = loop;
      endRun = async () => void (await loop.return(closedEnd));
      let step = await run.next();
      for (; !step.done; step = await run.next()) {
        recorder.see(step.value);
        yield step.value;
      }
      // A close from outside has ended the loop without a word of its own.
      const end = scope.cancelled ? (step.value ?? closedEnd) : step.value;
      transcript.append(recorder.record(end));
      await transcript.durable();
      return runResult({ end, recorder, budget: runBudget, structuredOutput });
    } finally {
      // A consumer that left early stops the run; after its end this does nothing.
      await run?.return({
        reason: "aborted",
        during: "between-turns",
        why: "nobody reads this run any longer",
      });
      running = undefined;
      endRun = undefined;
      services.runEnded();
    }
  }

  async function compact(instructions?: string, onEvent?: (event: LoopEvent) => void) {
    if (running) throw busy();
    const interrupt = createInterrupt();
    running = interrupt;
    services.runBegan();
    try {
      const loop = { ...conversation, prefix, tools, interrupt, budget: budget.child({}) };
      return await compaction.byHand(loop, { instructions, onEvent });
    } finally {
      running = undefined;
      services.runEnded();
    }
  }

  function enter(ownBudget: Budget, interrupt: Interrupt): AgentContext {
    const effort = thinking?.budgetTokens;
    const main = {
      agent,
      depth: 0,
      model,
      effort,
      budget: ownBudget,
      cancellation: scope,
      interrupt,
      history,
    };
    agents.enter(main);
    return main;
  }

  /** What was said beside the runs. A history is a run's own as long as that goes on. */
  async function tell(content: Block[]): Promise<void> {
    if (running)
      return await queue.add({ uuid: world.random.uuid(), mode: "prompt", priority: "next", content });
    history.append({ role: "user", content, synthetic: true });
    await transcript.durable();
  }

  /** What the model hears next: news of the session, then the prompt, then what waited. */
  async function nextInput(
    content: string | Block[] | undefined,
  ): Promise<NonNullable<LoopOptions["input"]>> {
    for (let report = reports.shift(); report !== undefined; report = reports.shift())
      await queue.add(report);
    const news = [
      ...(await services.news(history.messages, content)),
      ...(await agents.news(history.messages)),
    ];
    const agentTool = await agents.renewedTool();
    if (agentTool) renewAgentTool(agentTool);
    const input = inputOf(content, queue);
    return { ...input, content: [...news, ...input.content] };
  }

  /** Costs the whole prompt cache, so it is done only where settings want the list of agents there. */
  function renewAgentTool(agentTool: Tool): void {
    tools = tools.map((tool) => (tool.name === agentTool.name ? agentTool : tool));
    prefix = { ...prefix, tools: tools.map(describeTool) };
    prefixChange = { prefix, tools, reason: "the list of agents in the description of Agent" };
  }

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
    submit,
    compact,
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
      const main = () => agents.live.of(undefined) ?? enter(budget.child({}), createInterrupt());
      const ports = { ...agents.starting, main, tell };
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
    interrupt: () => running?.request("stop"),
    setPermissionMode(mode: PermissionMode) {
      setup.assertAllowed(mode);
      agent.mode.current = mode;
      modeChanged();
    },
    async close() {
      const served = services.close();
      // Without a run they may have something to keep; with one they end as it does.
      if (!running) await served;
      // What they had begun they still have to say, and how their tasks ended.
      const ended = work.close();
      scope.cancel(closedEnd.why);
      await endRun?.();
      await ended;
      await served;
      await control.close();
      await agentTranscripts?.close();
      await transcript.close();
    },
  };
}

/** The prompt, and after it what waits in the queue. */
function inputOf(content: string | Block[] | undefined, queue: Queue): NonNullable<LoopOptions["input"]> {
  const own = content === undefined ? [] : userContent(content);
  const items = queue.take(undefined);
  queue.acknowledge(items);
  const all = [...own, ...items.flatMap((item) => item.content)];
  if (all.length === 0)
    throw new CadreError({
      code: "nothing-to-say",
      message: "There is no prompt, and nothing waits in the queue.",
    });
  return { content: all, queueItems: items.map((item) => item.uuid) };
}

const closedEnd = { reason: "aborted", during: "between-turns", why: "the session was closed" } as const;

function busy(): CadreError {
  return new CadreError({
    code: "session-busy",
    message: "A run is going on in this session: wait for its end, or put the text into its queue (enqueue).",
  });
}
