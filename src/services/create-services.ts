/** All services of one session, joined. */
import type { Secret } from "../base/secrets.ts";
import type { Message } from "../contracts/message.ts";
import type { LoopOptions } from "../loop/loop-options.ts";
import { createMemoryFile } from "../memory/memory-file.ts";
import type { MemoryFolders } from "../memory/memory-folders.ts";
import type { TaskRegistry } from "../tasks/registry.ts";
import type { Gate } from "../tools/executor.ts";
import { createConsolidateMemories } from "./consolidate-memories.ts";
import { createExtractMemories } from "./extract-memories.ts";
import { createSecretGuard } from "./memory-secrets.ts";
import { createServiceHost, type ServedSession, type ServiceCost, type ServiceHost } from "./service-host.ts";
import { createSessionNotes } from "./session-notes.ts";
import { askAside } from "./side-question.ts";
import { createSpeculation } from "./speculate.ts";
import { createSuggestPrompt } from "./suggest-prompt.ts";
import { createAgentSummaries } from "./summarize-agents.ts";

export interface ServicesOptions extends ServedSession {
  readonly sessionId: string;
  /** Of the session. Undefined: nothing of it is kept, so there are no notes. */
  readonly folder: string | undefined;
  readonly memory: MemoryFolders;
  /** What must not be kept. */
  readonly secrets: readonly Secret[];
  readonly messages: () => readonly Message[];
  /** What an earlier process of the session has seen. */
  readonly restored: readonly Message[];
  readonly tasks: Pick<TaskRegistry, "list" | "get" | "update">;
  /** The run of an agent that is alive. */
  readonly loopOf: (agentId: string) => LoopOptions | undefined;
  /** For calls that nobody has asked for: it never asks a person, and keeps no record. */
  readonly quietGate: Gate;
  /** Absent: nobody shows suggestions, so none are made. */
  readonly onSuggestion?: ((text: string) => void) | undefined;
}

export interface Services extends Pick<ServiceHost, "runBegan" | "runEnded" | "close"> {
  readonly costs: readonly ServiceCost[];
  askAside(question: string, signal?: AbortSignal): Promise<string>;
  /** Somebody looks at the running agents, until the returned function is called. */
  watchAgents(): () => void;
  /** What was prepared for this prompt; with anything else that was prepared it is gone after that. */
  takeDraft(prompt: string): string | undefined;
}

export function createServices(options: ServicesOptions): Services {
  const { world, folder, memory, messages, restored, onSuggestion } = options;
  const guard = createSecretGuard(options.secrets);
  const files = {
    user: createMemoryFile(world, memory.user),
    project: createMemoryFile(world, memory.project),
  };
  const speculation = createSpeculation({
    conversation: options.conversation,
    gate: options.quietGate,
  });
  const suggest =
    onSuggestion &&
    createSuggestPrompt({
      messages,
      seen: restored,
      onSuggestion(text) {
        onSuggestion(text);
        if (!host.isEnabled("speculate")) return;
        speculation.suggest(text);
        host.begin(speculation);
      },
    });
  const host = createServiceHost(options, [
    ...(suggest ? [suggest] : []),
    ...(folder === undefined ? [] : [createSessionNotes({ world, folder, redactor: guard, messages })]),
    createExtractMemories({ ...options, files, guard, seen: restored }),
    createConsolidateMemories({ world, files: [files.user, files.project] }),
  ]);
  const summaries = createAgentSummaries({
    host,
    clock: world.clock,
    tasks: options.tasks,
    loopOf: options.loopOf,
  });
  return {
    runBegan: host.runBegan,
    runEnded: host.runEnded,
    close: host.close,
    get costs() {
      return host.costs;
    },
    askAside: (question, signal) => askAside(host, question, signal),
    watchAgents: summaries.watch,
    takeDraft: speculation.take,
  };
}
