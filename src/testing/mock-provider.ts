/**
 * A provider on loopback that speaks the wire format of a real one, for tests through the real SDK and a real
 * connection. It answers what a test tells it to, or misbehaves as told; it refuses what the real one would
 * refuse.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMessagesDialect } from "./mock-anthropic.ts";
import type { MessageContext, MockBlock, MockDialect, MockMessage, MockRequest } from "./mock-dialect.ts";
import { createChatDialect } from "./mock-openai.ts";
import type { MockUsage, WireRequest } from "./mock-prompt-cache.ts";

export type MockAnswer =
  | readonly MockBlock[]
  | MockMessage
  /** Any other answer than a message. */
  | { status: number; headers?: Record<string, string>; body?: unknown }
  /** A stream with this text in it, whatever it is. */
  | { raw: string; headers?: Record<string, string> }
  /** No answer, and the connection stays open. */
  | { fault: "silence" }
  /** The connection is closed instead of an answer. */
  | { fault: "hang-up" };

export interface CacheStats {
  readonly requests: number;
  readonly inputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheReadTokens: number;
  /** Of those written, the ones that are kept for an hour. */
  readonly longCacheWriteTokens: number;
}

export interface MockProvider {
  readonly url: string;
  readonly requests: readonly MockRequest[];
  /** Summed over the requests that were answered with a message. */
  cacheStats(): CacheStats;
  /** Of one of `requests`; undefined if it was not answered with a message. */
  usageOf(request: MockRequest): MockUsage | undefined;
  /** Connections that were opened so far. */
  connectionCount(): number;
  close(): Promise<void>;
}

export async function startMockProvider(options: {
  /** What it speaks: the Messages API (the default) or chat completions. */
  dialect?: "anthropic" | "openai";
  /** The time by which what it caches expires; absent: never. */
  now?: () => number;
  answer: (request: MockRequest, index: number) => MockAnswer | Promise<MockAnswer>;
}): Promise<MockProvider> {
  const requests: MockRequest[] = [];
  const dialect = options.dialect === "openai" ? createChatDialect() : createMessagesDialect(options);
  const refusal = (status: number, message: string) => ({ status, body: dialect.refusalOf(status, message) });
  let stats: CacheStats = {
    requests: 0,
    inputTokens: 0,
    cacheWriteTokens: 0,
    cacheReadTokens: 0,
    longCacheWriteTokens: 0,
  };
  let connections = 0;
  const usages = new WeakMap<MockRequest, MockUsage>();

  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const raw = await readAll(incoming);
    const body = parse(raw);
    if (typeof body === "string") return sendJson(outgoing, refusal(400, body));
    const request = { raw, body, headers: incoming.headers, path: incoming.url ?? "" };
    const index = requests.push(request) - 1;
    // A request finds what was in the cache when it came, not what others wrote while it waited for its answer.
    const accounted = dialect.admit(request);
    const answer = await options.answer(request, index);
    if (isMessage(answer)) {
      if (typeof accounted === "string") return sendJson(outgoing, refusal(400, accounted));
      stats = add(stats, accounted.usage);
      usages.set(request, accounted.usage);
      accounted.commit();
      const message = "blocks" in answer ? answer : { blocks: answer };
      const context = { model: body.model ?? "mock", index, usage: accounted.usage };
      return sendMessage(outgoing, { message, context, dialect });
    }
    if ("fault" in answer) {
      if (answer.fault === "hang-up") incoming.socket.destroy();
      return;
    }
    if ("raw" in answer) {
      outgoing.writeHead(200, { "content-type": "text/event-stream", ...answer.headers });
      outgoing.end(answer.raw);
      return;
    }
    sendJson(outgoing, answer);
  };

  const server = createServer((incoming, outgoing) => {
    respond(incoming, outgoing).catch((error: unknown) => {
      // A test's `answer` threw: the client sees a failure that names it.
      if (!outgoing.headersSent) sendJson(outgoing, refusal(500, String(error)));
      else outgoing.destroy();
    });
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    cacheStats: () => stats,
    usageOf: (request) => usages.get(request),
    connectionCount: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isMessage(answer: MockAnswer): answer is readonly MockBlock[] | MockMessage {
  return Array.isArray(answer) || "blocks" in answer;
}

async function readAll(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function parse(raw: Buffer): WireRequest | string {
  try {
    const body = JSON.parse(raw.toString("utf8")) as Partial<WireRequest>;
    return Array.isArray(body.messages) ? (body as WireRequest) : "messages: Field required";
  } catch {
    return "The request body is not valid JSON";
  }
}

function sendJson(
  outgoing: ServerResponse,
  answer: { status: number; headers?: Record<string, string>; body?: unknown },
): void {
  const isText = typeof answer.body === "string";
  outgoing.writeHead(answer.status, {
    "content-type": isText ? "text/plain" : "application/json",
    ...answer.headers,
  });
  outgoing.end(isText ? answer.body : JSON.stringify(answer.body ?? {}));
}

function add(stats: CacheStats, usage: MockUsage): CacheStats {
  return {
    requests: stats.requests + 1,
    inputTokens: stats.inputTokens + usage.inputTokens,
    cacheWriteTokens: stats.cacheWriteTokens + usage.cacheWriteTokens,
    cacheReadTokens: stats.cacheReadTokens + usage.cacheReadTokens,
    longCacheWriteTokens: stats.longCacheWriteTokens + (usage.longCacheWriteTokens ?? 0),
  };
}

async function sendMessage(
  outgoing: ServerResponse,
  { message, context, dialect }: { message: MockMessage; context: MessageContext; dialect: MockDialect },
): Promise<void> {
  const fault = message.errorAfter;
  const all = dialect.eventsOf(message, context);
  const count = message.cutAfter ?? message.silentAfter ?? fault?.events ?? all.length;
  const events = all.slice(0, count);
  if (fault) events.push(dialect.errorEvent({ type: fault.type, message: fault.message }));

  outgoing.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  outgoing.flushHeaders();
  for (const piece of piecesOf(events, message)) {
    await message.pace?.();
    if (outgoing.destroyed) return;
    // The cut must not overtake what was written before it.
    await new Promise<void>((resolve) => outgoing.write(piece, () => resolve()));
  }
  if (message.cutAfter !== undefined) outgoing.destroy();
  else if (message.silentAfter === undefined) outgoing.end();
}

function piecesOf(events: readonly string[], message: MockMessage): Buffer[] {
  const { chunkBytes } = message;
  const whole = Buffer.from(events.join(""));
  if (chunkBytes === undefined) return message.pace ? events.map((event) => Buffer.from(event)) : [whole];
  const pieces: Buffer[] = [];
  for (let at = 0; at < whole.length; at += chunkBytes) pieces.push(whole.subarray(at, at + chunkBytes));
  return pieces;
}
