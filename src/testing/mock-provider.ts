/**
 * A provider on loopback that speaks the wire format of the Messages API, for tests through the real SDK and
 * a real connection. It answers what a test tells it to, or misbehaves as told; it refuses what the real one
 * would refuse.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  blocksOf,
  createMockPromptCache,
  type MockPromptCache,
  type MockUsage,
  TooManyMarks,
  type WireRequest,
} from "./mock-prompt-cache.ts";

export type MockBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  /** `json` replaces the input as it is streamed, to send what is not JSON. */
  | { type: "tool_use"; id?: string; name: string; input?: Record<string, unknown>; json?: string };

export interface MockMessage {
  readonly blocks: readonly MockBlock[];
  readonly stopReason?: string;
  /** The connection is cut after this many events. */
  readonly cutAfter?: number;
  /** Nothing more is sent after this many events, and the connection stays open. */
  readonly silentAfter?: number;
  /** An `error` event takes the place of what comes after this many events. */
  readonly errorAfter?: { events: number; type: string; message: string };
  /** The stream is sent in pieces of this many bytes, whatever falls on their edges. */
  readonly chunkBytes?: number;
  /** Awaited before each piece (each event, without `chunkBytes`). */
  readonly pace?: () => Promise<void>;
}

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

export interface MockRequest {
  /** The bytes as they came. */
  readonly raw: Buffer;
  readonly body: WireRequest;
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
}

export interface CacheStats {
  readonly requests: number;
  readonly inputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheReadTokens: number;
}

export interface MockProvider {
  readonly url: string;
  readonly requests: readonly MockRequest[];
  /** Summed over the requests that were answered with a message. */
  cacheStats(): CacheStats;
  /** Connections that were opened so far. */
  connectionCount(): number;
  close(): Promise<void>;
}

export async function startMockProvider(options: {
  answer: (request: MockRequest, index: number) => MockAnswer | Promise<MockAnswer>;
}): Promise<MockProvider> {
  const requests: MockRequest[] = [];
  const cache = createMockPromptCache();
  let stats: CacheStats = { requests: 0, inputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0 };
  let connections = 0;

  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const raw = await readAll(incoming);
    const body = parse(raw);
    if (typeof body === "string") return sendJson(outgoing, refusal(400, body));
    const request = { raw, body, headers: incoming.headers, path: incoming.url ?? "" };
    const index = requests.push(request) - 1;
    const answer = await options.answer(request, index);
    if (isMessage(answer)) {
      const accounted = admit(request, cache);
      if (typeof accounted === "string") return sendJson(outgoing, refusal(400, accounted));
      stats = add(stats, accounted.usage);
      accounted.commit();
      const message = "blocks" in answer ? answer : { blocks: answer };
      const context = { model: body.model ?? "mock", index, usage: accounted.usage };
      return sendMessage(outgoing, message, context);
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

/** The usage of a request, or why the provider would refuse it. */
function admit(
  request: MockRequest,
  cache: MockPromptCache,
): ReturnType<MockPromptCache["account"]> | string {
  const { headers, body } = request;
  if (!headers["x-api-key"] && !headers.authorization) return "no credentials";
  if (!headers["anthropic-version"]) return "anthropic-version: header is required";
  const problem = problemOf(body);
  if (problem !== undefined) return problem;
  try {
    return cache.account(body);
  } catch (error) {
    if (error instanceof TooManyMarks) return error.message;
    throw error;
  }
}

function problemOf(body: WireRequest): string | undefined {
  if (body.stream !== true) return "this provider only streams";
  if (body.messages[0]?.role !== "user") return "messages: first message must use the user role";
  let awaited: string[] = [];
  for (const [index, message] of body.messages.entries()) {
    const blocks = blocksOf(message.content);
    if (blocks.length === 0) return `messages.${index}: content must not be empty`;
    const results = blocks.flatMap((block) =>
      block.type === "tool_result" ? [String(block.tool_use_id)] : [],
    );
    if (results.join() !== awaited.join()) {
      return `messages.${index}: expected tool_result blocks for [${awaited}], found [${results}]`;
    }
    awaited = blocks.flatMap((block) => (block.type === "tool_use" ? [String(block.id)] : []));
    for (const block of blocks) {
      if (block.type === "text" && !/\S/.test(String(block.text))) {
        return `messages.${index}: text content blocks must be non-empty`;
      }
      if (/thinking/.test(block.type ?? "") && block.cache_control) {
        return `messages.${index}: thinking blocks cannot be marked`;
      }
    }
  }
  if (awaited.length > 0) return `tool_use ids were found without tool_result blocks: ${awaited}`;
  return undefined;
}

function refusal(status: number, message: string): { status: number; body: unknown } {
  const type = status === 400 ? "invalid_request_error" : "api_error";
  return { status, body: { type: "error", error: { type, message } } };
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
  };
}

interface MessageContext {
  readonly model: string;
  readonly index: number;
  readonly usage: MockUsage;
}

async function sendMessage(
  outgoing: ServerResponse,
  message: MockMessage,
  context: MessageContext,
): Promise<void> {
  const fault = message.errorAfter;
  const all = eventsOf(message, context);
  const count = message.cutAfter ?? message.silentAfter ?? fault?.events ?? all.length;
  const events = all.slice(0, count);
  if (fault) events.push(toEvent("error", { error: { type: fault.type, message: fault.message } }));

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

function eventsOf(message: MockMessage, { model, index, usage }: MessageContext): string[] {
  const outputTokens = Math.ceil(JSON.stringify(message.blocks).length / 4);
  const calls = message.blocks.some((block) => block.type === "tool_use");
  const wireUsage = {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: 1,
  };
  const head = { id: `msg_${index}`, type: "message", role: "assistant", model, content: [] };
  return [
    toEvent("message_start", { message: { ...head, stop_reason: null, usage: wireUsage } }),
    toEvent("ping", {}),
    ...message.blocks.flatMap((block, at) => blockEvents(block, at, index)),
    toEvent("message_delta", {
      delta: { stop_reason: message.stopReason ?? (calls ? "tool_use" : "end_turn"), stop_sequence: null },
      usage: { output_tokens: outputTokens },
    }),
    toEvent("message_stop", {}),
  ];
}

function blockEvents(block: MockBlock, index: number, request: number): string[] {
  const start = (content: object) => toEvent("content_block_start", { index, content_block: content });
  const delta = (change: object) => toEvent("content_block_delta", { index, delta: change });
  const stop = toEvent("content_block_stop", { index });
  switch (block.type) {
    case "text":
      return [
        start({ type: "text", text: "" }),
        ...halves(block.text).map((text) => delta({ type: "text_delta", text })),
        stop,
      ];
    case "thinking":
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...halves(block.thinking).map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: block.signature }),
        stop,
      ];
    case "redacted_thinking":
      return [start(block), stop];
    case "tool_use":
      return [
        start({
          type: "tool_use",
          id: block.id ?? `toolu_${request}_${index}`,
          name: block.name,
          input: {},
        }),
        ...halves(block.json ?? JSON.stringify(block.input ?? {})).map((json) =>
          delta({ type: "input_json_delta", partial_json: json }),
        ),
        stop,
      ];
  }
}

/** Two deltas, so that whoever keeps only the first or the last one is found out. */
function halves(text: string): string[] {
  if (text === "") return [];
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

function toEvent(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}
