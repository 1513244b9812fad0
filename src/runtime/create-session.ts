/** The composition root: everything below is made here, once per session, and handed to the loop. */
import { createScope } from "../base/cancellation.ts";
import { CadreError } from "../base/errors.ts";
import { createRedactor, runtimeSecrets } from "../base/secrets.ts";
import type { LoopEvent } from "../contracts/event.ts";
import type { Block } from "../contracts/message.ts";
import type { PermissionMode } from "../contracts/permission.ts";
import { noUsage } from "../contracts/usage.ts";
import { assertPriceKnown, createBudget } from "../loop/budget.ts";
import { createHistory } from "../loop/history.ts";
import { createInterrupt, type Interrupt } from "../loop/interrupt.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import { runLoop } from "../loop/query-loop.ts";
import { costOfRequest } from "../model/pricing.ts";
import { createQueue, type Queue } from "../tasks/queue.ts";
import { createFileReads } from "../tools/file-reads.ts";
import { createResultStore } from "../tools/result-store.ts";
import type { AgentScope } from "../tools/tool-context.ts";
import { sessionFiles } from "../transcript/location.ts";
import { transcriptVersion } from "../transcript/record.ts";
import { createUnkeptTranscript } from "../transcript/writer.ts";
import { childEnvironment } from "../workspace/child-environment.ts";
import { buildTools } from "./build-tools.ts";
import { permissionSetup } from "./permission-setup.ts";
import { createRunRecorder } from "./run-recorder.ts";
import type { RunResult, Session, SessionOptions } from "./session.ts";
import { createSessionPermissions } from "./session-permissions.ts";
import { createSessionTranscript } from "./session-transcript.ts";
import { renderSystemPrompt } from "./system-prompt.ts";
import { userContent } from "./user-content.ts";

export function createSession(options: SessionOptions): Session {
  const { world, cwd, model, settings, surface } = options;
  const id = options.sessionId ?? world.random.uuid();
  const files = sessionFiles({ homeFolder: world.homeFolder, cwd, sessionId: id });
  const additionalFolders = [
    ...(options.additionalFolders ?? []),
    ...(settings.permissions?.additionalDirectories ?? []),
  ];
  const setup = permissionSetup(options);
  const limits = {
    maxCostUsd: options.maxCostUsd ?? settings.budgets?.session?.usd,
    maxTokens: options.maxTokens ?? settings.budgets?.session?.tokens,
  };
  const priceOf: LoopOptions["priceOf"] = (modelId, usage) => costOfRequest(model, modelId, usage);
  assertPriceKnown({ modelId: model.id, priceKnown: priceOf(model.id, noUsage) !== undefined, limits });

  let structuredOutput: unknown;
  const tools = buildTools({
    world,
    settings,
    surface,
    extra: options.tools ?? [],
    hidden: setup.hiddenTools,
    ...(options.outputSchema && {
      output: {
        schema: options.outputSchema,
        onValue: (value: unknown) => {
          structuredOutput = value;
        },
      },
    }),
  });
  const prefix = {
    system: renderSystemPrompt({
      world,
      cwd,
      additionalFolders,
      ...(options.systemPrompt !== undefined && { replacement: options.systemPrompt }),
      ...(options.appendSystemPrompt !== undefined && { addition: options.appendSystemPrompt }),
    }),
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  };

  const transcript =
    options.keepTranscript === false ? createUnkeptTranscript() : createSessionTranscript({ world, files });
  transcript.append({
    type: "head",
    version: transcriptVersion,
    sessionId: id,
    cwd,
    timestamp: new Date(world.clock.now()).toISOString(),
  });
  transcript.append({ type: "prefix", model: model.id, ...prefix, reason: "start of the session" });
  const history = createHistory({ world, transcript });
  const queue = createQueue({
    async record(item) {
      transcript.append({ type: "queue", item });
      await transcript.durable();
    },
  });

  const { gate, permissions, modeChanged } = createSessionPermissions({
    world,
    cwd,
    engine: setup.engine,
    sessionFolders: [files.folder],
    ...(options.permissionTimeoutMs !== undefined && { questionTimeoutMs: options.permissionTimeoutMs }),
    record: (decision) => transcript.append(decision),
  });
  const keyNames = keyVariables(settings);
  const agent: AgentScope = {
    sessionId: id,
    source: { kind: "main" },
    folder: { root: cwd, roots: [cwd, ...additionalFolders], current: cwd },
    mayRead: (path) => setup.engine.mayRead(path, agent.folder),
    fileReads: createFileReads(),
    results: createResultStore({ world, folder: files.results }),
    todos: { items: [] },
    mode: { current: setup.mode },
    toolEnv: childEnvironment({ ...world.env, ...settings.env }, { secretNames: keyNames }),
    redactor: createRedactor(runtimeSecrets(world.env, keyNames)),
  };
  const budget = createBudget(limits);
  const scope = createScope();
  /** What is the same for every run of the session. */
  const conversation: Omit<LoopOptions, "interrupt" | "budget"> = {
    world,
    source: agent.source,
    model,
    prefix,
    tools,
    history,
    transcript,
    scope,
    priceOf,
    contextOf: (call, signal) => ({ world, signal, toolUseId: call.id, agent }),
    gate,
    queue: {
      take: () => queue.take(undefined),
      waiting: () => queue.waiting(undefined),
      acknowledge: queue.acknowledge,
    },
    limits: {
      maxTurns: options.maxTurns ?? settings.budgets?.session?.turns,
      thinking: thinkingOf(settings.thinking),
      concurrency: { tool: settings.maxToolConcurrency ?? 10, agent: 64 },
      startCallsWhileStreaming: settings.streamingTools ?? true,
    },
  };
  let running: Interrupt | undefined;
  let endRun: (() => Promise<void>) | undefined;

  async function* submit(content?: string | Block[]): AsyncGenerator<LoopEvent, RunResult, undefined> {
    if (running) throw busy();
    const input = inputOf(content, queue);
    const interrupt = createInterrupt();
    running = interrupt;
    structuredOutput = undefined;
    const runBudget = budget.child({});
    const recorder = createRunRecorder({ clock: world.clock, budget: runBudget });
    const run = runLoop({ ...conversation, interrupt, budget: runBudget, input });
    endRun = async () => void (await run.return(closedEnd));
    try {
      let step = await run.next();
      for (; !step.done; step = await run.next()) {
        recorder.see(step.value);
        yield step.value;
      }
      // A close from outside has ended the loop without a word of its own.
      const end = scope.cancelled ? (step.value ?? closedEnd) : step.value;
      transcript.append(recorder.record(end));
      await transcript.durable();
      return recorder.result(end, structuredOutput);
    } finally {
      // A consumer that left early stops the run; after its end this does nothing.
      await run.return({
        reason: "aborted",
        during: "between-turns",
        why: "nobody reads this run any longer",
      });
      running = undefined;
      endRun = undefined;
    }
  }

  return {
    id,
    transcriptPath: transcript.path,
    cwd,
    toolNames: tools.map((tool) => tool.name),
    modelId: model.id,
    get permissionMode() {
      return agent.mode.current;
    },
    permissions,
    get messages() {
      return history.messages;
    },
    totals: budget,
    submit,
    async enqueue(text) {
      const content = userContent(text);
      await queue.add({ uuid: world.random.uuid(), mode: "prompt", priority: "next", content });
    },
    get queued() {
      return queue.waiting(undefined);
    },
    interrupt: () => running?.request("stop"),
    setPermissionMode(mode: PermissionMode) {
      setup.assertAllowed(mode);
      agent.mode.current = mode;
      modeChanged();
    },
    async close() {
      scope.cancel(closedEnd.why);
      // It still has to say what became of its calls.
      await endRun?.();
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

/** The variables that settings name as holders of keys: children of tools do not see them (PE-11). */
function keyVariables(settings: SessionOptions["settings"]): string[] {
  const named = [
    ...Object.values(settings.providers ?? {}).map((provider) => provider.keyEnv),
    settings.webSearch?.keyEnv,
  ];
  return named.filter((name) => name !== undefined);
}

const defaultThinkingTokens = 8_192;

function thinkingOf(setting: SessionOptions["settings"]["thinking"]): { budgetTokens: number } | undefined {
  if (setting === undefined || setting === false) return undefined;
  return setting === true ? { budgetTokens: defaultThinkingTokens } : { budgetTokens: setting.budgetTokens };
}
