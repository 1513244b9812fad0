/**
 * The provider's prompt cache as documented: at most four marks, an exact prefix over tools, system prompt and
 * messages, a look back of 20 blocks from each mark, and a smallest prefix. Four characters count as a token.
 */
import { createHash } from "node:crypto";

export interface MockUsage {
  readonly inputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheReadTokens: number;
}

export interface MockPromptCache {
  /** Throws a `TooManyMarks`. What the request writes can be read by requests that begin after `commit`. */
  account(body: WireRequest): { usage: MockUsage; commit(): void };
}

export class TooManyMarks extends Error {
  override readonly name = "TooManyMarks";
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

export function createMockPromptCache(): MockPromptCache {
  const written = new Set<string>();

  return {
    account(body) {
      const chain = chainOf(body);
      const marks = chain.filter((link) => link.marked);
      if (marks.length > maxMarks) throw new TooManyMarks(`A maximum of ${maxMarks} blocks may be marked.`);
      const totalTokens = chain.at(-1)?.tokens ?? 0;

      let readTokens = 0;
      for (const mark of marks) {
        const window = chain.slice(Math.max(0, mark.position - lookBackBlocks + 1), mark.position + 1);
        const hit = window.findLast((link) => written.has(link.hash));
        readTokens = Math.max(readTokens, hit?.tokens ?? 0);
      }
      const writable = marks.filter((mark) => mark.tokens >= smallestPrefixTokens);
      const cachedTokens = Math.max(readTokens, writable.at(-1)?.tokens ?? 0);
      return {
        usage: {
          inputTokens: totalTokens - cachedTokens,
          cacheWriteTokens: cachedTokens - readTokens,
          cacheReadTokens: readTokens,
        },
        commit() {
          for (const mark of writable) written.add(mark.hash);
        },
      };
    },
  };
}

/** A block of the prompt, with the hash and the size of everything up to it. */
interface Link {
  readonly position: number;
  readonly hash: string;
  readonly tokens: number;
  readonly marked: boolean;
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
    chain.push({
      position: chain.length,
      hash,
      tokens: Math.ceil(chars / 4),
      marked: mark !== undefined && mark !== null,
    });
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
