/** Claude through the official SDK: one request, one stream of events, no retries of its own. */
import { throwIfCancelled } from "../base/cancellation.ts";
import { CadreError } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import type { ModelEvent } from "../contracts/event.ts";
import {
  type ErrorContext,
  failureToModelError,
  type ProviderRefusal,
  refusalToModelError,
} from "./anthropic-error.ts";
import { createStreamReader, isFields, MalformedStream } from "./anthropic-stream.ts";
import { contextWindowOf, maxOutputTokensOf } from "./claude-models.ts";
import type { Model, ModelRequest } from "./model.ts";
import { ModelError } from "./model-error.ts";
import type { CacheTtl } from "./prompt-cache.ts";
import { createRequestSerializer } from "./serialize-request.ts";
import { createStallGuard, type StallGuard } from "./stall-guard.ts";

export interface AnthropicOptions {
  readonly world: Pick<World, "clock" | "network">;
  readonly id: string;
  /** One of the two is needed. */
  readonly apiKey?: string;
  readonly authToken?: string;
  readonly baseUrl?: string;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  /** Sent with every request; they win over the client's own. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cacheTtl?: CacheTtl;
  /** A server that says nothing for this long is given up. */
  readonly stallMs?: number;
}

type Sdk = typeof import("./anthropic-sdk.ts");
type Client = InstanceType<Sdk["MessagesClient"]>;
type WireResponse = Awaited<ReturnType<ReturnType<Client["post"]>["asResponse"]>>;

const defaultBaseUrl = "https://api.anthropic.com";
const defaultStallMs = 120_000;
/** A message that has ended is handed out after the connection can be used again, or after this. */
const drainMs = 250;
/** The SDK's own timeout runs on the real clock and is not wanted; the guard watches instead. */
const sdkTimeoutMs = 24 * 60 * 60_000;

export function createAnthropicModel(options: AnthropicOptions): Model {
  const { world, id } = options;
  const endpoint = parseBaseUrl(options.baseUrl ?? defaultBaseUrl);
  const stallMs = options.stallMs ?? defaultStallMs;
  const serializer = createRequestSerializer({ modelId: id, ttl: options.cacheTtl });
  const context: ErrorContext = {
    clock: world.clock,
    address: endpoint.address,
    modelId: id,
    credentialName: options.apiKey !== undefined ? "ANTHROPIC_API_KEY" : "ANTHROPIC_AUTH_TOKEN",
    secrets: secretsOf(options, endpoint.password),
  };
  let connection: Promise<{ sdk: Sdk; client: Client }> | undefined;

  async function* stream(request: ModelRequest): AsyncGenerator<ModelEvent, void, undefined> {
    throwIfCancelled(request.signal);
    if (context.secrets.length === 0) throw keyError(context);
    connection ??= connect(options, endpoint.url);
    const { sdk, client } = await connection;
    const guard = createStallGuard({
      clock: world.clock,
      stallMs,
      signal: request.signal,
      onStall: () => stallError(context, stallMs),
    });
    let complete = false;
    try {
      const body = serializer.serialize(request);
      const response = await open({ sdk, client, body, guard, context });
      yield* read({ sdk, response, guard, context });
      complete = true;
    } finally {
      guard.release({ complete });
    }
  }

  return {
    provider: "anthropic",
    id,
    contextWindow: options.contextWindow ?? contextWindowOf(id),
    maxOutputTokens: options.maxOutputTokens ?? maxOutputTokensOf(id),
    stream,
  };
}

async function connect(options: AnthropicOptions, baseURL: string): Promise<{ sdk: Sdk; client: Client }> {
  const sdk = await import("./anthropic-sdk.ts");
  const { network } = options.world;
  const client = new sdk.MessagesClient({
    // Null, not undefined: for what is undefined the SDK asks the process environment.
    apiKey: options.apiKey ?? null,
    authToken: options.apiKey === undefined ? (options.authToken ?? null) : null,
    webhookKey: null,
    baseURL,
    defaultHeaders: { ...options.headers },
    maxRetries: 0,
    timeout: sdkTimeoutMs,
    logLevel: "off",
    openTelemetry: false,
    // The world's network speaks the part of the interface that the SDK uses.
    fetch: network.fetch.bind(network) as unknown as typeof globalThis.fetch,
  });
  return { sdk, client };
}

interface Exchange {
  readonly sdk: Sdk;
  readonly guard: StallGuard;
  readonly context: ErrorContext;
}

async function open(exchange: Exchange & { client: Client; body: string }): Promise<WireResponse> {
  const { sdk, client, body, guard, context } = exchange;
  let response: WireResponse;
  try {
    response = await guard.waitFor(
      client
        .post("/v1/messages", {
          body,
          headers: { "content-type": "application/json" },
          stream: true,
          signal: guard.signal,
        })
        .asResponse(),
    );
  } catch (error) {
    if (error instanceof sdk.APIError && error.status !== undefined) {
      throw refusalToModelError(refusalOf(error), context);
    }
    const phase = error instanceof sdk.APIConnectionError ? "connection" : "request";
    throw failureToModelError(error, { ...context, phase });
  }
  await rejectOtherThanStream(response, { guard, context });
  return response;
}

/** A page or a document instead of a stream: most likely the address is not that of the API. */
async function rejectOtherThanStream(
  response: WireResponse,
  { guard, context }: Pick<Exchange, "guard" | "context">,
): Promise<void> {
  const contentType = response.headers.get("content-type") ?? "";
  if (!/\b(html|json|xml)\b/i.test(contentType)) return;
  const text = await guard.waitFor(response.text()).catch((error: unknown) => {
    throw failureToModelError(error, { ...context, phase: "stream" });
  });
  throw refusalToModelError(
    {
      status: response.status,
      message: `it answered with ${contentType} instead of a stream of events. Check ANTHROPIC_BASE_URL. The answer began with: ${text}`,
    },
    context,
  );
}

async function* read(
  exchange: Exchange & { response: WireResponse },
): AsyncGenerator<ModelEvent, void, undefined> {
  const { sdk, response, guard, context } = exchange;
  const reader = createStreamReader();
  const events = sdk.Stream.rawEvents(guardBody(response, guard));
  let ending: ModelEvent[] = [];
  for (;;) {
    let produced: ModelEvent[];
    try {
      const next = await events.next();
      if (next.done) break;
      if (reader.finished) continue;
      const fields = parseEvent(next.value);
      if (fields === undefined) continue;
      if (fields.type === "error") throw refusalToModelError(refusalOfEvent(fields), context);
      produced = reader.read(fields);
    } catch (error) {
      if (reader.finished) break;
      throw failureToModelError(error, { ...context, phase: "stream" });
    }
    if (reader.finished) {
      ending = produced;
      guard.limitTo(drainMs);
    } else yield* produced;
  }
  if (!reader.finished) {
    throw new ModelError({
      kind: "cut",
      message: `The answer from ${context.address} ended before the message did.`,
    });
  }
  yield* ending;
}

/** The response as the SDK reads it, with a body that gives up when the guard does. */
function guardBody(response: WireResponse, guard: StallGuard): WireResponse {
  const source = response.body;
  if (source === null) return response;
  const chunks = source[Symbol.asyncIterator]();
  const body = {
    [Symbol.asyncIterator]: () => ({
      next: () => guard.waitFor(chunks.next()),
      return: async () => ({ done: true as const, value: undefined }),
    }),
  };
  // The SDK only iterates the body; the guard's signal ends the connection behind it.
  return { body, headers: response.headers } as unknown as WireResponse;
}

function parseEvent(event: {
  event: string | null;
  data: string;
}): Readonly<Record<string, unknown>> | undefined {
  if (event.data === "" || event.event === "ping") return undefined;
  let data: unknown;
  try {
    data = JSON.parse(event.data);
  } catch {
    throw new MalformedStream(`an event is not valid JSON: ${event.data}`);
  }
  if (!isFields(data)) throw new MalformedStream(`an event is not an object: ${event.data}`);
  return event.event === "error" ? { ...data, type: "error" } : data;
}

function refusalOf(error: InstanceType<Sdk["APIError"]>): ProviderRefusal {
  return {
    status: error.status,
    type: error.type ?? undefined,
    message: error.apiMessage ?? error.message,
    headers: error.headers,
  };
}

function refusalOfEvent(fields: Readonly<Record<string, unknown>>): ProviderRefusal {
  const error = isFields(fields.error) ? fields.error : {};
  return {
    type: typeof error.type === "string" ? error.type : "api_error",
    message: typeof error.message === "string" ? error.message : JSON.stringify(fields),
  };
}

function keyError(context: ErrorContext): ModelError {
  return new ModelError({
    kind: "unauthorized",
    message: `There is no key for ${context.address}. Export ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN.`,
  });
}

function stallError(context: ErrorContext, stallMs: number): ModelError {
  return new ModelError({
    kind: "cut",
    message: `${context.address} sent nothing for ${Math.round(stallMs / 1000)} seconds.`,
  });
}

interface Endpoint {
  readonly url: string;
  /** For messages: without credentials. */
  readonly address: string;
  readonly password: string;
}

function parseBaseUrl(text: string): Endpoint {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new CadreError({
      code: "model-base-url",
      message:
        "The base URL of the Anthropic API is not an http or https address. Correct ANTHROPIC_BASE_URL or the setting, for example https://api.anthropic.com.",
    });
  }
  // The path of a request begins with /v1 already; many write it here too.
  const url = text.trim().replace(/\/+$/, "").replace(/\/v1$/, "");
  const { protocol, host, pathname, password } = new URL(url);
  return { url, address: `${protocol}//${host}${pathname === "/" ? "" : pathname}`, password };
}

function secretsOf(options: AnthropicOptions, password: string): string[] {
  const headers = Object.entries(options.headers ?? {}).flatMap(([name, value]) =>
    /auth|key|token|secret|cookie/i.test(name) ? [value] : [],
  );
  return [options.apiKey, options.authToken, password, ...headers]
    .flatMap((secret) => (secret === undefined ? [] : [secret.trim()]))
    .filter((secret) => secret.length > 0)
    .sort((a, b) => b.length - a.length);
}
