/** Sessions whose model answers by what stands before it, and says when that is too much. */
import { afterEach, beforeEach, expect } from "vitest";
import type { World } from "../../src/base/world.ts";
import type { LoopEvent } from "../../src/contracts/event.ts";
import type { Message } from "../../src/contracts/message.ts";
import type { Model, ModelRequest } from "../../src/model/model.ts";
import { ModelError } from "../../src/model/model-error.ts";
import type { Step } from "../../src/model/offline/playbook.ts";
import { eventsOf } from "../../src/model/offline/stream-step.ts";
import { createSession } from "../../src/runtime/create-session.ts";
import { restoreSession } from "../../src/runtime/restore-session.ts";
import type { RunResult, Session, SessionOptions } from "../../src/runtime/session.ts";
import { createTempWorkspace, type TempWorkspace } from "../../src/testing/temp-workspace.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";
import { untilCancelled } from "../../src/testing/until-cancelled.ts";
import { expectPaired } from "../crash/invariants.ts";

/** `hang`: it never answers. */
export type Answering = (asked: Asked) => Step | string | "hang";

export interface Asked {
  readonly request: ModelRequest;
  /** Everything that the user's side says in it, the tools excepted. */
  readonly texts: readonly string[];
  /** The last of them; if somebody has asked something with it, that. */
  readonly last: string;
  /** The last message holds results: a round of tools has ended. */
  readonly results: number;
  readonly isSummary: boolean;
}

export interface ConversingModel extends Model {
  readonly requests: readonly Asked[];
}

export function createConversingModel(
  answer: Answering,
  options: { contextWindow?: number; tooLongFrom?: () => number } = {},
): ConversingModel {
  const requests: Asked[] = [];
  return {
    provider: "conversing",
    id: "conversing",
    local: true,
    contextWindow: options.contextWindow ?? 50_000,
    requests,
    async *stream(request) {
      const asked = askedBy(request);
      requests.push(asked);
      const size = request.messages.reduce((sum, { content }) => sum + JSON.stringify(content).length, 0);
      if (size / 4 > (options.tooLongFrom?.() ?? Number.POSITIVE_INFINITY))
        throw new ModelError({ kind: "prompt-too-long", message: "The prompt is too long." });
      const step = answer(asked);
      if (step === "hang") await untilCancelled(request.scope);
      yield* eventsOf(typeof step === "string" ? { text: step } : step, { request, model: "conversing" });
    },
  };
}

function askedBy(request: ModelRequest): Asked {
  const users = request.messages.filter(({ role }) => role === "user");
  const texts = users.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === "text" ? [block.text] : [])),
  );
  const last = request.messages.at(-1)?.content ?? [];
  const lastWords = last.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return {
    request,
    texts,
    last: lastWords.findLast((text) => !text.startsWith("<")) ?? lastWords.at(-1) ?? "",
    results: last.filter(({ type }) => type === "tool_result").length,
    isSummary: texts.some((text) => text.includes("request of the runtime (service: compaction)")),
  };
}

export interface CompactionScene {
  readonly workspace: TempWorkspace;
  readonly world: World;
  open(model: Model, options?: Partial<SessionOptions>): Session;
  /** The same session as it stands on disk, after its end. */
  reopen(session: Session, model: Model, options?: Partial<SessionOptions>): Promise<Session>;
}

export function useCompactionScene(): CompactionScene {
  let workspace: TempWorkspace | undefined;
  let home: TempWorkspace | undefined;
  const opened: Session[] = [];
  const there = (one: TempWorkspace | undefined) => {
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
  const scene: CompactionScene = {
    get workspace() {
      return there(workspace);
    },
    get world() {
      return createTestWorld({ homeFolder: there(home).path });
    },
    open(model, options = {}) {
      const { world } = scene;
      const cwd = there(workspace).path;
      const session = createSession({ world, cwd, model, settings: {}, ...options });
      opened.push(session);
      return session;
    },
    async reopen(session, model, options = {}) {
      await session.close();
      const { world } = scene;
      const restored = await restoreSession({
        world,
        cwd: there(workspace).path,
        which: { id: session.id },
      });
      return scene.open(model, { ...options, restored });
    },
  };
  return scene;
}

export interface Ran extends RunResult {
  readonly events: readonly LoopEvent[];
  readonly compactions: number;
}

export async function run(
  session: Session,
  prompt?: string,
  onEvent?: (event: LoopEvent) => void,
): Promise<Ran> {
  const events: LoopEvent[] = [];
  const running = session.submit(prompt);
  let step = await running.next();
  for (; !step.done; step = await running.next()) {
    events.push(step.value);
    onEvent?.(step.value);
  }
  const compactions = events.filter((event) => event.type === "compaction-end" && !event.problem).length;
  return { ...step.value, events, compactions };
}

/** Every call has its result; what was sent is sent again, until a compaction; a summary is asked for at the end. */
export function expectSound(requests: readonly Asked[]): void {
  let before: readonly Message[] = [];
  let isShortened = false;
  for (const { request, isSummary } of requests) {
    const { messages } = request;
    expect(messages[0]?.role).toBe("user");
    expectPaired(messages, { whole: true });
    const goesOn = before.every((message, index) => message === messages[index]);
    if (!isShortened) expect(goesOn, "a request begins with the one before").toBe(true);
    isShortened = isSummary;
    if (!isSummary) before = messages;
  }
}

/** The message with which the conversation goes on after compaction. */
export function firstText(messages: readonly Message[]): string {
  return (messages[0]?.content ?? [])
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
}
