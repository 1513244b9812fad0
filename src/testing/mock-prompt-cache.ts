/**
 * The provider's prompt cache as documented: at most four marks, those for an hour before those for five minutes, an
 * exact prefix over tools, system prompt and messages, a look back of 20 blocks from each mark, and a smallest prefix.
 * Where the documentation is silent, the answer that saves least is taken. Four characters count as a token.
 */
import { createHash } from "node:crypto";

export interface MockUsage {
  readonly inputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheReadTokens: number;
  /** Of those written, the ones that are kept for an hour. */
  readonly longCacheWriteTokens?: number;
}

export interface MockPromptCache {
  /**
   * As the request finds it when it comes. Throws a `RefusedMarks`. What it writes can be read by requests that come
   * after `commit`, which belongs at the beginning of the answer.
   */
  account(body: WireRequest): { usage: MockUsage; commit(): void };
}

export class RefusedMarks extends Error {
  override readonly name = "RefusedMarks";
}

export type WireBlock = { type?: string; cache_control?: unknown } & Record<string, unknown>;

export interface WireMessage {
  readonly role: string;
  readonly content: string | readonly WireBlock[];
}

export interface WireRequest {
  readonly model?: string;
  readonly stream?: boolean;
  readonly system?: string | readonly WireBlock[];
  readonly tools?: readonly WireBlock[];
  readonly messages: readonly WireMessage[];
  readonly [field: string]: unknown;
}

const maxMarks = 4;
const lookBackBlocks = 20;
const smallestPrefixTokens = 1024;
const fiveMinutesMs = 300_000;
const hourMs = 3_600_000;

interface Entry {
  readonly lifetimeMs: number;
  expiresMs: number;
}

/** Without a clock nothing ever expires. */
export function createMockPromptCache({ now = () => 0 }: { now?: () => number } = {}): MockPromptCache {
  const entries = new Map<string, Entry>();
  const isAlive = ({ hash }: Link) => (entries.get(hash)?.expiresMs ?? Number.NEGATIVE_INFINITY) > now();

  return {
    account(body) {
      const chain = chainOf(body);
      const marks = marksIn(chain);
      const hits = marks.flatMap((mark) => {
        const from = Math.max(0, mark.position - lookBackBlocks + 1);
        return chain.slice(from, mark.position + 1).findLast(isAlive) ?? [];
      });
      const readTokens = Math.max(0, ...hits.map(({ tokens }) => tokens));
      const used = [...hits, ...marks.filter((mark) => mark.tokens <= readTokens && isAlive(mark))];
      const written = marks.filter(({ tokens }) => tokens > readTokens && tokens >= smallestPrefixTokens);
      const cachedTokens = written.at(-1)?.tokens ?? readTokens;
      const longTokens = written.findLast(isLong)?.tokens ?? readTokens;
      return {
        usage: {
          inputTokens: (chain.at(-1)?.tokens ?? 0) - cachedTokens,
          cacheWriteTokens: cachedTokens - readTokens,
          cacheReadTokens: readTokens,
          longCacheWriteTokens: longTokens - readTokens,
        },
        commit() {
          for (const { hash } of used) refresh(entries.get(hash));
          for (const mark of written) write(mark);
        },
      };
    },
  };

  /** Whatever is used lives on for as long as it was meant to when it was written, whoever uses it. */
  function refresh(entry: Entry | undefined): void {
    if (entry !== undefined) entry.expiresMs = now() + entry.lifetimeMs;
  }

  function write(mark: Mark): void {
    const lifetimeMs = isLong(mark) ? hourMs : fiveMinutesMs;
    const before = entries.get(mark.hash);
    // Another that came at the same time may have written it, and for longer.
    const isLonger = before !== undefined && isAlive(mark) && before.lifetimeMs > lifetimeMs;
    if (isLonger) refresh(before);
    else entries.set(mark.hash, { lifetimeMs, expiresMs: now() + lifetimeMs });
  }
}

/** A block of the prompt, with the hash and the size of everything up to it. */
interface Link {
  readonly position: number;
  readonly hash: string;
  readonly tokens: number;
  readonly mark: unknown;
}

type Mark = Link & { readonly mark: object };

function marksIn(chain: readonly Link[]): Mark[] {
  const marks = chain.filter((link): link is Mark => typeof link.mark === "object" && link.mark !== null);
  if (marks.length > maxMarks) throw new RefusedMarks(`A maximum of ${maxMarks} blocks may be marked.`);
  const firstShort = marks.findIndex((mark) => !isLong(mark));
  if (firstShort >= 0 && marks.slice(firstShort).some(isLong))
    throw new RefusedMarks("A cache_control with ttl 1h must not come after one with ttl 5m.");
  return marks;
}

function isLong({ mark }: Mark): boolean {
  return "ttl" in mark && mark.ttl === "1h";
}

function chainOf(body: WireRequest): Link[] {
  const chain: Link[] = [];
  let hash = hashOf(`model ${body.model ?? ""}`);
  let chars = 0;
  const add = (level: string, block: WireBlock) => {
    const { cache_control: mark, ...content } = block;
    const json = JSON.stringify(content);
    hash = hashOf(`${hash} ${level} ${json}`);
    chars += json.length;
    chain.push({ position: chain.length, hash, tokens: Math.ceil(chars / 4), mark });
  };
  for (const tool of body.tools ?? []) add("tool", tool);
  for (const block of blocksOf(body.system ?? [])) add("system", block);
  // A change of these leaves what was cached of tools and system prompt alone.
  hash = hashOf(`${hash} ${JSON.stringify([body.thinking, body.tool_choice])}`);
  for (const message of body.messages) {
    for (const block of blocksOf(message.content)) add(message.role, block);
  }
  return chain;
}

export function blocksOf(content: string | readonly WireBlock[]): readonly WireBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function hashOf(text: string): string {
  return createHash("sha1").update(text).digest("base64");
}
