/** The services of a session as its runs see them. Most sessions need none: what does the work is loaded when it is needed. */
import type { LiveAgents } from "../agents/agent-context.ts";
import { messageOf } from "../base/errors.ts";
import { namedSecrets, runtimeSecrets, type Secret } from "../base/secrets.ts";
import type { Block, Message } from "../contracts/message.ts";
import { createInterrupt } from "../loop/interrupt.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import { memoryFolders } from "../memory/memory-folders.ts";
import type { PermissionEngine } from "../permissions/engine.ts";
import type { Services, ServicesOptions } from "../services/create-services.ts";
import type { ServiceCost } from "../services/service-host.ts";
import { type ServiceName, serviceSetting } from "../services/service-settings.ts";
import type { Gate } from "../tools/executor.ts";
import type { SessionFiles } from "../transcript/location.ts";
import { keyVariables } from "./key-variables.ts";
import { createPermissionGate } from "./permission-gate.ts";

export interface SessionServices {
  /** What the model shall hear before this prompt: what earlier sessions have left, what was prepared. Never rejects. */
  news(messages: readonly Message[], prompt: string | Block[] | undefined): Promise<readonly Block[]>;
  runBegan(): void;
  runEnded(): void;
  /** For compaction. Undefined: there are none. */
  notes(): Promise<string | undefined>;
  askAside(question: string, signal?: AbortSignal): Promise<string>;
  watchAgents(): () => void;
  readonly costs: readonly ServiceCost[];
  /** To be called before the scope of the session is cancelled. */
  close(): Promise<void>;
}

export interface IdleServicesOptions
  extends Omit<
    ServicesOptions,
    "folder" | "memory" | "secrets" | "conversation" | "messages" | "loopOf" | "quietGate"
  > {
  readonly files: SessionFiles;
  /** False: nothing of the session is kept. */
  readonly keeps: boolean;
  readonly engine: PermissionEngine;
  /** The main conversation, as a run of it would begin. */
  readonly conversation: () => Omit<LoopOptions, "interrupt" | "listener">;
  readonly live: Pick<LiveAgents, "of">;
}

/** Done when the main agent is idle. */
const idleServices: readonly ServiceName[] = [
  "sessionMemory",
  "extractMemories",
  "consolidateMemories",
  "suggest",
];

/** Nobody waits for a session that a person has left; of one that a program closes, what it learned is worth a moment. */
const graceMs = 10_000;

export function createIdleServices(options: IdleServicesOptions): SessionServices {
  const { world, files, keeps, onSuggestion } = options;
  const memory = memoryFolders({ homeFolder: world.homeFolder, projectFolder: files.projectFolder });
  const isEnabled = (name: ServiceName) => serviceSetting(name, options).enabled;
  const hasIdleOnes = idleServices.some(
    (name) => isEnabled(name) && (name !== "suggest" || onSuggestion !== undefined),
  );
  let loading: Promise<Services> | undefined;
  let loaded: Services | undefined;
  let isIdle = true;
  let closed = false;
  let recalled: Promise<string | undefined> | undefined;

  const load = () => {
    loading ??= import("../services/create-services.ts").then(({ createServices }) => {
      loaded = createServices({
        ...options,
        folder: keeps ? files.folder : undefined,
        memory,
        secrets: secretsOf(options),
        messages: () => mainLoop(options).history.messages,
        conversation() {
          const loop = mainLoop(options);
          return loop.history.messages.length === 0 ? undefined : loop;
        },
        loopOf: (agentId) => loopOfAgent(options, agentId),
        quietGate: quietGate(options),
      });
      return loaded;
    });
    return loading;
  };

  /** Once in a session: it would not change the bytes that were sent. */
  async function recall(): Promise<string | undefined> {
    const { readMemories } = await import("../memory/read-memories.ts");
    return await readMemories(world, memory);
  }

  return {
    async news(messages, prompt) {
      const told: string[] = [];
      if (isEnabled("extractMemories")) {
        recalled ??= recall().catch((error: unknown) => {
          options.onProblem(`What earlier sessions have left cannot be read: ${messageOf(error)}`);
          return undefined;
        });
        const text = await recalled;
        if (text !== undefined && !holdsRecall(messages, text)) told.push(text);
      }
      const draft = loaded?.takeDraft(typeof prompt === "string" ? prompt : "");
      if (draft !== undefined) told.push(draft);
      return told.map((text) => ({ type: "text", text }));
    },
    runBegan() {
      isIdle = false;
      loaded?.runBegan();
    },
    runEnded() {
      isIdle = true;
      if (!hasIdleOnes || closed) return;
      if (loaded) return loaded.runEnded();
      load().then(
        (services) => {
          if (isIdle && !closed) services.runEnded();
        },
        (error: unknown) => options.onProblem(messageOf(error)),
      );
    },
    async notes() {
      if (!keeps || !isEnabled("sessionMemory")) return undefined;
      const { readNotes } = await import("../services/notes-file.ts");
      return await readNotes(world.files, files.folder);
    },
    askAside: async (question, signal) => await (await load()).askAside(question, signal),
    watchAgents() {
      let leave: (() => void) | undefined;
      let left = false;
      load().then(
        (services) => {
          if (!left && !closed) leave = services.watchAgents();
        },
        (error: unknown) => options.onProblem(messageOf(error)),
      );
      return () => {
        left = true;
        leave?.();
      };
    },
    get costs() {
      return loaded?.costs ?? [];
    },
    async close() {
      closed = true;
      const services = await loading?.catch(() => undefined);
      await services?.close({ graceMs: options.isWatched ? 0 : graceMs });
    },
  };
}

/** All that its name calls one, also where tools may see it. */
function secretsOf({ world, settings }: IdleServicesOptions): Secret[] {
  return [
    ...runtimeSecrets(world.env, keyVariables(settings)),
    ...namedSecrets({ ...world.env, ...settings.env }),
  ];
}

/** It stands near the beginning, of the conversation or of what compaction has made of it. */
function holdsRecall(messages: readonly Message[], text: string): boolean {
  return messages.some(({ content }) =>
    content.some((block) => block.type === "text" && block.text === text),
  );
}

function mainLoop({ conversation }: IdleServicesOptions): LoopOptions {
  return { ...conversation(), interrupt: createInterrupt(), listener: { emit() {} } };
}

/** As its last request was made. Undefined: it is not alive, or has asked nothing yet. */
function loopOfAgent(options: IdleServicesOptions, agentId: string): LoopOptions | undefined {
  const context = options.live.of(agentId);
  const sent = context?.history.sentWith;
  if (context === undefined || sent === undefined) return undefined;
  const main = mainLoop(options);
  const { agent, model, budget, cancellation, history } = context;
  const { prefix, tools } = sent;
  const limits = { ...main.limits, thinking: sent.limits.thinking };
  return { ...main, agent, model, budget, scope: cancellation, history, prefix, tools, limits };
}

/** The same rules, but nobody is asked, and nothing is recorded of calls that stand in no conversation. */
function quietGate({ engine, world, files }: IdleServicesOptions): Gate {
  return createPermissionGate({
    engine,
    broker: { ask: async () => ({ kind: "unanswered", why: "nobody-there" }) },
    clock: world.clock,
    sessionFolders: [files.folder],
    record() {},
  });
}
