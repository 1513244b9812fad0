/** Models behind chat completions, the dialect that most servers speak, through the official SDK of OpenAI. */
import type { World } from "../base/world.ts";
import { AnswerStream } from "./answer-stream.ts";
import { isLoopback } from "./loopback.ts";
import type { Model } from "./model.ts";
import { ModelError } from "./model-error.ts";
import { openAiLimitsOf } from "./openai-models.ts";
import { createChatSerializer } from "./openai-request.ts";
import { createChatReader } from "./openai-stream.ts";
import type { ErrorContext } from "./provider-error.ts";
import {
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

export interface OpenAiOptions {
  readonly world: Pick<World, "clock" | "network" | "random">;
  readonly id: string;
  /** How settings call the provider; default `openai`. */
  readonly provider?: string;
  /** Servers other than OpenAI's may do without. */
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
  /** Sent with every request; they win over the client's own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A server that says nothing for this long is given up. */
  readonly stallMs?: number;
  /** Take an answer that is nothing but a call written as text for that call. Default: not with OpenAI's own models. */
  readonly recoverWrittenCalls?: boolean;
  /** Where key and address came from, for messages. */
  readonly names?: { readonly credential?: string; readonly address?: string };
}

const defaultBaseUrl = "https://api.openai.com/v1";
/** Of servers that do not say: small enough for most, and settings can say better. */
const unknownWindow = { remote: 128_000, local: 32_768 };
const largestUnknownAnswer = 16_384;

export function createOpenAiModel(options: OpenAiOptions): Model {
  const { world, id } = options;
  const addressName = options.names?.address ?? "OPENAI_BASE_URL";
  const endpoint = parseBaseUrl(options.baseUrl ?? defaultBaseUrl, addressName);
  const official = endpoint.url.hostname === new URL(defaultBaseUrl).hostname;
  const local = isLoopback(endpoint.url);
  const serializer = createChatSerializer({ modelId: id, acceptsDocuments: official });
  const context: ErrorContext = {
    clock: world.clock,
    address: endpoint.address,
    modelId: id,
    credentialName: options.names?.credential ?? (options.apiKey || official ? "OPENAI_API_KEY" : undefined),
    addressName,
    secrets: secretsAmong({
      credentials: [options.apiKey, endpoint.url.password],
      headers: options.headers,
    }),
  };
  let client: Promise<WireClient> | undefined;
  const exchange: Exchange = {
    connect() {
      if (official && context.secrets.length === 0) throw keyError(context);
      client ??= connect(options, endpoint);
      return client;
    },
    serialize: serializer.serialize,
    createReader: (request) =>
      createChatReader({
        tools: request.tools,
        promptTokens: serializer.promptTokensOf(request),
        recoverWrittenCalls: options.recoverWrittenCalls ?? !official,
        newId: () => world.random.uuid().replaceAll("-", ""),
        context,
      }),
    context,
    stallMs: options.stallMs ?? defaultStallMs,
    onStall: stallErrorAt(context.address),
  };

  return {
    provider: options.provider ?? "openai",
    id,
    local,
    ...limitsOf(options, local),
    stream: (request) => new AnswerStream(exchange, request),
  };
}

function limitsOf(
  { id, contextWindow, maxOutputTokens }: OpenAiOptions,
  local: boolean,
): Pick<Model, "contextWindow" | "maxOutputTokens"> {
  const known = openAiLimitsOf(id);
  const window =
    contextWindow ?? known?.contextWindow ?? (local ? unknownWindow.local : unknownWindow.remote);
  // Servers refuse a request whose answer would not fit beside it.
  const answer = Math.min(
    known?.maxOutputTokens ?? largestUnknownAnswer,
    Math.max(1, Math.floor(window / 4)),
  );
  return { contextWindow: window, maxOutputTokens: maxOutputTokens ?? answer };
}

async function connect(options: OpenAiOptions, endpoint: Endpoint): Promise<WireClient> {
  const sdk = await import("./openai-sdk.ts");
  const { network } = options.world;
  const apiKey = options.apiKey?.trim();
  const client = new sdk.ChatClient({
    // Null, not undefined: for what is undefined the SDK asks the process environment. It will not do without a
    // key, so there is one that is never sent.
    apiKey: apiKey || "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: endpoint.url.origin + endpoint.url.pathname,
    defaultQuery: Object.fromEntries(endpoint.url.searchParams),
    defaultHeaders: {
      ...(apiKey ? {} : { authorization: authorizationIn(endpoint.url) }),
      ...options.headers,
    },
    maxRetries: 0,
    timeout: sdkTimeoutMs,
    logLevel: "off",
    // The world's network speaks the part of the interface that the SDK uses.
    fetch: network.fetch.bind(network) as unknown as typeof globalThis.fetch,
  });
  return {
    post: (body, { signal }) =>
      client
        .post("/chat/completions", {
          body,
          headers: { "content-type": "application/json" },
          stream: true,
          signal,
        })
        .asResponse(),
    refusalIn: (error) => (error instanceof sdk.RefusedByServer ? error.refusal : undefined),
    isConnectionError: (error) => error instanceof sdk.APIConnectionError,
  };
}

/** Null: none is sent. */
function authorizationIn({ username, password }: URL): string | null {
  if (username === "" && password === "") return null;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

function keyError(context: ErrorContext): ModelError {
  return new ModelError({
    kind: "unauthorized",
    message: `There is no key for ${context.address}. Export ${context.credentialName ?? "OPENAI_API_KEY"}.`,
  });
}

/** What is written here ends with the version as a rule; a bare host does not, and some write the whole path. */
function parseBaseUrl(text: string, addressName: string): Endpoint {
  const api = "an OpenAI-compatible API";
  const { url } = parseEndpoint(text, { api, addressName, example: defaultBaseUrl });
  url.pathname = url.pathname.replace(/\/chat\/completions$/, "");
  if (url.pathname === "/" || url.pathname === "") url.pathname = "/v1";
  return { url, address: addressOf(url) };
}
