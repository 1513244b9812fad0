/** A session with a scripted model in a temporary folder, for stories in which agents start agents. */
import { afterEach, beforeEach } from "vitest";
import type { World } from "../../src/base/world.ts";
import { type AgentActivity, agentActivityOf, type LoopEvent } from "../../src/contracts/event.ts";
import type { Block } from "../../src/contracts/message.ts";
import { textOf } from "../../src/contracts/message-content.ts";
import type { ModelRequest } from "../../src/model/model.ts";
import type { CallResult } from "../../src/model/offline/playbook.ts";
import { createSession } from "../../src/runtime/create-session.ts";
import type { RunResult, Session, SessionOptions } from "../../src/runtime/session.ts";
import {
  createScriptedModel,
  type Reply,
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptTask,
} from "../../src/testing/scripted-model.ts";
import { createTempWorkspace, type TempWorkspace } from "../../src/testing/temp-workspace.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";

/** What an agent does, by the prompt that it is given. */
export type Plays = Readonly<
  Record<string, (task: ScriptTask) => Generator<Reply, Reply, readonly CallResult[]>>
>;

export interface OpenedSession {
  readonly session: Session;
  readonly model: ScriptedModel;
  /** The requests of the agent whose first prompt this was, in order. */
  requestsOf(prompt: string): ModelRequest[];
  run(prompt: string, onEvent?: (event: LoopEvent) => void): Promise<FinishedRun>;
}

export interface FinishedRun extends RunResult {
  readonly events: readonly LoopEvent[];
  /** What the main agent's calls were answered with, in order. */
  readonly results: readonly { text: string; isError: boolean; blocks: number }[];
  /** The structured values behind them. */
  readonly outputs: readonly unknown[];
  readonly activities: readonly (AgentActivity & { toolUseId: string })[];
}

export interface AgentScene {
  readonly workspace: TempWorkspace;
  readonly home: TempWorkspace;
  open(
    plays: Plays,
    options?: Partial<SessionOptions>,
    more?: { world?: Partial<World>; model?: ScriptedModelOptions },
  ): OpenedSession;
}

export function useAgentScene(): AgentScene {
  let workspace: TempWorkspace | undefined;
  let home: TempWorkspace | undefined;
  const opened: Session[] = [];
  const now = (one: TempWorkspace | undefined) => {
    if (one === undefined) throw new Error("only inside a test");
    return one;
  };
  beforeEach(async () => {
    workspace = await createTempWorkspace();
    home = await createTempWorkspace();
  });
  afterEach(async () => {
    for (const session of opened.splice(0)) await session.close();
    await workspace?.remove();
    await home?.remove();
  });
  return {
    get workspace() {
      return now(workspace);
    },
    get home() {
      return now(home);
    },
    open(plays, options = {}, more = {}) {
      const model = createScriptedModel((task) => playFor(plays, task), more.model);
      const world = createTestWorld({ homeFolder: now(home).path, ...more.world });
      const cwd = now(workspace).path;
      const session = createSession({ world, cwd, model, settings: {}, ...options });
      opened.push(session);
      return {
        session,
        model,
        requestsOf: (prompt) => model.requests.filter((request) => isAskedFirst(request, prompt)),
        run: (prompt, onEvent) => run(session, prompt, onEvent),
      };
    },
  };
}

function playFor(plays: Plays, task: ScriptTask): Generator<Reply, Reply, readonly CallResult[]> {
  const play = plays[task.prompt] ?? plays["*"];
  if (play === undefined) throw new Error(`The test has no play for: ${task.prompt.slice(0, 200)}`);
  return play(task);
}

function isAskedFirst({ messages }: ModelRequest, prompt: string): boolean {
  const first = messages[0]?.content ?? [];
  return first.some((block) => block.type === "text" && block.text === prompt);
}

async function run(
  session: Session,
  prompt: string,
  onEvent?: (event: LoopEvent) => void,
): Promise<FinishedRun> {
  const events: LoopEvent[] = [];
  const running = session.submit(prompt);
  let step = await running.next();
  for (; !step.done; step = await running.next()) {
    events.push(step.value);
    onEvent?.(step.value);
  }
  const ends = events.flatMap((event) => (event.type === "call-end" ? [event] : []));
  return {
    ...step.value,
    events,
    results: ends.map(({ result }) => ({
      text: textOfResult(result.content),
      isError: result.is_error === true,
      blocks: result.content.length,
    })),
    outputs: ends.map(({ output }) => output),
    activities: events.flatMap((event) => agentActivityOf(event) ?? []),
  };
}

export function textOfResult(content: string | readonly Block[]): string {
  return typeof content === "string" ? content : textOf(content);
}

/** A call of `Agent` whose prompt is a play. */
export function agent(prompt: string, input: Record<string, unknown> = {}): ScriptedCall {
  return { name: "Agent", input: { description: "a task", prompt, ...input } };
}

/** Calls once, and ends with what came of it. */
export function calling(...calls: ScriptedCall[]): Plays[string] {
  return function* () {
    const results = yield { calls };
    return results.map((result) => result.text).join("\n---\n");
  };
}

export function saying(reply: Reply): Plays[string] {
  // biome-ignore lint/correctness/useYield: it says one thing and ends.
  return function* () {
    return reply;
  };
}

export function toolNames(request: ModelRequest | undefined): string[] {
  return request?.tools.map(({ name }) => name) ?? [];
}
