/** Sessions that speak with a provider on loopback, which counts what is read from its prompt cache and written to it. */
import { afterEach } from "vitest";
import type { World } from "../../src/base/world.ts";
import type { Block } from "../../src/contracts/message.ts";
import type { Settings } from "../../src/contracts/settings.ts";
import { createSession } from "../../src/runtime/create-session.ts";
import { createModelSource } from "../../src/runtime/model-source.ts";
import type { Session, SessionOptions } from "../../src/runtime/session.ts";
import type { MockBlock, MockRequest } from "../../src/testing/mock-dialect.ts";
import { blocksOf, type MockUsage, type WireBlock } from "../../src/testing/mock-prompt-cache.ts";
import { type MockAnswer, type MockProvider, startMockProvider } from "../../src/testing/mock-provider.ts";
import { createTempWorkspace } from "../../src/testing/temp-workspace.ts";
import { createTestWorld } from "../../src/testing/test-world.ts";

export interface CacheScene {
  readonly world: World;
  readonly cwd: string;
  readonly provider: MockProvider;
  open(options?: Partial<SessionOptions>): Promise<Session>;
}

/** One more piece of the model's answer, by what it is asked. */
export type Answer = (asked: Asked) => MockAnswer | Promise<MockAnswer>;

export interface Asked {
  readonly request: MockRequest;
  /** Answers of the model that stand in it. */
  readonly answers: number;
  /** The last thing that was said to it, if that was text. */
  readonly lastText: string;
}

export function useCacheScene(): (options: {
  answer: Answer;
  settings?: Settings;
  clock?: World["clock"];
}) => Promise<CacheScene> {
  const cleanUps: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });
  return async ({ answer, settings = {}, clock }) => {
    const workspace = await createTempWorkspace();
    const home = await createTempWorkspace();
    const provider = await startMockProvider({
      answer: (request) => answer(askedBy(request)),
      ...(clock && { now: () => clock.now() }),
    });
    const world = createTestWorld({
      homeFolder: home.path,
      env: { KEY: "secret", PATH: process.env.PATH },
      ...(clock && { clock }),
    });
    const all: Settings = {
      model: "server/claude-sonnet-4-5",
      providers: { server: { type: "anthropic", baseUrl: provider.url, keyEnv: "KEY" } },
      ...settings,
    };
    const model = await createModelSource({ world, settings: all }).model();
    cleanUps.push(async () => {
      world.network.close();
      await provider.close();
      await workspace.remove();
      await home.remove();
    });
    return {
      world,
      cwd: workspace.path,
      provider,
      async open(options = {}) {
        const session = createSession({ world, cwd: workspace.path, model, settings: all, ...options });
        cleanUps.push(() => session.close());
        return session;
      },
    };
  };
}

function askedBy(request: MockRequest): Asked {
  const last = lastBlockOf(request);
  return {
    request,
    answers: request.body.messages.filter(({ role }) => role === "assistant").length,
    lastText: last?.type === "text" ? String(last.text) : "",
  };
}

export async function runToEnd(session: Session, prompt: string | Block[]): Promise<void> {
  for await (const _ of session.submit(prompt));
  while (await session.nextWork()) for await (const _ of session.submit());
}

export function callAgent(prompt: string, input: Record<string, unknown> = {}): MockBlock {
  return { type: "tool_use", name: "Agent", input: { description: "a part", prompt, ...input } };
}

export const look: MockBlock = { type: "tool_use", name: "Glob", input: { pattern: "*" } };

export function said(text: string): MockBlock[] {
  return [{ type: "text", text }];
}

/** About so many tokens of a conversation, in blocks as files have them. */
export function longPrompt(tokens: number): Block[] {
  return Array.from({ length: 10 }, (_, index) => ({
    type: "text",
    text: `File ${index}: ${"all work and no play ".repeat(Math.ceil(tokens / 10 / 5.25))}`,
  }));
}

/** The bytes as they came, without what says where the cache shall keep something. */
export function withoutMarks({ raw }: MockRequest): string {
  return raw.toString("utf8").replaceAll(/,"cache_control":\{[^}]*\}/g, "");
}

export function lastBlockOf({ body }: MockRequest): WireBlock | undefined {
  return blocksOf(body.messages.at(-1)?.content ?? []).at(-1);
}

/** The bytes before the last block, and the last block. */
export function splitAtLastBlock(request: MockRequest): { before: string; last: string } {
  const { cache_control: _, ...block } = lastBlockOf(request) ?? {};
  const text = withoutMarks(request);
  const last = `${JSON.stringify(block)}]}]}`;
  if (!text.endsWith(last)) throw new Error("the request does not end with its last block");
  return { before: text.slice(0, -last.length), last };
}

/** The bytes before its last message. */
export function beforeLastMessage(request: MockRequest): string {
  const text = withoutMarks(request);
  return text.slice(0, text.lastIndexOf(',{"role":"user","content":['));
}

export function total(usages: readonly (MockUsage | undefined)[]): Required<MockUsage> {
  const sum = (key: keyof MockUsage) => usages.reduce((all, usage) => all + (usage?.[key] ?? 0), 0);
  return {
    inputTokens: sum("inputTokens"),
    cacheWriteTokens: sum("cacheWriteTokens"),
    cacheReadTokens: sum("cacheReadTokens"),
    longCacheWriteTokens: sum("longCacheWriteTokens"),
  };
}

export function shareRead(usages: readonly (MockUsage | undefined)[]): number {
  const { inputTokens, cacheWriteTokens, cacheReadTokens } = total(usages);
  return cacheReadTokens / (inputTokens + cacheWriteTokens + cacheReadTokens);
}

/** In prices of a plain input token: writes cost 1.25, for an hour 2, reads 0.1. */
export function priceOf(usages: readonly (MockUsage | undefined)[]): number {
  const { inputTokens, cacheWriteTokens, cacheReadTokens, longCacheWriteTokens } = total(usages);
  return (
    inputTokens +
    1.25 * (cacheWriteTokens - longCacheWriteTokens) +
    2 * longCacheWriteTokens +
    0.1 * cacheReadTokens
  );
}

/** Holds everybody until so many have come. */
export function createBarrier(count: number): () => Promise<void> {
  let there = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    there += 1;
    if (there === count) open();
    return opened;
  };
}
