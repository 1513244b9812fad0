/** Claude through the official SDK: one request, one stream of events, no retries of its own. */
import type { World } from "../base/world.ts";
import type { ModelEvent } from "../contracts/event.ts";
import { AnswerStream } from "./answer-stream.ts";
import { createStreamReader } from "./anthropic-stream.ts";
import { contextWindowOf, maxOutputTokensOf } from "./claude-models.ts";
import type { ServerSentEvent } from "./event-parser.ts";
import type { Model } from "./model.ts";
import { ModelError } from "./model-error.ts";
import type { CacheTtl } from "./prompt-cache.ts";
import { type ErrorContext, type ProviderRefusal, refusalToModelError } from "./provider-error.ts";
import {
  type AnswerReader,
  addressOf,
  defaultStallMs,
  type Endpoint,
  type Exchange,
  parseEndpoint,
  sdkTimeoutMs,
  secretsAmong,
  stallErrorAt,
  type WireClient,
} from "./provider-exchange.ts";
import { createRequestSerializer } from "./serialize-request.ts";
import { type Fields, isFields, parseFields } from "./wire-fields.ts";

export interface AnthropicOptions {
  readonly world: Pick<World, "clock" | "network">;
  readonly id: string;
  /** How settings call the provider; default `anthropic`. */
  readonly provider?: string;
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
  /** Served on this machine: see `Model.local`. */
  readonly local?: boolean;
  /** Where key and address came from, for messages. */
  readonly names?: { readonly credential?: string; readonly address?: string };
}

type Sdk = typeof import("./anthropic-sdk.ts");

const defaultBaseUrl = "https://api.anthropic.com";

export function createAnthropicModel(options: AnthropicOptions): Model {
  const { world, id } = options;
  const addressName = options.names?.address ?? "ANTHROPIC_BASE_URL";
  const endpoint = parseBaseUrl(options.baseUrl ?? defaultBaseUrl, addressName);
  const serializer = createRequestSerializer({ modelId: id, ttl: options.cacheTtl });
  const context: ErrorContext = {
    clock: world.clock,
    address: endpoint.address,
    modelId: id,
    credentialName:
      options.names?.credential ??
      (options.apiKey !== undefined ? "ANTHROPIC_API_KEY" : "ANTHROPIC_AUTH_TOKEN"),
    addressName,
    secrets: secretsAmong({
      credentials: [options.apiKey, options.authToken, endpoint.url.password],
      headers: options.headers,
    }),
  };
  let client: Promise<WireClient> | undefined;
  const exchange: Exchange = {
    connect() {
      if (context.secrets.length === 0) throw keyError(context);
      client ??= connect(options, endpoint);
      return client;
    },
    serialize: serializer.serialize,
    createReader: () => new EventReader(context),
    context,
    stallMs: options.stallMs ?? defaultStallMs,
    onStall: stallErrorAt(context.address),
  };

  return {
    provider: options.provider ?? "anthropic",
    id,
    contextWindow: options.contextWindow ?? contextWindowOf(id),
    maxOutputTokens: options.maxOutputTokens ?? maxOutputTokensOf(id),
    ...(options.local && { local: true }),
    stream: (request) => new AnswerStream(exchange, request),
  };
}

async function connect(options: AnthropicOptions, endpoint: Endpoint): Promise<WireClient> {
  const sdk = await import("./anthropic-sdk.ts");
  const { network } = options.world;
  const client = new sdk.MessagesClient({
    // Null, not undefined: for what is undefined the SDK asks the process environment.
    apiKey: options.apiKey ?? null,
    authToken: options.apiKey === undefined ? (options.authToken ?? null) : null,
    webhookKey: null,
    baseURL: endpoint.url.href.replace(/\/+$/, ""),
    defaultHeaders: { ...options.headers },
    maxRetries: 0,
    timeout: sdkTimeoutMs,
    logLevel: "off",
    openTelemetry: false,
    // The world's network speaks the part of the interface that the SDK uses.
    fetch: network.fetch.bind(network) as unknown as typeof globalThis.fetch,
  });
  return {
    post: (body, scope) => client.send(body, scope),
    refusalIn: (error) =>
      error instanceof sdk.APIError && error.status !== undefined ? refusalOf(error) : undefined,
    isConnectionError: (error) => error instanceof sdk.APIConnectionError,
  };
}

class EventReader implements AnswerReader {
  readonly #reader = createStreamReader();
  readonly #context: ErrorContext;

  constructor(context: ErrorContext) {
    this.#context = context;
  }

  read({ event, data }: ServerSentEvent): ModelEvent[] {
    if (data === "" || event === "ping") return [];
    const fields = parseFields(data);
    if (event === "error" || fields.type === "error") {
      throw refusalToModelError(refusalOfEvent(fields), this.#context);
    }
    return this.#reader.read(fields);
  }

  get complete(): boolean {
    return this.#reader.finished;
  }

  get finished(): boolean {
    return this.#reader.finished;
  }

  end(): ModelEvent[] {
    return [];
  }
}

function refusalOf(error: InstanceType<Sdk["APIError"]>): ProviderRefusal {
  return {
    status: error.status,
    type: error.type ?? undefined,
    message: error.apiMessage ?? error.message,
    headers: error.headers,
  };
}

function refusalOfEvent(fields: Fields): ProviderRefusal {
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

/** The path of a request begins with /v1 already; many write it here too. */
function parseBaseUrl(text: string, addressName: string): Endpoint {
  const api = "the Anthropic API";
  const { url } = parseEndpoint(text, { api, addressName, example: defaultBaseUrl });
  url.pathname = url.pathname.replace(/\/v1$/, "");
  return { url, address: addressOf(url) };
}
